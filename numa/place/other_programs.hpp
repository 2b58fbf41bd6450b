// SPDX-License-Identifier: Apache-2.0
// Measures the share of the time in which other programs use each CPU of the machine: the share in
// which the CPU was busy, minus the share of this run's workers on this CPU. The CPUs of the run's
// other threads are not known, because these threads may run anywhere. So their time is subtracted
// from every CPU: a CPU whose use by other programs is not certain counts as free. In the first
// period of a worker, its CPU counts as free, because the time of the worker at the beginning of
// this period is not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <map>
#include <vector>

#include "numa/os/os.hpp"

namespace nw {

// The clock of the calling thread's CPU time. It must not be read after the thread has ended.
clockid_t clock_of_this_thread() noexcept;

// Times in ns since any fixed moment.
struct WorkerTime {
    int cpu = 0;  // on which the worker runs now
    std::uint64_t cpu_ns = 0;
};

class OtherPrograms {
  public:
    explicit OtherPrograms(Os& os) : os_(os), use_(os.cpu_use()) {}

    // Ends a period of `seconds`, and begins the next one. Returns, by CPU, the share of the period
    // in which other programs used the CPU; empty if the kernel does not report it. `workers`: all
    // workers of the run on this machine, always in the same order. `other_threads_ns`: the CPU
    // time of the other threads of the run.
    std::map<int, double> end_period(double seconds, const std::vector<WorkerTime>& workers,
                                     std::uint64_t other_threads_ns);

  private:
    Os& os_;
    std::map<int, CpuUse> use_;        // at the beginning of the period, as all fields
    std::vector<WorkerTime> workers_;  // empty: the first period
    std::uint64_t other_threads_ = 0;
};

}  // namespace nw
