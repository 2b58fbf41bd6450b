// The kinds of LPs of a run, as the engine asks for them: what LPs and events are called, and in which slot
// of a worker's figures an event of a type is counted. Fixed for a run; any thread reads it.
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
    // Throws SetupError where two kinds understand different events by one number.
    explicit LpKinds(Kinds kinds);
    LpKinds(const LpKinds&) = delete;
    LpKinds& operator=(const LpKinds&) = delete;

    const Kinds& kinds() const noexcept { return kinds_; }
    const Kind& operator[](std::uint8_t kind) const noexcept { return kinds_.all()[kind]; }
    std::size_t size() const noexcept { return kinds_.all().size(); }
    std::uint8_t number_of(std::uint32_t lp) const noexcept;

    bool has_commit() const noexcept { return has_commit_; }
    bool has_end_condition() const noexcept { return has_end_condition_; }
    std::size_t event_bytes_max() const noexcept { return event_bytes_max_; }  // of declared ones
    std::size_t object_bytes(std::uint8_t kind) const noexcept { return object_bytes_[kind]; }

    // "host 17"; where the model has no kinds, "LP 17".
    std::string name(std::uint32_t lp) const { return kinds_.name(LpId{lp}); }
    // "event Arrival"; "event of type 3" where `lp`, its target, declares none of that number.
    std::string event_name(std::uint32_t lp, EventType type) const;
    // "Arrival", "type 3".
    std::string type_name(std::uint32_t lp, EventType type) const;

    // Where events are counted by kind and type: each kind has a slot for events that it does not declare,
    // then one for each that it does. There are none where a model has neither kinds nor declared events.
    struct Slot {
        std::uint8_t kind;
        const EventTypeInfo* event;  // null: of undeclared types
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
    // A row for each kind: by the number of a type, in the last column of those above all declared ones.
    std::vector<std::uint32_t> slot_of_;
    std::size_t columns_ = 1;
    std::vector<std::size_t> object_bytes_;
    std::size_t event_bytes_max_ = 0;
    bool has_commit_ = false;
    bool has_end_condition_ = false;
};

}  // namespace nw
