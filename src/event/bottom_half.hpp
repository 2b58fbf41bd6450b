// Where events for a group wait until the group's worker fetches them ("NUMA Time Warp", Pellegrini
// and Quaglia, PADS 2015, §3.3): many writers append to the live buffer under a spin lock, the one
// reader swaps live and expired at the start of its era and reads the expired one without a lock.
//
// A worker owns thousands of groups and must not poll them: the first event of an era puts the
// bottom half on its owner's ready list.
#pragma once

#include <atomic>
#include <cstdint>

#include "event/mail_buffer.hpp"

namespace nw {

inline void spin_pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

class SpinLock {
  public:
    void lock() noexcept {
        while (locked_.exchange(true, std::memory_order_acquire))
            while (locked_.load(std::memory_order_relaxed)) spin_pause();
    }
    bool try_lock() noexcept { return !locked_.exchange(true, std::memory_order_acquire); }
    void unlock() noexcept { locked_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> locked_{false};
};

class BottomHalf;

// An intrusive stack with many producers and one consumer, which always takes all of it.
class ReadyList {
  public:
    void push(BottomHalf& mail) noexcept;
    BottomHalf* take_all() noexcept {
        if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
        return head_.exchange(nullptr,
                              std::memory_order_acquire);  // pairs with the release in push
    }
    bool empty() const noexcept { return head_.load(std::memory_order_relaxed) == nullptr; }

  private:
    alignas(64) std::atomic<BottomHalf*> head_{nullptr};
};

class alignas(64) BottomHalf {
  public:
    explicit BottomHalf(std::uint32_t group) : group_(group) {}

    std::uint32_t group() const noexcept { return group_; }

    // Thread: any. `size` bytes of wire events for LPs of this group; `owner` is the ready list of
    // the worker that owns the group now.
    void push(const std::byte* events, std::size_t size, ReadyList& owner) {
        lock_.lock();
        live_.append(events, size);
        const bool first = !listed_;
        listed_ = true;
        lock_.unlock();
        if (first) owner.push(*this);
    }

    // Thread: the owner, after taking this from its ready list. The returned events are valid until
    // the next call.
    const MailBuffer& drain() noexcept {
        expired_.clear();
        lock_.lock();
        swap(live_, expired_);
        listed_ = false;
        lock_.unlock();
        return expired_;
    }

    BottomHalf* next_ready = nullptr;  // belongs to the ready list while listed

  private:
    SpinLock lock_;
    bool listed_ = false;  // on (or on the way to) a ready list; under lock_
    MailBuffer live_;      // under lock_
    std::uint32_t group_;
    alignas(64) MailBuffer expired_;  // the owner's alone
};

inline void ReadyList::push(BottomHalf& mail) noexcept {
    BottomHalf* head = head_.load(std::memory_order_relaxed);
    do {
        mail.next_ready = head;
    } while (!head_.compare_exchange_weak(head, &mail, std::memory_order_release,
                                          std::memory_order_relaxed));
}

}  // namespace nw
