// SPDX-License-Identifier: Apache-2.0
#include "api/event_sink.hpp"

#include <cmath>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "api/event_key.hpp"
#include "api/lp_kinds.hpp"

namespace nw {

void LogicalProcess::on_reverse(Context&, const Event&) {
    throw ModelError(
        "on_reverse() is not overridden; this model does not support --rollback reverse");
}

const Kinds& Context::kinds() const noexcept { return sink_->kinds(); }

void Context::schedule_bytes(LpId target, VirtualTime delay, EventType type,
                             std::span<const std::byte> payload) {
    if (payload.empty()) return schedule(target, delay, type);
    if (payload.size() > detail::ShortBody::payload_bytes_max)
        return schedule_by_call(target, delay, type, payload);
    detail::touch(payload);
    schedule_copy(target, delay, type, payload);
}

void Context::schedule_by_call(LpId target, VirtualTime delay, EventType type,
                               std::span<const std::byte> payload) {
    sink_->schedule(*this, target, {delay, now_ + delay}, type, payload);
}

Context::InOrder::InOrder(Context& context, Priority priority) : context_(context) {
    if (priority.number > priority_max)
        throw ModelError(fmt::format(
            "{} at time {} schedules an event of priority {}; allowed: 0 to {}",
            context.kinds().name(context.self()), context.now_, priority.number, priority_max));
    context.set_first_generation(first_generation_of(priority));
}

void Context::schedule_bytes_at(LpId target, VirtualTime time, EventType type,
                                std::span<const std::byte> payload) {
    // A time is allowed if it is at least now + lookahead, the rounded sum that the engines
    // compute. The difference time - now is rounded, too. Therefore it may be below the lookahead
    // although the time is allowed, or it may reach the lookahead although the time is not allowed.
    const VirtualTime lookahead = target == self() ? 0 : sink_->lookahead();
    VirtualTime delay = time - now_;
    if (const bool is_legal = time >= now_ + lookahead; is_legal != (delay >= lookahead))
        delay = is_legal ? lookahead : std::nextafter(lookahead, -1);
    sink_->schedule(*this, target, {delay, time}, type, payload);
}

void Context::output_row(std::size_t table, std::span<const OutputValue> row) {
    sink_->output(*this, table, row);
}

namespace detail {

const Kinds& EventSink::kinds() const noexcept { return rules_.kinds->kinds(); }

void EventSink::schedule(const Context& context, LpId target, ScheduledTime when, EventType type,
                         std::span<const std::byte> payload) {
    check_schedule(rules_, context.self(), context.now(), target, when, payload.size());
    send({target, when, type, payload, context.first_generation()});
}

void schedule_refused(const ScheduleRules& rules, LpId self, VirtualTime now, LpId target,
                      ScheduledTime when, std::size_t payload_bytes) {
    // The text is in the LP's heap, like an exception that the handler throws itself, because the
    // handler may catch and keep the exception.
    const std::string where = fmt::format(
        "{} at time {} schedules an event for {} at time {}: ", rules.kinds->name(index(self)), now,
        rules.kinds->name(index(target)), when.time);
    if (index(target) >= rules.lps)
        throw ModelError(where +
                         fmt::format("there is no such LP; allowed: 0 to {}", rules.lps - 1));
    if (payload_bytes > rules.payload_bytes_max)
        throw ModelError(where +
                         fmt::format("its payload of {} bytes is above the declared bound "
                                     "of {}; allowed: setup.payload_bytes_max = {} in setup()",
                                     payload_bytes, rules.payload_bytes_max, payload_bytes));
    if (!(when.delay >= 0))
        throw ModelError(
            where +
            fmt::format("this time is in the past (delay {}); allowed: a delay of at least 0",
                        when.delay));
    if (!(when.time < time_infinity)) throw ModelError(where + "the time must be finite");
    throw ModelError(where + fmt::format("delay {} is below the declared lookahead of {}",
                                         when.delay, rules.lookahead));
}

void refuse_event(const Event& event, std::span<const EventTypeInfo> allowed) {
    std::string words;
    for (const EventTypeInfo& info : allowed)
        words += fmt::format("{}{} (type {}, {} bytes)", words.empty() ? "" : ", ", info.name,
                             info.type, info.payload_bytes);
    throw ModelError(fmt::format("the LP handles no event of type {} with {} bytes; allowed: {}",
                                 event.type(), event.bytes().size(), words));
}

void chain_too_long(VirtualTime now) {
    throw ModelError(fmt::format(
        "too many events with zero delay follow each other at time {}; allowed: at most "
        "2^32 - P * 2^{} after an event of priority P",
        now, chain_bits));
}

void drawn_too_much() {
    throw ModelError(
        "random(): the generator was moved by more than 2^32 blocks, or backward; allowed: only "
        "calls that draw numbers");
}

}  // namespace detail
}  // namespace nw
