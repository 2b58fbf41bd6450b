// SPDX-License-Identifier: Apache-2.0
// The execution of an event whose entry is in the worker's log (lp/past_log.hpp). begin() is called
// before the handler and writes the event and the data that undo it. end() is called afterwards,
// writes the events that were sent, and appends the entry. If the handler fails or is interrupted,
// keep() is called instead, and the event becomes part of its LP's history.
//
// Owner: Executor. Thread: the worker's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "api/make_context.hpp"
#include "engine/timewarp/worker/sends.hpp"
#include "engine/timewarp/worker/worker_core.hpp"
#include "event/wire_event.hpp"
#include "util/paranoid.hpp"

namespace nw {

class Committer;

class LoggedExecution {
  public:
    LoggedExecution(WorkerCore& core, Committer& committer, Sends& sends)
        : core_(core),
          committer_(committer),
          sends_(sends),
          flags_(core.plan.kinds.has_commit() ? LogEntry::has_effects : 0) {}

    // Begins an entry. Returns false if the entry has no room for the LP's state. Then the event
    // must get an entry in the history. Requires: the log accepts the event, and
    // StateKeeper::suits_log(lp) is true.
    [[gnu::always_inline]] bool begin(Group& group, LpRecord& lp, EventRecord& event) {
        LogEntry& entry = core_.log.begin();
        begun_ = &entry;
        const auto state_bytes =
            core_.keeper.save_in_log(lp, entry.undo(), core_.log.state_of(entry));
        if (!state_bytes) [[unlikely]]
            return false;
        entry.state_bytes = *state_bytes;
        entry.event = event;
        entry.digest = lp.digest;
        entry.kind = lp.kind;
        entry.flags = flags_;
        entry.record = nullptr;
        if (!core_.short_events.is_record(event)) {
            entry.record = &event;
            entry.flags |= LogEntry::has_effects;
        }
        entry.side_effects = nullptr;
        sequence_ = lp.sequence;
        NW_PARANOID(effects_.sent == nullptr && effects_.sent_count == 0 &&
                    effects_.side_effects == nullptr);
        // Usually the previous event was in the log, too. Then only three fields change.
        if (core_.running.entry != &effects_) core_.running = {.entry = &effects_};
        core_.running.group = &group;
        core_.running.lp = &lp;
        core_.running.event = &event;
        return true;
    }

    // Completes the entry, appends it to the log, and releases the events that were sent.
    // `random_used`: the number of blocks of random numbers that the handler has drawn.
    [[gnu::always_inline]] void end(LpRecord& lp, EventRecord& event, Context& context,
                                    std::uint32_t random_used) {
        LogEntry& entry = *begun_;
        entry.random_used = random_used;
        lp.random_counter += random_used;
        StateKeeper::save_control(core_.keeper.rules_of(lp), entry.undo(), context.control());
        std::byte* end = core_.log.payload_of(entry);
        if (entry.record == nullptr) {
            // Copied after the handler, because a handler of the interface for ROSS may write into
            // the payload.
            if (event.payload_bytes > 0)
                std::memcpy(end, event.payload(), detail::ShortBody::payload_bytes_max);
            end += WireEvent::padded(event.payload_bytes);
        }
        entry.sent_count = lp.sequence - sequence_;
        entry.sends = entry.sent_count - effects_.sent_count;
        auto* send = reinterpret_cast<EventHeader*>(end);
        Sends::release_short<false>(
            core_, sends_, lp, [&](const detail::SentEvent& sent, std::uint64_t word) {
                std::memcpy(send, &sent, offsetof(EventHeader, payload_bytes));
                std::memcpy(&send->payload_bytes, &word, sizeof word);
                ++send;
            });
        end = reinterpret_cast<std::byte*>(send);
        if (effects_.sent_count != 0 || effects_.side_effects != nullptr) [[unlikely]]
            end = add_other_effects(end);
        core_.log.append(lp, *begun_, end);
    }

    // Adds the event, which has failed or was interrupted, to its LP's history. Does nothing if
    // core_.running does not describe an event of the log.
    void keep();

  private:
    std::byte* add_other_effects(std::byte* end);

    WorkerCore& core_;
    Committer& committer_;
    Sends& sends_;
    LogEntry* begun_ = nullptr;  // the entry of begin(), while the event is executed
    const LogEntry::Flags flags_;
    HistoryEntry effects_{};      // sends that are not short, and side effects; usually empty
    std::uint32_t sequence_ = 0;  // of the LP, before this event
};

}  // namespace nw
