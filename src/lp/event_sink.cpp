#include "lp/event_sink.hpp"

#include <fmt/format.h>

#include <numawarp/model.hpp>

namespace nw {

void LogicalProcess::on_reverse(Context&, const Event&) {
    throw ModelError("on_reverse() is not overridden: --rollback reverse is not for this model");
}

void Context::schedule_bytes(LpId target, VirtualTime delay, EventType type,
                             std::span<const std::byte> payload) {
    sink_->schedule(*this, target, delay, type, payload);
}

void Context::output_row(std::size_t table, std::span<const OutputValue> row) {
    sink_->output(*this, table, row);
}

namespace detail {

void schedule_refused(const ScheduleRules& rules, LpId self, VirtualTime now, LpId target,
                      VirtualTime delay, std::size_t payload_bytes) {
    // The handler may catch and keep it: made in the LP's heap, like what it throws itself.
    const std::string where =
        fmt::format("LP {} at time {} schedules an event for LP {} at time {}: ", index(self), now,
                    index(target), now + delay);
    if (index(target) >= rules.lps)
        throw ModelError(where + fmt::format("there is no such LP; legal: 0 to {}", rules.lps - 1));
    if (payload_bytes > rules.payload_bytes_max)
        throw ModelError(where + fmt::format("its payload of {} bytes is above the declared bound "
                                             "of {}",
                                             payload_bytes, rules.payload_bytes_max));
    if (!(delay >= 0))
        throw ModelError(where + fmt::format("that is in the past (delay {}); legal: a delay of at "
                                             "least 0",
                                             delay));
    if (!(now + delay < time_infinity)) throw ModelError(where + "the time must be finite");
    throw ModelError(where + fmt::format("delay {} is below the declared lookahead of {}", delay,
                                         rules.lookahead));
}

void chain_too_long(VirtualTime now) {
    throw ModelError(
        fmt::format("a chain of 2^32 events at one time, {}, each with no delay after "
                    "the one before; legal: a delay now and then",
                    now));
}

void drawn_too_much() {
    throw ModelError(
        "random(): moved on by more than 2^32 blocks, or back; legal: to draw from it");
}

}  // namespace detail
}  // namespace nw
