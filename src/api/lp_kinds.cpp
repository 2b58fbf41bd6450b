// SPDX-License-Identifier: Apache-2.0
#include "api/lp_kinds.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <numawarp/errors.hpp>
#include <numawarp/process/environment.hpp>

namespace nw {

LpKinds::LpKinds(Kinds kinds) : kinds_(std::move(kinds)) {
    check_numbers();
    for (const Kind& kind : kinds_.all()) {
        object_bytes_.push_back(kind.process.object_bytes);
        has_commit_ |= kind.process.has_commit;
        has_end_condition_ |= kind.process.has_end_condition;
        for (const EventTypeInfo& event : kind.process.events)
            event_bytes_max_ = std::max(event_bytes_max_, event.payload_bytes);
    }
    make_slots();
}

// Kinds send events to each other, so an event type must have one meaning for all kinds.
void LpKinds::check_numbers() const {
    std::map<EventType, std::pair<const Kind*, const EventTypeInfo*>> first;
    for (const Kind& kind : kinds_.all()) {
        for (const EventTypeInfo& event : kind.process.events) {
            const auto [known, is_new] = first.try_emplace(event.type, &kind, &event);
            const auto& [other_kind, other] = known->second;
            if (is_new ||
                (other->name == event.name && other->payload_bytes == event.payload_bytes))
                continue;
            throw SetupError(
                fmt::format("event type {} is {} for kind {} and {} for kind {}; allowed: one list "
                            "of events for "
                            "both, or `static constexpr nw::EventType type` in the events",
                            event.type, other->name, other_kind->name, event.name, kind.name));
        }
    }
}

void LpKinds::make_slots() {
    const std::vector<Kind>& all = kinds_.all();
    if (!kinds_.are_named() && all.front().process.events.empty()) return;
    for (const Kind& kind : all)
        for (const EventTypeInfo& event : kind.process.events)
            columns_ = std::max(columns_, std::size_t{event.type} + 2);
    for (std::size_t k = 0; k < all.size(); ++k) {
        const auto add = [&](const EventTypeInfo* event) {
            slots_.push_back({static_cast<std::uint8_t>(k), event});
            return static_cast<std::uint32_t>(slots_.size() - 1);
        };
        slot_of_.resize((k + 1) * columns_, add(nullptr));
        for (const EventTypeInfo& event : all[k].process.events)
            slot_of_[k * columns_ + event.type] = add(&event);
    }
}

std::uint8_t LpKinds::number_of(std::uint32_t lp) const noexcept {
    std::uint8_t kind = 0;
    while (!kinds_.all()[kind].lps.contains(LpId{lp})) ++kind;
    return kind;
}

// Returns null if the LP's kind does not declare the event type.
const EventTypeInfo* LpKinds::find(std::uint32_t lp, EventType type) const {
    if (lp < kinds_.count())
        for (const EventTypeInfo& event : kinds_.kind_of(LpId{lp}).process.events)
            if (event.type == type) return &event;
    return nullptr;
}

std::string LpKinds::event_name(std::uint32_t lp, EventType type) const {
    const EventTypeInfo* const event = find(lp, type);
    if (event != nullptr) return "event " + event->name;
    return type == WakeUp::type ? "a wake-up of its processes"
                                : fmt::format("event of type {}", type);
}

std::string LpKinds::type_name(std::uint32_t lp, EventType type) const {
    const EventTypeInfo* const event = find(lp, type);
    return event != nullptr ? event->name : fmt::format("type {}", type);
}

}  // namespace nw
