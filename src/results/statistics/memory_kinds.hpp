// SPDX-License-Identifier: Apache-2.0
// The memory of a run by kind, in bytes.
#pragma once

#include <cstdint>

namespace nw {

struct MemoryKinds {
    std::uint64_t state = 0;          // blocks of LPs' heaps
    std::uint64_t events = 0;         // events, their sent records and output rows
    std::uint64_t history = 0;        // the workers' logs, and rings of history entries
    std::uint64_t snapshots = 0;      // saved states of every kind
    std::uint64_t bottom_halves = 0;  // only pages that were touched
    std::uint64_t mail_rings = 0;

    std::uint64_t sum() const noexcept {
        return state + events + history + snapshots + bottom_halves + mail_rings;
    }
    MemoryKinds& operator+=(const MemoryKinds& other) noexcept {
        state += other.state;
        events += other.events;
        history += other.history;
        snapshots += other.snapshots;
        bottom_halves += other.bottom_halves;
        mail_rings += other.mail_rings;
        return *this;
    }

    template <class Visitor>
    void visit(Visitor&& member) const {
        member("state", state);
        member("events", events);
        member("history", history);
        member("snapshots", snapshots);
        member("bottom_halves", bottom_halves);
        member("mail_rings", mail_rings);
    }
};

}  // namespace nw
