// SPDX-License-Identifier: Apache-2.0
// The effects of a worker's handlers outside of their LPs: events that handlers schedule, rows of
// output, and figures of measures. An event that a handler schedules becomes a short event, an
// event record, or a wire event for another worker. Events leave when the handler has returned.
//
// Owner: Worker. Thread: the worker's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "api/event_sink.hpp"
#include "engine/event_flow.hpp"
#include "engine/timewarp/worker/outboxes.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "event/mail_buffer.hpp"
#include "event/wire_event.hpp"

namespace nw {

class Ending;
class Throttle;

class Sends final : public detail::EventSink {
  public:
    Sends(WorkerCore& core, Throttle& throttle, Ending& ending);

    // Contexts for the worker's handlers.
    using EventSink::make_context;
    using EventSink::renew;

    // --- after a handler has returned ---

    // Releases the short events. note(): see ShortEvents::release(). Static, so that the caller's
    // reference to `core` stays in a register.
    template <bool are_irrevocable, class Note = ShortEvents::NoNote>
    [[gnu::always_inline]] static void release_short(WorkerCore& core, Sends& sends, LpRecord& lp,
                                                     Note&& note = {}) {
        core.short_events.release(
            lp.serial, core.pending,
            [&core](std::uint32_t target) {
                return core.is_alone ||
                       core.rank.owner(core.plan.partition.position(target).group) == core.self;
            },
            [&sends](const EventHeader& header, const std::byte* payload) {
                sends.publish(WireEvent{header, 0, WireKind::event, are_irrevocable, {}}, payload);
            },
            std::forward<Note>(note));
    }
    // As release(), but small events become short events, and their records are freed. This is
    // allowed in a run that uses the log, because such a run cancels these events by their
    // identity. If the handler's event is irrevocable, they are never canceled.
    void release_shortened(const HistoryEntry& entry);
    // Releases the events of the entry, and the events to other workers.
    void release(const HistoryEntry& entry) {
        release_sent(entry.sent, core_.pending);
        if (!staged_.empty()) publish_staged();
    }

    // --- after a handler has failed, and in a rollback ---

    // Discards the sends and side effects of the running handler.
    void drop();
    // Sends an event or anti-message to another worker.
    void publish(const WireEvent& wire, const std::byte* payload);

    // --- figures of interval measures (--measure-interval) ---

    // Evaluates the figures of the intervals that have ended before `now`. These values become
    // final with the event that is executed next.
    void add_figures(Group& group, const LpRecord& lp, VirtualTime now);
    // Makes the intervals of an undone event due again.
    void take_back_figures(Group& group, const LpRecord& lp, const HistoryEntry& entry) noexcept;

    Outboxes& outboxes() noexcept { return outboxes_; }
    const Outboxes& outboxes() const noexcept { return outboxes_; }

    // Requires: no handler runs.
    void validate() const;

  private:
    void publish_staged();
    void send(const detail::ScheduledEvent& event) override;
    void output(Context& context, std::size_t table, std::span<const OutputValue> row) override;

    WorkerCore& core_;
    Throttle& throttle_;
    Ending& ending_;
    Outboxes outboxes_;
    MailBuffer staged_;  // sends of the running handler to other workers
};

}  // namespace nw
