// SPDX-License-Identifier: Apache-2.0
// The past of a worker: the events that its LPs have executed and may have to undo, in one ring of
// bytes, in the order of the events. An entry contains the whole event, the data that undo it, and
// the events that it has sent. A commit walks over the entries before GVT. For most entries, it
// accesses neither the LP nor other memory.
//
// If each LP had only a history (history.hpp), entries and events would be spread over the memory
// of all LPs. The ring contains only the events between GVT and the worker's time, so it usually
// fits into the cache.
//
//     head ≤ tail      as offsets: bytes appended since the log began
//
// take() removes all entries of one LP, so that the caller can put them into the LP's history. All
// rare operations work on histories: rollback, coasting forward, pauses, and moves of groups.
//
// An entry contains everything that undoes its event. An event that needs other data, for example a
// saved state before an earlier event, is executed into the LP's history instead. So a commit frees
// the entries at the front of the ring.
//
// Owner: the worker that owns the LPs. Memory: the worker's own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "event/event_record.hpp"
#include "lp/history.hpp"
#include "lp/lp_record.hpp"
#include "util/digest.hpp"

namespace nw {

// These parts follow a LogEntry: the undo data; the state before the event, with state_bytes; the
// payload, if there is no record; the headers of the events that were sent.
struct LogEntry {
    using Flags = std::uint8_t;
    enum Flag : Flags {
        gone = 1,   // The entry was taken out of the log. Only its bytes and its event are read.
        timed = 2,  // In the load of its group, the event counts for events_between_timed events.
        has_effects = 4  // It has side effects or a record, or the model has on_commit().
    };

    EventHeader event;
    Digest digest;             // of the LP, before the event
    LpRecord* lp;              // the LP that has executed the event
    std::uint64_t older;       // offset of the LP's previous entry, which may have left the log
    EventRecord* record;       // of an event that is not short: contains its payload; else null
    SideEffect* side_effects;  // list
    std::uint32_t bytes;       // of the whole entry
    std::uint32_t random_used;
    std::uint32_t sent_count;  // all sends, including those beyond the end of the run
    std::uint32_t sends;       // number of headers at the end of the entry
    Flags flags;
    std::uint8_t kind;          // of the LP
    std::uint16_t state_bytes;  // of the state before the event; 0: the state is not in the log

    std::byte* undo() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    EventHeader* first_send() noexcept {
        return reinterpret_cast<EventHeader*>(reinterpret_cast<std::byte*>(this) + bytes) - sends;
    }
};
static_assert(sizeof(LogEntry) % 8 == 0 && std::is_trivially_copyable_v<LogEntry>);

class PastLog {
  public:
    using Offset = std::uint64_t;

    // Sends for which begin() makes room.
    static constexpr std::size_t sends_expected = 64;
    static constexpr std::size_t capacity_min = std::size_t{1} << 16;
    // Twice the size of a second-level cache of 2 MiB. Entries of a larger log would leave the
    // cache as histories do, and to double a larger log would take much memory at once.
    static constexpr std::size_t used_max = (std::size_t{4} << 20) - capacity_min;

    // `undo_bytes`: size of the undo data of each entry, a multiple of 8. `state_bytes_max`:
    // maximum size of a state in an entry. `payload_bytes_max`: maximum size of the payload of a
    // short event. `capacity_least`: the ring has at least this capacity, whose pages are touched
    // now; 0: capacity_min.
    PastLog(std::size_t undo_bytes, std::size_t state_bytes_max, std::size_t payload_bytes_max,
            std::size_t capacity_least = 0);

    // --- appending ---

    // Returns the place of the next entry, with room for a short payload and `sends` headers. If
    // begin() was called since the last append(), the content of that entry is kept.
    LogEntry& begin(std::size_t sends = sends_expected) {
        const std::size_t room = fixed_bytes_ + sends * sizeof(EventHeader);
        if (tail_ - head_ + room > capacity() || sends > sends_expected) [[unlikely]]
            make_room(room);
        return at(tail_);
    }
    std::byte* state_of(LogEntry& entry) const noexcept { return entry.undo() + undo_bytes_; }
    std::byte* payload_of(LogEntry& entry) const noexcept {
        return state_of(entry) + entry.state_bytes;
    }
    std::size_t undo_bytes() const noexcept { return undo_bytes_; }

    // Whether the event may be the next entry: the log stays in the order of events, and its size
    // is limited.
    template <class Key>
    bool may_append(const Key& event) const noexcept {
        return (newest_ < head_ || !before(event, at(newest_).event)) && used_bytes() < used_max;
    }
    // Appends the entry of begin(), which ends at `end`. Sets the fields that belong to the log.
    void append(LpRecord& lp, LogEntry& entry, const std::byte* end) noexcept {
        entry.lp = &lp;
        entry.bytes = static_cast<std::uint32_t>(end - reinterpret_cast<std::byte*>(&entry));
        entry.older = newest_of(lp);
        lp.newest_in_log = tail_ / granule;
        newest_ = tail_;
        tail_ += entry.bytes;
        ++size_;
    }
    // Number of bytes appended since the log began.
    Offset tail() const noexcept { return tail_; }
    // The entry that was appended last. Requires: this entry is in the log.
    LogEntry& newest() const noexcept { return at(newest_); }

