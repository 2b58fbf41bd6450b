// Starts a run's worker threads, each bound to its place, and brings home what went wrong in them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "numa/os/os.hpp"
#include "numa/place/topology.hpp"

namespace nw {

struct WorkerPlaces {
    std::vector<Place> places;  // by worker
    bool pin = true;
    bool local_memory = true;  // bound workers take memory from their own nodes
    bool share_cpus = false;   // a worker that waits gives its CPU to another thread of the run
    std::vector<std::uint32_t> sharers{};  // as in RankPlaces (plan/rank_places.hpp)
    std::size_t number = 0;
    std::vector<Place> host_places{};
};

// Runs body(w) on thread w for each place and joins them. Before body, the thread is bound to its
// CPU and posts its memory policy; a refusal of either becomes a notice, once.
// Rethrows the first exception of the lowest worker that had one.
void run_worker_threads(Os& os, const WorkerPlaces& where,
                        const std::function<void(std::uint32_t)>& body,
                        std::vector<std::string>& notices);

}  // namespace nw
