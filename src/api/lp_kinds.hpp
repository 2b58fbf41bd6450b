// SPDX-License-Identifier: Apache-2.0
// The kinds of LPs of a run: the names of LPs and events, and the slot of a worker's figures in
// which an event is counted. Fixed for a run. Thread: any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <numawarp/kinds.hpp>

namespace nw {

class LpKinds {
  public:
    // Throws SetupError if two kinds declare different events with the same number.
    explicit LpKinds(Kinds kinds);
    LpKinds(const LpKinds&) = delete;
    LpKinds& operator=(const LpKinds&) = delete;

    const Kinds& kinds() const noexcept { return kinds_; }
    const Kind& operator[](std::uint8_t kind) const noexcept { return kinds_.all()[kind]; }
    std::size_t size() const noexcept { return kinds_.all().size(); }
    std::uint8_t number_of(std::uint32_t lp) const noexcept;

    bool has_commit() const noexcept { return has_commit_; }
    bool has_end_condition() const noexcept { return has_end_condition_; }
    // Maximum size of the declared events.
    std::size_t event_bytes_max() const noexcept { return event_bytes_max_; }
    std::size_t object_bytes(std::uint8_t kind) const noexcept { return object_bytes_[kind]; }

    // "host 17", or "LP 17" if the model has no kinds.
    std::string name(std::uint32_t lp) const { return kinds_.name(LpId{lp}); }
    // "event Arrival", or "event of type 3" if the kind of `lp` does not declare the type. `lp` is
    // the target of the event.
    std::string event_name(std::uint32_t lp, EventType type) const;
    // "Arrival", or "type 3".
    std::string type_name(std::uint32_t lp, EventType type) const;

    // Events are counted by kind and type. Each kind has one slot for event types that it does not
    // declare, and one slot for each type that it declares. A model with neither kinds nor declared
    // events has no slots.
    struct Slot {
        std::uint8_t kind;
        const EventTypeInfo* event;  // null: the types that the kind does not declare
    };
    const std::vector<Slot>& slots() const noexcept { return slots_; }
    bool counts_events() const noexcept { return !slots_.empty(); }
    // Requires: counts_events().
    std::size_t slot(std::uint8_t kind, EventType type) const noexcept {
        return slot_of_[kind * columns_ + std::min<std::size_t>(type, columns_ - 1)];
    }

  private:
    const EventTypeInfo* find(std::uint32_t lp, EventType type) const;
    void check_numbers() const;
    void make_slots();

    Kinds kinds_;
    std::vector<Slot> slots_;
    // A row for each kind, a column for each type number. The last column is for all types above
    // the largest declared type.
    std::vector<std::uint32_t> slot_of_;
    std::size_t columns_ = 1;
    std::vector<std::size_t> object_bytes_;
    std::size_t event_bytes_max_ = 0;
    bool has_commit_ = false;
    bool has_end_condition_ = false;
};

}  // namespace nw
