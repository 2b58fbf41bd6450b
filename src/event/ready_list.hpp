// Where a worker finds out which of its groups have mail: the bottom halves that writers have put on it.
#pragma once

#include <atomic>
#include <cstddef>

namespace nw {

class BottomHalf;

// An intrusive stack with many producers and one consumer, which always takes all of it.
class ReadyList {
  public:
    void push(BottomHalf& mail) noexcept;  // with the bottom half: bottom_half.hpp
    BottomHalf* take_all() noexcept {
        if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
        return head_.exchange(nullptr,
                              std::memory_order_acquire);  // pairs with the release in push
    }
    // In one order with push() for all threads: a worker looks here before it sleeps.
    bool empty() const noexcept { return head_.load() == nullptr; }

    // At most so many are on it, and none twice. Thread: the consumer.
    void validate(std::size_t groups) const;

  private:
    alignas(64) std::atomic<BottomHalf*> head_{nullptr};
};

}  // namespace nw
