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
                                                std::uint64_t process_ns) {
    const std::map<int, std::uint64_t> before = std::exchange(busy_, os_.busy_ns());
    workers_.resize(workers.size());
    std::map<int, double> own;
    double other_threads = growth(process_ns, std::exchange(process_, process_ns));
    for (std::size_t w = 0; w < workers.size(); ++w) {
        const double ns = growth(workers[w].cpu_ns, std::exchange(workers_[w], workers[w].cpu_ns));
        own[workers[w].cpu] += ns;
        other_threads -= ns;
    }
    std::map<int, double> shares;
    for (const auto& [cpu, ns] : busy_) {
        const auto then = before.find(cpu);
        if (then == before.end()) continue;  // the CPU was added to the machine
        const double others = growth(ns, then->second) - own[cpu] - std::max(other_threads, 0.0);
        shares[cpu] = std::clamp(1e-9 * others / seconds, 0.0, 1.0);
    }
    return shares;
}

}  // namespace nw
