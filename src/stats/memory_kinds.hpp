// SPDX-License-Identifier: Apache-2.0
// The memory of a run by kind. Each worker measures its groups from time to time, and keeps the
// measurement with the largest sum. The report adds these over the workers: an upper estimate of
// the maximum at any one time.
//
// The memory is measured and not counted continuously, so that the hot path has no counters only
// for this report.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace nw {

struct Group;

// In bytes.
struct MemoryKinds {
    std::uint64_t state = 0;          // blocks of LPs' heaps
    std::uint64_t events = 0;         // events, their sent records and output rows
    std::uint64_t history = 0;        // rings of history entries
    std::uint64_t snapshots = 0;      // saved states of every kind
    std::uint64_t bottom_halves = 0;  // only pages that were touched
    std::uint64_t mail_rings = 0;

    std::uint64_t sum() const noexcept {
        return state + events + history + snapshots + bottom_halves + mail_rings;
    }
    MemoryKinds& operator+=(const MemoryKinds& other) noexcept;

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

// The measurements of one worker. Thread: the worker's.
class MemorySampler {
  public:
    using Clock = std::chrono::steady_clock;

    bool is_due(Clock::time_point now) const noexcept { return now >= next_; }

    // Measures the groups. `snapshot_bytes`: all saved states of these groups. `ring_bytes`: the
    // mail rings to this worker. Cost: some loads per group.
    void look(Clock::time_point now, const std::vector<Group*>& groups,
              std::uint64_t snapshot_bytes, std::uint64_t ring_bytes) noexcept;

    const MemoryKinds& largest() const noexcept { return largest_; }

  private:
    Clock::time_point next_{};
    MemoryKinds largest_;
};

}  // namespace nw