    // --- the entries of an LP ---

    bool contains_events_of(const LpRecord& lp) const noexcept { return newest_of(lp) >= head_; }
    // Requires: contains_events_of(lp).
    const LogEntry& newest_entry_of(const LpRecord& lp) const noexcept { return at(newest_of(lp)); }
    // Removes all entries of the LP. First calls visit(entry) for each entry, oldest first. `visit`
    // must not change the log.
    template <class Visit>
    void take(LpRecord& lp, Visit&& visit) {
        chain_.clear();
        for (Offset offset = newest_of(lp); offset >= head_; offset = at(offset).older)
            chain_.push_back(offset);
        lp.newest_in_log = 0;
        for (auto offset = chain_.rbegin(); offset != chain_.rend(); ++offset) {
            LogEntry& entry = at(*offset);
            visit(entry);
            entry.flags |= LogEntry::gone;
            --size_;
        }
        if (size_ == 0) newest_ = 0;
    }

    // --- commit ---

    // Removes at most `limit` entries before `bound` from the front of the log. For each entry,
    // calls commit_each(entry), and directly afterwards commit_other(entry) if the entry has flags.
    // Returns the number of entries.
    template <class Each, class Other>
    std::uint32_t commit(const EventKey& bound, std::uint32_t limit, Each&& commit_each,
                         Other&& commit_other) {
        std::uint32_t committed = 0;
        used_most_ = std::max(used_most_, used_bytes());
        while (head_ != tail_ && committed != limit) {
            LogEntry& entry = at(head_);
            if ((entry.flags & LogEntry::gone) != 0) [[unlikely]] {
                head_ += entry.bytes;
                continue;
            }
            if (!before(entry.event, bound)) break;
            head_ += entry.bytes;
            ++committed;
            --size_;
            commit_each(entry);
            if (entry.flags != 0) [[unlikely]]
                commit_other(entry);
        }
        return committed;
    }
    bool empty() const noexcept { return size_ == 0; }
    std::uint64_t size() const noexcept { return size_; }  // number of events

    // Visits the entries, oldest first. `visit` may take entries out of the log, but must not
    // append any.
    template <class Visit>
    void for_each(Visit&& visit) {
        for (Offset offset = head_; offset != tail_;) {
            LogEntry& entry = at(offset);
            offset += entry.bytes;
            if ((entry.flags & LogEntry::gone) == 0) visit(entry);
        }
    }

    // --- memory ---

    std::size_t ring_bytes() const noexcept { return capacity() + slack_; }
    std::size_t used_bytes() const noexcept { return tail_ - head_; }
    // Returns the maximum size of an entry with one send.
    std::size_t bytes_per_event() const noexcept { return fixed_bytes_ + sizeof(EventHeader); }
    // Called at the end of each commit. Halves the ring if the last 32 commits used less than a
    // quarter of it. If memory is low, it halves the ring if less than a quarter is used now.
    void trim(bool memory_is_low);

    // Checks all entries, and that newest_in_log of each LP is the offset of its newest entry.
    void validate() const;

  private:
    // Entries begin at multiples of `granule`.
    static constexpr std::size_t granule = 8;

    LogEntry& at(Offset offset) const noexcept {
        return *reinterpret_cast<LogEntry*>(ring_.get() + (offset & mask_));
    }
    static Offset newest_of(const LpRecord& lp) noexcept { return lp.newest_in_log * granule; }
    std::size_t capacity() const noexcept { return mask_ + 1; }
    // Bytes of the largest entry with sends_expected sends.
    std::size_t slack_min() const noexcept {
        return fixed_bytes_ + sends_expected * sizeof(EventHeader);
    }
    void make_room(std::size_t bytes);
    void resize(std::size_t capacity);

    // An entry begins at its offset modulo the capacity. It may continue into the slack behind the
    // ring; then the first bytes of the ring stay unused.
    std::unique_ptr<std::byte[]> ring_;
    std::size_t mask_;  // capacity - 1
    std::size_t slack_;
    Offset head_ = first;
    Offset tail_ = first;
    // The entry that was appended last. While this entry is in the log, no event before it may be
    // appended. 0: the entry was taken out, and the log is empty.
    Offset newest_ = 0;
    std::uint64_t size_ = 0;
    const std::size_t capacity_least_;
    const std::size_t undo_bytes_;
    const std::size_t fixed_bytes_;  // maximum size of an entry without sends
    std::vector<Offset> chain_;      // used by take()
    std::size_t used_most_ = 0;      // at the commits since the last decision of trim()
    Offset large_until_ = 0;   // the last entry that needed a larger slack is before this offset
    std::uint32_t trims_ = 0;  // calls of trim() since its last decision

    static constexpr Offset first = 64;  // above 0, the offset of LPs without an entry
};

}  // namespace nw
