// SPDX-License-Identifier: Apache-2.0
#include "app/modelcheck/model_check_words.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace nw {
namespace {

auto place_of(const EventLog::Entry& entry) {
    const EventKey& key = entry.event.key;
    return std::tie(key.time, key.generation, key.sender, key.sequence, entry.event.target,
                    entry.event.type);
}

std::string words_for(const LoggedEvent& event, const LpKinds& kinds) {
    return fmt::format("the {} from {} to {} at time {}",
                       kinds.event_name(event.target, event.type), kinds.name(event.key.sender),
                       kinds.name(event.target), event.key.time);
}

unsigned byte_of(std::string_view payload, std::size_t at) {
    return static_cast<unsigned char>(payload[at]);
}

LogDifference in_payload(const EventLog::Entry& one, const EventLog::Entry& other,
                         const LpKinds& kinds) {
    const std::string_view a = one.payload, b = other.payload;
    if (a.size() != b.size())
        return {false, fmt::format("{} has {} bytes of payload in one run and {} in the other",
                                   words_for(one.event, kinds), a.size(), b.size())};
    const std::size_t at =
        static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
    return {true,
            fmt::format("byte {} of the payload ({} bytes) of {} is 0x{:02x} in one run and "
                        "0x{:02x} in the other",
                        at, a.size(), words_for(one.event, kinds), byte_of(a, at), byte_of(b, at))};
}

}  // namespace

EventLog::EventLog(std::vector<char> bytes, VirtualTime until) : bytes_(std::move(bytes)) {
    for (std::size_t at = 0; at + sizeof(LoggedEvent) <= bytes_.size();) {
        LoggedEvent event;
        std::memcpy(&event, bytes_.data() + at, sizeof event);
        at += sizeof event;
        const std::string_view payload =
            std::string_view(bytes_.data(), bytes_.size()).substr(at, event.payload_bytes);
        at += event.payload_bytes;
        if (event.key.time < until) entries_.push_back({event, payload});
    }
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return place_of(a) < place_of(b); });
}

std::optional<LogDifference> first_difference(const EventLog& one, const EventLog& other,
                                              const LpKinds& kinds) {
    const auto& a = one.entries();
    const auto& b = other.entries();
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (place_of(a[i]) != place_of(b[i]))
            return LogDifference{
                false,
                fmt::format("the first event that differs is {} in one run and {} in the other",
                            words_for(a[i].event, kinds), words_for(b[i].event, kinds))};
        if (a[i].payload != b[i].payload) return in_payload(a[i], b[i], kinds);
    }
    if (a.size() == b.size()) return std::nullopt;
    const auto& longer = a.size() > b.size() ? a : b;
    return LogDifference{false,
                         fmt::format("{} exists in one run only",
                                     words_for(longer[std::min(a.size(), b.size())].event, kinds))};
}

}  // namespace nw
