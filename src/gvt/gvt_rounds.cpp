// SPDX-License-Identifier: Apache-2.0
#include "gvt/gvt_rounds.hpp"

#include <fmt/format.h>

#include "util/check.hpp"
#include "util/handoff.hpp"

namespace nw {

GvtRounds::GvtRounds(Transport& transport, std::uint32_t workers, double interval_ms,
                     WindowControl window, bool arrivals)
    : transport_(transport),
      workers_(workers),
      reduction_(transport, arrivals),
      interval_(static_cast<std::int64_t>(interval_ms * 1e6)),
      window_(window),
      slots_(workers) {
    for (Slot& slot : slots_) static_cast<Part&>(slot) = reduction_.new_part();
    result_.window = window_.width();
    result_.generations = window_.generations();
}

bool GvtRounds::is_due(Clock::time_point now) const noexcept {
    if (wanted_.load(std::memory_order_relaxed)) return true;
    const Clock::duration passed = now - last_done_;
    return passed >= interval_ ||
           (suggested_.load(std::memory_order_relaxed) && passed >= 4 * last_took_);
}

void GvtRounds::step(Clock::time_point now) {
    const std::uint32_t done = done_.load(std::memory_order_relaxed);
    if (opened_.load(std::memory_order_relaxed) == done) {
        if (!is_due(now)) return;
        wanted_.store(false, std::memory_order_relaxed);
        suggested_.store(false, std::memory_order_relaxed);
        opened_at_ = now;
        note_handoff(Handoff::round_opened);
        opened_.store(done + 1, std::memory_order_release);  // pairs with the acquire in opened()
        return;
    }
    if (!reduction_.is_under_way()) {
        if (!gathered()) return;
        arrived_.store(0, std::memory_order_relaxed);
        reduction_.begin(slots_);
        reducing_since_ = now;
    }
    if (!reduction_.poll(done)) return;  // `done` is the epoch that was cut
    last_took_ = now - reducing_since_;
    publish(reduction_.result(), now);
}

void GvtRounds::publish(const Contribution& sums, Clock::time_point now) {
    NW_CHECK(sums.older.messages >= 0 && sums.newer.messages >= 0);
    const EventBound gvt = sums.gvt();
    NW_CHECK(!(gvt < EventBound(result_.gvt, result_.generation)));
    result_.gvt = gvt.time;
    result_.generation = gvt.generation;
    result_.quiesced = sums.in_flight() == 0;
    result_.sums = sums;
    window_.update(gvt.time, sums);
    result_.window = window_.width();
    result_.generations = window_.generations();
    last_done_ = now;
    note_handoff(Handoff::result_made);
    done_.fetch_add(1);  // pairs with the acquire in done()
}

std::string GvtRounds::overdue(Clock::time_point now, std::chrono::duration<double> patience) {
    const std::uint32_t opened = opened_.load(std::memory_order_relaxed);
    const bool under_way = opened != done_.load(std::memory_order_relaxed);
    if (!under_way || overdue_round_ == opened || now - opened_at_ < patience) return {};
    overdue_round_ = opened;
    std::string text = fmt::format("GVT round {} is not complete after {} s", opened - first_round,
                                   patience.count());
    if (reduction_.is_receiving())
        return text + fmt::format(": {} of {} batches from other ranks have arrived",
                                  reduction_.received(done_.load(std::memory_order_relaxed)),
                                  reduction_.expected());
    if (reduction_.is_under_way())
        return text + fmt::format(
                          ": other ranks have not contributed; {} messages were in flight at the "
                          "last round, and {} batches of this rank have not been received",
                          result_.sums.in_flight(), transport_.sends_under_way());
    const char* separator = ": a handler is still running on worker ";
    for (std::uint32_t w = 0; w < workers_; ++w) {
        if (slots_[w].arrivals.load(std::memory_order_relaxed) == opened) continue;
        text += fmt::format("{}{}", separator, w);
        separator = ", ";
    }
    return text;
}

}  // namespace nw
