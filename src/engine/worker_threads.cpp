// SPDX-License-Identifier: Apache-2.0
#include "engine/worker_threads.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "memory/handler/thread_end.hpp"
#include "memory/image/metered_thread.hpp"
#include "util/check.hpp"

namespace nw {

bool pages_can_be_remote(const WorkerPlaces& where, const std::vector<NodeInfo>& nodes) {
    const auto with_memory = std::count_if(
        nodes.begin(), nodes.end(), [](const NodeInfo& node) { return node.total_bytes > 0; });
    return where.pin && with_memory > 1;
}

void run_worker_threads(Os& os, const WorkerPlaces& where,
                        const std::function<void(std::uint32_t)>& body,
                        std::vector<std::string>& notices) {
    const auto workers = static_cast<std::uint32_t>(where.places.size());
    std::atomic<Status> bind_refused{0}, policy_refused{0};
    std::vector<std::exception_ptr> failures(workers);
    enum class Gate : int { shut, open, canceled };
    std::atomic<Gate> gate{Gate::shut};  // opened once all threads exist
    const auto run = [&](std::uint32_t w) {
        gate.wait(Gate::shut);
        if (gate == Gate::canceled) return;
        try {
            error_context().worker = w;
            os.take_short_time_slices();
            if (where.pin) {
                const Status bound = os.bind_thread(where.places[w].cpu);
                if (bound != 0) bind_refused = bound;
                const Status local = !where.local_memory ? 0
                                     : where.strict_memory
                                         ? os.require_memory_of(where.places[w].node)
                                         : os.prefer_local_memory();
                if (local != 0) policy_refused = local;
            }
            const MeteredThread metered;
            body(w);
        } catch (...) {
            failures[w] = std::current_exception();
        }
        begin_thread_end();
    };
    std::vector<std::thread> threads;
    std::string refused;
    try {
        for (std::uint32_t w = 0; w < workers; ++w) threads.emplace_back(run, w);
    } catch (const std::system_error& error) {
        refused = fmt::format("worker thread {} of {} could not be started: {}", threads.size() + 1,
                              workers, error.what());
    }
    gate = refused.empty() ? Gate::open : Gate::canceled;
    gate.notify_all();
    for (std::thread& thread : threads) thread.join();
    if (!refused.empty()) throw MachineError(refused);
    if (take_freed_at_thread_end() > 0)
        notices.push_back(
            "thread_local objects held memory that handlers had allocated; these objects are not "
            "rolled back, and LPs of one worker share them; allowed: members of the LP");
    if (bind_refused != 0)
        notices.push_back(
            fmt::format("workers could not be bound to cores: {}", std::strerror(bind_refused)));
    if (policy_refused != 0)
        notices.push_back(fmt::format("memory could not be bound to the workers' nodes: {}",
                                      std::strerror(policy_refused)));
    for (const std::exception_ptr& failure : failures)
        if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace nw
