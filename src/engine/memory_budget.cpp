// SPDX-License-Identifier: Apache-2.0
#include "engine/memory_budget.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "memory/region/memory_source.hpp"
#include "plan/run_plan.hpp"
#include "util/check.hpp"
#include "util/number_text.hpp"

namespace nw {
namespace {

// Shares of the cap. The resident memory must not be above 1.05 times the cap. Between share_full
// and 1.05 there must be room for the memory that one turn of each worker takes. Above
// share_careful, workers that execute ahead get no fresh memory.
constexpr double share_ample_again = 0.75;
constexpr double share_tight = 0.85;
constexpr double share_careful = 0.97;
constexpr double share_full = 1.03;
constexpr double share_end = 1.045;

// Near the cap, all workers together may always take at least this share of the cap for executing
// ahead, because a commit soon frees this memory. Executing only at GVT would make almost no
// progress.
constexpr double share_always_ahead = 1.0 / 2048;

// The highest rate at which a thread can touch fresh memory: a page fault of 4 KiB per microsecond.
constexpr double touched_bytes_per_ns = 4;
constexpr double measure_interval_min_ns = 50e3;
constexpr double measure_interval_max_ns = 5e6;

constexpr std::uint64_t lps_between_measurements = 16;

// After this number of LPs, the memory of all LPs is estimated. The model is refused if the
// estimate is above `infeasible_times` times the cap. This factor is above 1 because the first LPs
// may be larger than the others.
constexpr std::uint64_t lps_of_estimate = 1 << 16;
constexpr double infeasible_times = 4;

// The run is infeasible if, for this time and this number of rounds, it has executed events only at
// GVT and has returned all free pages.
constexpr std::uint32_t infeasible_rounds = 256;
constexpr std::chrono::milliseconds infeasible_time{300};

}  // namespace

std::uint64_t MemoryBudget::room_bytes(Clock::time_point now) noexcept {
    if (level(now) != Level::ample) return 0;
    const auto tight = static_cast<std::uint64_t>(share_tight * static_cast<double>(cap_));
    return tight - std::min(tight, used_bytes());
}

MemoryBudget::MemoryBudget(const RunPlan& plan, MemorySource& memory, std::uint32_t ranks)
    : plan_(plan),
      memory_(memory),
      lps_(std::max<std::uint64_t>(1, plan.rules.lps / ranks)),
      cap_(memory.memory_cap()),
      needed_(plan.workers) {
    measure();
    base_ = memory.resident_besides();
    if (base_ > 0) return;  // an earlier engine of this run has measured it before the first LP
    base_ = used_bytes();
    if (used_bytes() < cap_) {
        memory.set_resident_besides(base_);
        return;
    }
    throw MachineError(
        fmt::format("{}: the program and its model take {} before the first LP is constructed; "
                    "allowed: a larger limit",
                    described_cap(), mebibytes_text(static_cast<double>(used_bytes()))));
}

void MemoryBudget::sample(Clock::time_point now) noexcept {
    const Clock::rep ticks = now.time_since_epoch().count();
    Clock::rep due = next_sample_.load(std::memory_order_relaxed);
    // Only the thread that wins the exchange measures. The provisional time is replaced below.
    const auto longest = static_cast<Clock::rep>(measure_interval_max_ns);
    if (ticks < due ||
        !next_sample_.compare_exchange_strong(due, ticks + longest, std::memory_order_relaxed))
        return;
    measure();
    const double left = static_cast<double>(cap_) - static_cast<double>(used_bytes());
    const double interval = std::clamp(left / 2 / (touched_bytes_per_ns * plan_.workers),
                                       measure_interval_min_ns, measure_interval_max_ns);
    next_sample_.store(ticks + static_cast<Clock::rep>(interval), std::memory_order_relaxed);
}

void MemoryBudget::measure() noexcept {
    const std::uint64_t used = memory_.os().resident_bytes();
    used_.store(used, std::memory_order_relaxed);
    const double share = static_cast<double>(used) / static_cast<double>(cap_);
    const bool was_ample = level_.load(std::memory_order_relaxed) == Level::ample;
    const Level level = share >= share_full                                      ? Level::full
                        : share >= (was_ample ? share_tight : share_ample_again) ? Level::tight
                                                                                 : Level::ample;
    level_.store(level, std::memory_order_relaxed);
    if (level != Level::ample) memory_.set_short();
}

std::uint64_t MemoryBudget::bytes_ahead(std::uint64_t taken,
                                        std::uint64_t free_bytes) const noexcept {
    const double cap = static_cast<double>(cap_), used = static_cast<double>(used_bytes());
    if (used >= share_full * cap) return 0;
    const double room = std::max(0.0, share_careful * cap - used) / plan_.workers;
    // Free chunks may be too small for the next allocation, or may be in another heap. The nearer
    // the used memory is to the cap, the smaller is the part of the free chunks that is counted.
    const double trust =
        std::min(1.0, (share_full * cap - used) / ((share_full - share_careful) * cap));
    const double least = share_always_ahead * cap / plan_.workers;
    const double all = room + trust * static_cast<double>(free_bytes) + static_cast<double>(taken);
    return static_cast<std::uint64_t>(std::max(least, all / 2));
}

bool MemoryBudget::exceeded() const noexcept {
    return static_cast<double>(used_bytes()) > share_end * static_cast<double>(cap_);
}

void MemoryBudget::note(Stage& stage) {
    const std::uint64_t done = stage.done.fetch_add(1, std::memory_order_relaxed) + 1;
    if (done == 1) {
        measure();
        stage.before.store(used_bytes(), std::memory_order_relaxed);
    }
    // Reading the clock takes as long as building a small LP, so memory is not measured for every
    // LP. Large allocations lead to a measurement because they need new segments.
    const std::uint64_t segments = memory_.segment_bytes();
    if (done % lps_between_measurements != 0 &&
        segments == segments_.load(std::memory_order_relaxed)) [[likely]]
        return;
    segments_.store(segments, std::memory_order_relaxed);
    level(Clock::now());
    const double before = static_cast<double>(stage.before.load(std::memory_order_relaxed));
    const double taken = std::max(0.0, static_cast<double>(used_bytes()) - before);
    const double all = static_cast<double>(std::max(lps_, done)) / static_cast<double>(done);
    const bool is_infeasible_by_far =
        done >= lps_of_estimate &&
        before + taken * all > infeasible_times * static_cast<double>(cap_);
    if (!exceeded() && !is_infeasible_by_far) [[likely]]
        return;
    throw MachineError(
        fmt::format("{}: {} all LPs takes about {} (measured after {} of {}); allowed: a larger "
                    "limit, or a smaller model",
                    described_cap(), &stage == &built_ ? "constructing" : "starting",
                    mebibytes_text(before + taken * all), done, lps_));
}

bool MemoryBudget::is_infeasible(Clock::time_point now) noexcept {
    if (level_.load(std::memory_order_relaxed) != Level::full) {
        full_rounds_ = 0;
        return false;
    }
    if (full_rounds_++ == 0) full_since_ = now;
    if (full_rounds_ < infeasible_rounds || now - full_since_ < infeasible_time) return false;
    std::uint64_t needed = base_;
    for (const auto& bytes : needed_) needed += bytes.load(std::memory_order_relaxed);
    return static_cast<double>(needed) > share_careful * static_cast<double>(cap_);
}

void MemoryBudget::check(VirtualTime at) {
    measure();
    if (exceeded()) give_up(at);
}

void MemoryBudget::give_up(VirtualTime at) const {
    throw MachineError(
        fmt::format("{}: at virtual time {} the run takes about {}, even without speculation; "
                    "allowed: a larger limit, or a smaller model",
                    described_cap(), at, mebibytes_text(static_cast<double>(used_bytes()))));
}

std::string MemoryBudget::described_cap() const {
    return fmt::format("--memory-cap {}{}", mebibytes_text(static_cast<double>(cap_)),
                       plan_.config.memory_cap_bytes == 0 ? " (80 % of the free memory)" : "");
}

}  // namespace nw
