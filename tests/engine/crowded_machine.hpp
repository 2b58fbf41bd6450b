// SPDX-License-Identifier: Apache-2.0
// Simulates a machine on whose cores Time Warp workers and other busy processes run in time slices.
// The simulation needs one thread, and the time of the machine is simulated, too. The cost of a
// turn follows from the work done in the turn. So the result depends on the algorithm, and not on
// the load of the real machine that runs the test.
//
// The scheduler is simple: all cores take the first task of the same queue, and execute it for one
// slice. A worker gives up the rest of its slice after more than 8 consecutive turns without work.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "tests/engine/stepped_run.hpp"

namespace nw::test {

class CrowdedMachine {
  public:
    using Time = std::chrono::nanoseconds;

    struct Shape {
        std::uint32_t cores = 2;
        std::uint32_t foreign = 0;  // other processes, which never stop
        Time slice = std::chrono::milliseconds(3);
        // Costs per event. `cross`: additional cost of an event or anti-message for another worker,
        // for the sending and the receiving worker together.
        Time execute{200}, undo{200}, commit{0}, cross{0};
        Time turn{150};     // additional cost of each turn
        Time change{3000};  // cost of a switch to another process
    };

    CrowdedMachine(SteppedRun& run, const Shape& shape) : run_(run), shape_(shape) {
        const auto workers = static_cast<std::uint32_t>(run.workers().size());
        tasks_.resize(workers + shape.foreign);
        cores_.resize(shape.cores);
        for (std::uint32_t t = 0; t < tasks_.size(); ++t) queue_.push_back(t);
    }

    // Simulates until GVT has reached `until`. Returns the number of committed events, divided by
    // the number in the ideal case. In the ideal case, no worker waits, nothing is rolled back, and
    // the other processes have no more than their fair share of the cores.
    double play(VirtualTime until) {
        while (run_.gvt() < until) {
            step();
        }
        const Counters sum = run_.counters();
        const double seconds = std::chrono::duration<double>(now()).count();
        const auto workers = static_cast<double>(run_.workers().size());
        const double cores =
            std::min<double>({workers, static_cast<double>(shape_.cores),
                              shape_.cores * workers / (workers + shape_.foreign)});
        const double fair = cores * seconds / std::chrono::duration<double>(shape_.execute).count();
        return static_cast<double>(sum[Counter::committed_events]) / fair;
    }

    void play_to_end() {
        while (!run_.finished()) {
            step();
            run_.rank(0).rethrow_failure();
        }
    }

    // Simulated machine time since the start.
    Time now() const {
        return std::min_element(cores_.begin(), cores_.end(),
                                [](const Core& a, const Core& b) { return a.now < b.now; })
            ->now;
    }
    // The largest number of events that were executed and neither committed nor rolled back.
    std::uint64_t uncommitted_peak() const noexcept { return uncommitted_peak_; }

  private:
    static constexpr std::uint32_t none = UINT32_MAX;
    // Offset of the simulated machine time. The offset is later than every time that the engine
    // reads from the clock, so that no run depends on the clock.
    static constexpr Time epoch = std::chrono::hours(1);

    struct Task {
        std::uint32_t idle_turns = 0;
        Counters before;
    };
    struct Core {
        Time now{};
        Time slice_end{};
        std::uint32_t task = none;
    };

    void step() {
        Core& core = *std::min_element(cores_.begin(), cores_.end(),
                                       [](const Core& a, const Core& b) { return a.now < b.now; });
        if ((core.task == none || core.now >= core.slice_end) && !queue_.empty()) change(core);
        if (core.task == none) {
            core.now += shape_.turn;
            return;
        }
        const std::size_t workers = run_.workers().size();
        if (core.task >= workers) {
            core.now = core.slice_end = std::max(core.slice_end, core.now + shape_.turn);
            return;
        }
        Task& task = tasks_[core.task];
        Worker& worker = *run_.workers()[core.task];
        const bool worked = run_.turn(core.task, epoch + core.now);
        const Counters& after = worker.core().counters;
        const auto done = [&](Counter counter) { return after[counter] - task.before[counter]; };
        core.now += shape_.turn + shape_.execute * done(Counter::executed_events) +
                    shape_.undo * done(Counter::rolled_back_events) +
                    shape_.commit * done(Counter::committed_events) +
                    shape_.cross * done(Counter::events_crossed);
        uncommitted_ += done(Counter::executed_events) - done(Counter::committed_events) -
                        done(Counter::rolled_back_events);
        uncommitted_peak_ = std::max(uncommitted_peak_, uncommitted_);
        task.before = after;
        task.idle_turns = worked ? 0 : task.idle_turns + 1;
        if (task.idle_turns > 8) core.slice_end = core.now;
    }

    void change(Core& core) {
        if (core.task != none) queue_.push_back(core.task);
        const std::uint32_t next = queue_.front();
        queue_.pop_front();
        if (next != core.task) core.now += shape_.change;
        core.task = next;
        core.slice_end = core.now + shape_.slice;
    }

    SteppedRun& run_;
    Shape shape_;
    std::vector<Task> tasks_;
    std::vector<Core> cores_;
    std::deque<std::uint32_t> queue_;
    std::uint64_t uncommitted_ = 0;
    std::uint64_t uncommitted_peak_ = 0;
};

}  // namespace nw::test
