// SPDX-License-Identifier: Apache-2.0
#include "numa/place/migration_log.hpp"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "util/locks.hpp"

namespace nw {

void MigrationLog::note(Topic topic, std::string text) {
    const LockGuard lock(mutex_);
    if (said_.insert(topic).second) notices_.push_back("page migration: " + std::move(text));
}

void MigrationLog::note_refused(Status status) {
    refused_.store(true, std::memory_order_relaxed);
    note(Topic::refused, fmt::format("the kernel does not permit moving pages ({}); they stay on "
                                     "the node of the first touch",
                                     std::strerror(status)));
}

void MigrationLog::note_no_room(NodeId node, std::uint64_t bytes) {
    note(Topic::no_room,
         fmt::format(
             "node {} has no room for {} KiB of pages that belong there; tried again every period",
             index(node), bytes / 1024));
}

void MigrationLog::note_no_node(NodeId node, Status status) {
    note(Topic::no_node,
         fmt::format(
             "no pages can be moved to node {} ({}); pages that belong there stay on their node",
             index(node), std::strerror(status)));
}

void MigrationLog::note_kernel_balances() {
    note(Topic::balancing,
         "the kernel also moves pages and may undo moves of pagemigd; `sysctl "
         "kernel.numa_balancing=0` stops the kernel's moves");
}

void MigrationLog::note_no_memory() {
    note(Topic::no_memory, "too little memory for the daemon's lists; tried again every period");
}

void MigrationLog::note_fewer_threads(std::size_t started, std::size_t wanted, const char* why) {
    note(Topic::threads,
         fmt::format("{} of {} threads could be started ({})", started, wanted, why));
}

MigrationFigures MigrationLog::figures() const noexcept {
    const auto read = [](const std::atomic<std::uint64_t>& counter) {
        return counter.load(std::memory_order_relaxed);
    };
    return {read(counters.pages_moved),  read(counters.pages_busy),    read(counters.pages_no_room),
            read(counters.pages_failed), read(counters.groups_served), read(counters.passes),
            read(counters.busy_ns)};
}

std::vector<std::string> MigrationLog::notices() const {
    const LockGuard lock(mutex_);
    return notices_;
}

}  // namespace nw
