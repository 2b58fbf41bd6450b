// Where events for a group wait until the group's worker fetches them ("NUMA Time Warp", Pellegrini
// and Quaglia, PADS 2015, §3.3): many writers append to the live buffer under a spin lock, the one
// reader swaps live and expired at the start of its era and reads the expired one without a lock.
//
// Both buffers lie in the group's own slot, at addresses that stay the same whatever is swapped and
// however they grow (slot_buffer.hpp), so that the migration daemon moves them with the group. A
// group without mail has no page for it: pages come with the first event and go when trim() finds
// that no mail came for a while.
//
// A worker owns thousands of groups and must not poll them: the first event of an era puts the
// bottom half on its owner's ready list.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>

#include "base/check.hpp"
#include "base/handoff.hpp"
#include "base/spin_lock.hpp"
#include "event/ready_list.hpp"
#include "event/slot_buffer.hpp"

namespace nw {

class alignas(64) BottomHalf {
  public:
    // `pages` are the group's, and outlive this.
    BottomHalf(std::uint32_t group, MailPages& pages) noexcept
        : group_(group),
          live_(pages, MailBufferId::a),
          pages_(pages),
          expired_(pages, MailBufferId::b) {}

    std::uint32_t group() const noexcept { return group_; }

    // Thread: any. `size` bytes of wire events for LPs of this group; `owner` is the ready list of
    // the worker that owns the group now. Throws std::bad_alloc.
    void push(const std::byte* events, std::size_t size, ReadyList& owner) {
        note_handoff(Handoff::mail_pushed);
        const std::lock_guard writing(lock_);
        live_.append(events, size, pages_);
        if (listed_) return;
        listed_ = true;
        // Before another writer can be told that this is listed: what it has pushed has then come.
        owner.push(*this);
    }

    // Thread: the owner, after taking this from its ready list. The returned wire events are valid
    // until the next drain() or trim().
    std::span<const std::byte> drain() noexcept {
        expired_.clear(pages_);
        had_mail_ = true;
        {
            const std::lock_guard swapping(lock_);
            swap(live_, expired_);
            listed_ = false;
        }
        return {expired_.data(), expired_.size()};
    }

    // Gives the memory of both buffers back if no mail has come since the last call. Thread: the
    // owner, when it has done with what drain() returned; now and then.
    void trim() noexcept {
        if (had_mail_) {
            had_mail_ = false;
            trimmed_ = false;
            return;
        }
        if (trimmed_) return;
        expired_.release(pages_);
        {
            const std::lock_guard swapping(lock_);
            if (listed_) return;
            swap(live_, expired_);
        }
        // What was live, and empty, is ours now: no writer waits for the kernel.
        expired_.release(pages_);
        trimmed_ = true;
    }

    // Thread: the owner. See base/paranoid.hpp.
    void validate() {
        pages_.validate();
        expired_.validate(pages_);
        const std::lock_guard looking(lock_);
        live_.validate(pages_);
        NW_CHECK(live_.id() != expired_.id());
        NW_CHECK(listed_ || live_.empty());  // nobody would come for it
    }

    BottomHalf* next_ready = nullptr;  // belongs to the ready list while listed

  private:
    SpinLock lock_;
    bool listed_ = false;  // on a ready list, or taken from one to be drained; under lock_
    std::uint32_t group_;
    SlotBuffer live_;  // under lock_
    MailPages& pages_;
    // From here on the owner's alone.
    alignas(64) SlotBuffer expired_;
    bool had_mail_ = false;  // since the last trim()
    bool trimmed_ = true;    // there is nothing to give back unless had_mail_
};

static_assert(sizeof(BottomHalf) == 128);

inline void ReadyList::push(BottomHalf& mail) noexcept {
    BottomHalf* head = head_.load(std::memory_order_relaxed);
    do {
        mail.next_ready = head;
    } while (!head_.compare_exchange_weak(head, &mail, std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
}

inline void ReadyList::validate(std::size_t groups) const {
    const BottomHalf* mail = head_.load(std::memory_order_acquire);  // pairs with push
    for (; mail != nullptr; mail = mail->next_ready) NW_CHECK(groups-- != 0);
}

}  // namespace nw
