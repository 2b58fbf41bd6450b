// SPDX-License-Identifier: Apache-2.0
#include "numa/place/page_migration.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include "numa/os/signals.hpp"
#include "util/check.hpp"
#include "util/locks.hpp"

namespace nw {
namespace {

// Requests to move a page of this process to the node on which the page already is.
Status try_to_move_a_page(Os& os) {
    alignas(page_bytes) std::array<std::byte, page_bytes> page{};
    const std::array<void*, 1> pages{page.data()};
    std::array<int, 1> where{};
    if (const Status status = os.query_pages(pages, where); status != 0) return status;
    return os.move_pages(pages, where[0] >= 0 ? NodeId{where[0]} : os.nodes().front(), where);
}

}  // namespace

PageMigrationDaemon::PageMigrationDaemon(Os& os, const PagemigdOptions& options,
                                         const PlacementPolicy& policy)
    : period_seconds_(options.period_seconds), policy_(policy) {
    if (options.threads == 0) return;
    if (os.kernel_balances_nodes()) log_.note_kernel_balances();
    if (const Status status = try_to_move_a_page(os); status != 0) {
        log_.note_refused(status);
        return;
    }
    for (std::size_t i = 0; i < options.threads; ++i) {
        shares_.push_back(std::make_unique<MigrationShare>(os, log_, policy));
        at_work_.push_back(std::make_unique<Mutex>());
    }
    start(options.threads);
}

void PageMigrationDaemon::start(std::size_t threads) {
    const SignalsBlocked blocked;
    try {
        for (std::size_t i = 0; i < threads; ++i) {
            threads_.emplace_back([this, i] { run(i); });
            // A name may have at most 15 characters. The function refuses a longer name, which does
            // no harm.
            pthread_setname_np(threads_.back().native_handle(),
                               fmt::format("pagemigd/{}", i).c_str());
        }
    } catch (const std::system_error& refused) {
        log_.note_fewer_threads(threads_.size(), threads, refused.what());
    }
}

void PageMigrationDaemon::serve(const std::vector<PlacedGroup*>& groups) {
    if (threads_.empty()) return;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
        const LockGuard pass(*at_work_[i]);
        shares_[i]->clear();
        for (std::size_t g = i; g < groups.size(); g += threads_.size())
            shares_[i]->add(*groups[g]);
    }
    const LockGuard lock(mutex_);
    serving_ = true;
}

bool PageMigrationDaemon::has_caught_up() const noexcept {
    const auto end = shares_.begin() + static_cast<std::ptrdiff_t>(threads_.size());
    return !threads_.empty() && std::all_of(shares_.begin(), end, [this](const auto& share) {
        return share->changes_done() == policy_.changes();
    });
}

void PageMigrationDaemon::stop() noexcept {
    {
        const LockGuard lock(mutex_);
        stop_.request_stop();
    }
    wake_.notify_all();
    for (std::thread& thread : threads_)
        if (thread.joinable()) thread.join();
}

// Returns false if the thread must end.
bool PageMigrationDaemon::sleep_until_next_pass() {
    const auto period = std::chrono::duration<double>(period_seconds_);
    LockGuard lock(mutex_);
    do {
        wake_.wait_for(lock, period, [this] { return stop_.stop_requested(); });
    } while (!serving_ && !stop_.stop_requested());
    return !stop_.stop_requested();
}

void PageMigrationDaemon::run(std::size_t number) {
    while (sleep_until_next_pass()) {
        const LockGuard pass(*at_work_[number]);
        try {
            shares_[number]->pass(stop_.get_token());
        } catch (const std::bad_alloc&) {
            log_.note_no_memory();
        }
    }
}

}  // namespace nw
