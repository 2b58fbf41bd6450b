// SPDX-License-Identifier: Apache-2.0
// The bottom halves that have mail for one worker. Writers push bottom halves, and the worker takes
// them.
#pragma once

#include <atomic>
#include <cstddef>

namespace nw {

class BottomHalf;

// An intrusive stack with many producers and one consumer. The consumer always takes all entries.
class ReadyList {
  public:
    void push(BottomHalf& mail) noexcept;  // defined in bottom_half.hpp
    BottomHalf* take_all() noexcept {
        if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
        return head_.exchange(nullptr,
                              std::memory_order_acquire);  // pairs with push()
    }
    // Sequentially consistent, as is push(): a worker calls empty() before it sleeps
    // (numa/os/wake_signal.hpp).
    bool empty() const noexcept { return head_.load() == nullptr; }

    // Checks that the list has at most `groups` entries and no cycle. Thread: the consumer.
    void validate(std::size_t groups) const;

  private:
    alignas(64) std::atomic<BottomHalf*> head_{nullptr};
};

}  // namespace nw
