// The promise of --memory-cap: what the process has resident stays within 5 % of the cap. This is the
// measuring half and the rules; who keeps them are the workers (memory_relief.cpp) and the final
// executors.
//
//     used/cap  0        0.75  0.85       0.97  1.00  1.03      1.045
//               ample ────────┘ tight ──────────────── full ────── the end
//
//     ample   nothing is different
//     tight   LPs whose past is final keep nothing of it; how many events may be executed beyond GVT
//             follows from the room that is left and from what the heaps hold free; they split large
//             free chunks before they take fresh memory; no new huge pages
//     full    only events at GVT; whole free pages go back to the kernel
//
// What counts is the resident set, since that is what a machine runs out of, and since half of what a
// run takes (pending sets, mail, the model's own set-up) is not in segments. It does not shrink when
// chunks are freed, which is why running ahead is limited beforehand and not punished afterwards.
//
// Looks at it cost a microsecond. The next one is due when even workers that do nothing but touch
// fresh pages could have taken half of what is left.
//
// Thread: any worker; one of them looks when a look is due.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <numawarp/time.hpp>

namespace nw {

class MemorySource;
struct RunPlan;

class MemoryBudget {
  public:
    using Clock = std::chrono::steady_clock;
    enum class Level : std::uint8_t { ample, tight, full };

    // Throws MachineError when the program and its model alone exceed the cap.
    MemoryBudget(const RunPlan& plan, MemorySource& memory, std::uint32_t ranks);

    // Cost: two relaxed loads and a comparison, unless a look is due.
    Level level(Clock::time_point now) noexcept {
        if (now.time_since_epoch().count() >= next_look_.load(std::memory_order_relaxed))
            [[unlikely]]
            look(now);
        return level_.load(std::memory_order_relaxed);
    }
    std::uint64_t used_bytes() const noexcept { return used_.load(std::memory_order_relaxed); }
    std::uint64_t cap_bytes() const noexcept { return cap_; }
    // What may come at once without making memory short; 0 where it is.
    std::uint64_t room_bytes(Clock::time_point now) noexcept;

    // One more LP was built, or has run its on_start(). Throws MachineError, with what all LPs
    // would take, when the cap is exceeded.
    void note_built() { note(built_); }
    void note_started() { note(started_); }

    // How much a worker may hold for running ahead, when it holds `taken` now and its heaps have
    // `free_bytes` that are resident and free: half of what there is for it, so that a worker that is
    // far ahead leaves others the memory to catch up.
    std::uint64_t bytes_ahead(std::uint64_t taken, std::uint64_t free_bytes) const noexcept;

    // Whether memory that is free should go back to the kernel now.
    bool wants_release() const noexcept { return used_bytes() >= cap_; }

    // Thread: the worker. What it cannot do without: states, chunks in use, pending events.
    void note_needed(std::uint32_t worker, std::uint64_t bytes) noexcept {
        needed_[worker].store(bytes, std::memory_order_relaxed);
    }

    // Thread: one worker of a Time Warp run, at every GVT round. Whether all that helps has been
    // done long enough and did not: what is final does not fit. (What was taken for running ahead
    // before it was known how much that is, and cannot be given back, is no reason to end.)
    bool is_infeasible(Clock::time_point now) noexcept;

    // For those who cannot do with less. Throws MachineError when the cap is exceeded.
    void check(VirtualTime at);

    // The end of the run: it needs what is in use now.
    [[noreturn]] void give_up(VirtualTime at) const;

  private:
    // LPs that a stage of the set-up has done, and what was in use at its beginning.
    struct Stage {
        std::atomic<std::uint64_t> done{0};
        std::atomic<std::uint64_t> before{0};
    };

    void look(Clock::time_point now) noexcept;
    void measure() noexcept;
    void note(Stage& stage);
    bool exceeded() const noexcept;
    std::string described_cap() const;

    const RunPlan& plan_;
    MemorySource& memory_;
    std::uint64_t lps_;  // of this rank
    std::uint64_t cap_;
    std::atomic<Clock::rep> next_look_{0};
    std::atomic<std::uint64_t> used_{0};
    std::atomic<Level> level_{Level::ample};
    Stage built_, started_;
    std::atomic<std::uint64_t> segments_{0};          // bytes of them, when an LP was last noted
    std::uint64_t base_ = 0;                          // of the program, before the first LP
    std::vector<std::atomic<std::uint64_t>> needed_;  // by worker
    // is_infeasible()'s own.
    std::uint32_t full_rounds_ = 0;
    Clock::time_point full_since_;
};

}  // namespace nw
