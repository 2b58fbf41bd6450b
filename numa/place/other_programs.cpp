// SPDX-License-Identifier: Apache-2.0
#include "numa/place/other_programs.hpp"

#include <pthread.h>

#include <algorithm>
#include <utility>

namespace nw {
namespace {

double growth(std::uint64_t now, std::uint64_t then) {
    return static_cast<double>(now) - static_cast<double>(then);
}

}  // namespace

clockid_t clock_of_this_thread() noexcept {
    clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
    ::pthread_getcpuclockid(::pthread_self(), &clock);  // cannot fail for a running thread
    return clock;
}

std::map<int, double> OtherPrograms::end_period(double seconds,
                                                const std::vector<WorkerTime>& workers,
                                                std::uint64_t other_threads_ns) {
    const std::map<int, CpuUse> before = std::exchange(use_, os_.cpu_use());
    std::vector<WorkerTime> then = std::exchange(workers_, workers);
    const bool is_first = then.empty();
    then.resize(workers.size());
    std::map<int, double> own;
    for (std::size_t w = 0; w < workers.size(); ++w)
        own[workers[w].cpu] +=
            then[w].cpu_ns == 0 ? 1e9 * seconds : growth(workers[w].cpu_ns, then[w].cpu_ns);
    const double grown = growth(other_threads_ns, std::exchange(other_threads_, other_threads_ns));
    const double of_other_threads = is_first ? 0 : std::max(grown, 0.0);
    std::map<int, double> shares;
    for (const auto& [cpu, use] : use_) {
        const auto found = before.find(cpu);
        if (found == before.end()) continue;  // the CPU was added to the machine
        const double busy = growth(use.busy_ns, found->second.busy_ns);
        const double known = busy + growth(use.idle_ns, found->second.idle_ns);
        const double own_share = 1e-9 * (own[cpu] + of_other_threads) / seconds;
        shares[cpu] = known > 0 ? std::clamp(busy / known - own_share, 0.0, 1.0) : 0;
    }
    return shares;
}

}  // namespace nw
