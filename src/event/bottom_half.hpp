// SPDX-License-Identifier: Apache-2.0
// Buffers the events for a group until the group's worker reads them ("NUMA Time Warp", Pellegrini
// and Quaglia, PADS 2015, §3.3). Many writers append to the live buffer under a spin lock. The only
// reader swaps the live and the expired buffer at the start of its era. It then reads the expired
// buffer without a lock.
//
// Both buffers are in the group's slot, at addresses that do not change when buffers are swapped or
// grow (slot_buffer.hpp). Therefore the migration daemon can move them with the group. A group
// without mail has no pages for mail: the first event touches pages, and trim() releases them when
// no mail has arrived for some time.
//
// A worker may own thousands of groups and cannot poll each of them. The writer of an era's
// first event therefore pushes the bottom half onto the ready list of the group's worker.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "event/ready_list.hpp"
#include "event/slot_buffer.hpp"
#include "util/check.hpp"
#include "util/handoff.hpp"
#include "util/locks.hpp"

namespace nw {

class alignas(64) BottomHalf {
  public:
    // `pages` belongs to the group, and must outlive this object.
    BottomHalf(std::uint32_t group, MailPages& pages) noexcept
        : group_(group),
          live_(pages, MailBufferId::a),
          pages_(pages),
          expired_(pages, MailBufferId::b) {}

    std::uint32_t group() const noexcept { return group_; }

    // Thread: any. Appends `size` bytes of wire events for LPs of this group. `owner` is the ready
    // list of the worker that owns the group now. Throws std::bad_alloc.
    void push(const std::byte* events, std::size_t size, ReadyList& owner) {
        note_handoff(Handoff::mail_pushed);
        const LockGuard writing(lock_);
        live_.append(events, size, pages_);
        if (listed_) return;
        listed_ = true;
        // This call is under the lock. So when another writer reads listed_ = true, this bottom
        // half is already on the ready list, and the owner will find the mail of that writer.
        owner.push(*this);
    }

    // Thread: the owner, after it has taken this bottom half from its ready list. The returned wire
    // events are valid until the next drain() or trim().
    std::span<const std::byte> drain() noexcept {
        expired_.clear(pages_);
        had_mail_ = true;
        {
            const LockGuard swapping(lock_);
            swap(live_, expired_);
            listed_ = false;
        }
        return {expired_.data(), expired_.size()};
    }

    // Releases the memory of both buffers if no mail has been drained since the last call. Thread:
    // the owner, from time to time, when it no longer uses the events that drain() has returned.
    void trim() noexcept {
        if (had_mail_) {
            had_mail_ = false;
            trimmed_ = false;
            return;
        }
        if (trimmed_) return;
        expired_.release(pages_);
        {
            const LockGuard swapping(lock_);
            if (listed_) return;
            swap(live_, expired_);
        }
        // Released after the swap and without the lock, so that no writer waits for the system
        // call.
        expired_.release(pages_);
        trimmed_ = true;
    }

    // Thread: the owner. See util/paranoid.hpp.
    void validate() {
        pages_.validate();
        expired_.validate(pages_);
        const LockGuard looking(lock_);
        live_.validate(pages_);
        NW_CHECK(live_.id() != expired_.id());
        NW_CHECK(listed_ || live_.empty());  // else no worker would drain it
    }

    BottomHalf* next_ready = nullptr;  // used by the ready list while listed_ is true

  private:
    SpinLock lock_;
    // True if this bottom half is on a ready list, or was taken from the list and is not drained
    // yet.
    bool listed_ NW_GUARDED_BY(lock_) = false;
    std::uint32_t group_;
    SlotBuffer live_ NW_GUARDED_BY(lock_);
    MailPages& pages_;
    // The fields from here on belong to the owner.
    alignas(64) SlotBuffer expired_;
    bool had_mail_ = false;  // since the last trim()
    bool trimmed_ = true;    // no memory to release unless had_mail_
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
    const BottomHalf* mail = head_.load(std::memory_order_acquire);  // pairs with push()
    for (; mail != nullptr; mail = mail->next_ready) NW_CHECK(groups-- != 0);
}

}  // namespace nw
