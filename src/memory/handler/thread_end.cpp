// SPDX-License-Identifier: Apache-2.0
#include "memory/handler/thread_end.hpp"

#include <atomic>

namespace nw {
namespace {

constinit thread_local bool is_ending = false;
constinit std::atomic<std::uint64_t> freed{0};

}  // namespace

void begin_thread_end() noexcept { is_ending = true; }

bool at_thread_end() noexcept { return is_ending; }

void note_freed_at_thread_end() noexcept { freed.fetch_add(1, std::memory_order_relaxed); }

std::uint64_t take_freed_at_thread_end() noexcept {
    return freed.exchange(0, std::memory_order_relaxed);
}

}  // namespace nw
