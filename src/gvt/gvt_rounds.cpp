// SPDX-License-Identifier: Apache-2.0
#include "gvt/gvt_rounds.hpp"

#include <fmt/format.h>

#include "util/check.hpp"
#include "util/handoff.hpp"

namespace nw {

GvtRounds::GvtRounds(Transport& transport, std::uint32_t workers, double interval_ms,
                     WindowControl window, bool arrivals)
    : ReductionRounds(transport, workers, first_round, arrivals,
                      {.window = window.width(), .generations = window.generations()}),
      interval_(static_cast<std::int64_t>(interval_ms * 1e6)),
      window_(window) {}

bool GvtRounds::is_due(Clock::time_point now) const noexcept {
    if (requested_.load(std::memory_order_relaxed)) return true;
    const Clock::duration passed = now - last_done_;
    return passed >= interval_ ||
           (suggested_.load(std::memory_order_relaxed) && passed >= 4 * last_took_);
}

bool GvtRounds::step(Clock::time_point now) {
    if (opened_.load(std::memory_order_relaxed) == done()) {
        if (!is_due(now)) return false;
        requested_.store(false, std::memory_order_relaxed);
        suggested_.store(false, std::memory_order_relaxed);
        opened_at_ = now;
        note_handoff(Handoff::round_opened);
        opened_.store(done() + 1, std::memory_order_release);  // pairs with the acquire in opened()
        return false;
    }
    if (has_gathered()) reducing_since_ = now;
    return ReductionRounds::step(
        [&](const Contribution& sums, GvtResult& result) { update(sums, result, now); });
}

void GvtRounds::update(const Contribution& sums, GvtResult& result, Clock::time_point now) {
    NW_CHECK(sums.older.messages >= 0 && sums.newer.messages >= 0);
    const EventBound gvt = sums.gvt();
    NW_CHECK(!(gvt < result.bound()));
    window_.update(gvt.time, sums);
    result = {.gvt = gvt.time,
              .generation = gvt.generation,
              .quiesced = sums.in_flight() == 0,
              .window = window_.width(),
              .generations = window_.generations(),
              .sums = sums};
    last_took_ = now - reducing_since_;
    last_done_ = now;
}

std::string GvtRounds::overdue(Clock::time_point now, std::chrono::duration<double> patience) {
    const std::uint32_t opened = opened_.load(std::memory_order_relaxed);
    if (opened == done() || overdue_round_ == opened || now - opened_at_ < patience) return {};
    overdue_round_ = opened;
    return fmt::format("GVT round {} is not complete after {} s: {}", opened - first_round,
                       patience.count(), waiting_for("a handler is still running on worker"));
}

}  // namespace nw
