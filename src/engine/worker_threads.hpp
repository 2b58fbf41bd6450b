// SPDX-License-Identifier: Apache-2.0
// Starts a run's worker threads, binds each one to its place, and rethrows their failures.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "numa/os/os.hpp"
#include "numa/place/topology.hpp"
#include "util/check.hpp"

namespace nw {

struct WorkerPlaces {
    std::vector<Place> places;  // by worker
    bool pin = true;
    bool local_memory = true;    // bound workers take memory from their own nodes
    bool strict_memory = false;  // with local_memory: never from another node
    bool share_cpus = false;     // a worker that waits gives its CPU to another thread of the run
    std::vector<std::uint32_t> sharers{};  // as in RankPlaces (app/simulation/rank_places.hpp)
    std::size_t number = 0;
    std::vector<Place> host_places{};
};

// Whether a page and its worker can be on different nodes. The result can be true even if all
// workers are on one node, for example the workers of a rank that is bound to this node.
bool pages_can_be_remote(const WorkerPlaces& where, const std::vector<NodeInfo>& nodes);

// Runs body(w) on thread w for each place, and joins the threads. Before body(w), the thread is
// bound to its CPU and sets its memory policy. If the kernel refuses the binding or the policy, one
// notice for all threads reports this. If body(w) throws for some workers, rethrows the exception
// of the lowest of these workers.
void run_worker_threads(Os& os, const WorkerPlaces& where,
                        const std::function<void(std::uint32_t)>& body,
                        std::vector<std::string>& notices);

// Starts a thread that is not a worker. `purpose` completes "the thread ...". The type Thread is
// std::thread or std::jthread. Throws MachineError.
template <class Thread, class Body>
Thread start_thread(std::string_view purpose, Body&& body) {
    try {
        return Thread(std::forward<Body>(body));
    } catch (const std::system_error& error) {
        throw MachineError(fmt::format(
            "the thread {} could not be started: {}; allowed: a machine that allows more threads "
            "(ulimit -u, pids.max of the control group, the container's system call filter)",
            purpose, error.what()));
    }
}

}  // namespace nw
