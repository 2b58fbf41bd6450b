// SPDX-License-Identifier: Apache-2.0
// The promise of --memory-cap: the resident set of the process stays within 5 % of the cap. This
// class measures the resident set and contains the rules below. Time Warp workers
// (memory_reclaim.cpp) and InOrderExecutor apply the rules.
//
//     used/cap  0        0.75  0.85       0.97  1.00  1.03      1.045
//               ample ────────┘ tight ──────────────── full ────── the end
//
//     ample   no effect
//     tight   LPs whose history is final keep no saved state and no history; the number of events
//             beyond GVT follows from the memory that is left and from the free memory in heaps;
//             heaps split large free chunks before they take fresh memory; no new huge pages;
//             from 1.00 on, free pages return to the kernel
//     full    only events at GVT are executed; all whole free pages return to the kernel
//
// The resident set is measured for two reasons. First, this is the memory that can become short on
// a machine. Second, half of the memory of a run (pending sets, mail, the model's own set-up) is
// not in segments. The resident set does not shrink when chunks are freed. Therefore executing
// ahead is limited in advance, and not corrected afterwards.
//
// A measurement costs a microsecond. The next measurement is due when workers that only touch fresh
// pages could have taken half of the memory that is left.
//
// Thread: any worker. One worker measures when a measurement is due.
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

    // Throws MachineError if the program and its model alone exceed the cap.
    MemoryBudget(const RunPlan& plan, MemorySource& memory, std::uint32_t ranks);

    // Cost: two relaxed loads and a comparison, unless a measurement is due.
    Level level(Clock::time_point now) noexcept {
        if (now.time_since_epoch().count() >= next_sample_.load(std::memory_order_relaxed))
            [[unlikely]]
            sample(now);
        return level_.load(std::memory_order_relaxed);
    }
    std::uint64_t used_bytes() const noexcept { return used_.load(std::memory_order_relaxed); }
    std::uint64_t cap_bytes() const noexcept { return cap_; }
    // The bytes that may be added in one step without making memory short; 0 if memory is short.
    std::uint64_t room_bytes(Clock::time_point now) noexcept;

    // Counts an LP that was built, or that has run its on_start(). Throws MachineError, with an
    // estimate for all LPs, if the cap is exceeded or if the estimate is far above the cap.
    void note_built() { note(built_); }
    void note_started() { note(started_); }

    // The bytes that a worker may hold for executing ahead. The worker holds `taken` bytes now, and
    // its heaps have `free_bytes` of free resident memory. The result is half of the memory that is
    // available for the worker. So a worker that is far ahead leaves memory for workers that must
    // catch up.
    std::uint64_t bytes_ahead(std::uint64_t taken, std::uint64_t free_bytes) const noexcept;

    // Whether free memory should return to the kernel now.
    bool wants_release() const noexcept { return used_bytes() >= cap_; }

    // Thread: the worker. Records the memory that the worker needs in any case: states, chunks in
    // use, pending events.
    void note_needed(std::uint32_t worker, std::uint64_t bytes) noexcept {
        needed_[worker].store(bytes, std::memory_order_relaxed);
    }

    // Thread: one worker of a Time Warp run, at every GVT round. Whether the run must end: all
    // means of saving memory have been applied for long enough, but the memory of the program and
    // the data that all workers need in any case (note_needed()) do not fit. (A worker may have
    // taken memory for executing ahead before the limit was known. Such memory is no reason to end
    // the run, even if it cannot be returned.)
    bool is_infeasible(Clock::time_point now) noexcept;

    // For engines that cannot reduce their memory. Throws MachineError if the cap is exceeded.
    void check(VirtualTime at);

    // Ends the run: throws MachineError, which reports the memory in use now.
    [[noreturn]] void give_up(VirtualTime at) const;

  private:
    // The LPs that a stage of the set-up has done, and the bytes in use at its beginning.
    struct Stage {
        std::atomic<std::uint64_t> done{0};
        std::atomic<std::uint64_t> before{0};
    };

    void sample(Clock::time_point now) noexcept;
    void measure() noexcept;
    void note(Stage& stage);
    bool exceeded() const noexcept;
    std::string described_cap() const;

    const RunPlan& plan_;
    MemorySource& memory_;
    std::uint64_t lps_;  // of this rank
    std::uint64_t cap_;
    std::atomic<Clock::rep> next_sample_{0};
    std::atomic<std::uint64_t> used_{0};
    std::atomic<Level> level_{Level::ample};
    Stage built_, started_;
    std::atomic<std::uint64_t> segments_{0};          // segment_bytes() when an LP was last noted
    std::uint64_t base_ = 0;                          // bytes of the program, before the first LP
    std::vector<std::atomic<std::uint64_t>> needed_;  // by worker
    // State of is_infeasible().
    std::uint32_t full_rounds_ = 0;
    Clock::time_point full_since_;
};

}  // namespace nw
