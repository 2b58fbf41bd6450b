// What a run's memory is for, by kind. Each worker looks at its own groups now and then, and keeps
// the look at which it had most; what is reported are the sums of these, an upper estimate of the
// most that there was at a time.
//
// Looks, and not counters: kinds are wanted to see where memory went, and the hot path should not
// count for that.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace nw {

struct Group;

// In bytes.
struct MemoryKinds {
    std::uint64_t state = 0;      // blocks of LPs' heaps
    std::uint64_t events = 0;     // and what else the engine keeps with them: sent records, output
    std::uint64_t history = 0;    // rings of history entries
    std::uint64_t snapshots = 0;  // saved states of every kind
    std::uint64_t bottom_halves = 0;  // pages that were touched
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

// One worker's. Thread: the worker.
class MemoryLook {
  public:
    using Clock = std::chrono::steady_clock;

    bool is_due(Clock::time_point now) const noexcept { return now >= next_; }

    // `snapshot_bytes`: of all saved states of these groups. `ring_bytes`: of the rings to the worker. Cost: some loads
    // for each group.
    void look(Clock::time_point now, const std::vector<Group*>& groups,
              std::uint64_t snapshot_bytes, std::uint64_t ring_bytes) noexcept;

    const MemoryKinds& largest() const noexcept { return largest_; }

  private:
    Clock::time_point next_{};
    MemoryKinds largest_;
};

}  // namespace nw
