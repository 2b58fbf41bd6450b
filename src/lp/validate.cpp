// SPDX-License-Identifier: Apache-2.0
#include "lp/validate.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "event/wire_event.hpp"
#include "memory/heap/lp_heap.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

constexpr std::uint32_t newest_entries = 4;

// Checks an event that a handler sent: its sequence is in the handler's range, and it comes after
// the handler's event.
void validate_sent(const LpRecord& lp, const EventRecord& event, const EventHeader& sent,
                   std::uint32_t first_sequence, std::uint32_t sent_count) {
    NW_CHECK(sent.sender == lp.id);
    NW_CHECK(sent.sequence - first_sequence < sent_count);
    NW_CHECK(before(event.key(), sent.key()));
    NW_CHECK(std::isfinite(sent.time));
}

void validate_sends(const LpRecord& lp, const HistoryEntry& entry, std::uint32_t first_sequence,
                    const LpExpectations& expected) {
    const EventRecord& event = *entry.event;
    std::uint32_t left_a_record = 0;
    if (!before(event.key(), expected.final_before)) {
        for (const EventRecord* sent = entry.sent; sent != nullptr; sent = sent->next_sent) {
            NW_CHECK(++left_a_record <= entry.sent_count);
            validate_sent(lp, event, *sent, first_sequence, entry.sent_count);
            NW_CHECK(sent->status == EventStatus::pending ||
                     sent->status == EventStatus::processed);
            NW_CHECK(!sent->canceled_by_identity);
        }
    }
    bool has_words = false;
    for (const SideEffect* effect = entry.side_effects; effect != nullptr; effect = effect->next) {
        switch (effect->kind) {
            case SideEffect::Kind::remote_send: {
                WireEvent anti;
                NW_CHECK(effect->bytes == sizeof anti);
                std::memcpy(&anti, effect->content(), sizeof anti);
                NW_CHECK(anti.kind == WireKind::anti_message);
                NW_CHECK(anti.payload_bytes == 0);
                NW_CHECK(++left_a_record <= entry.sent_count);
                validate_sent(lp, event, anti, first_sequence, entry.sent_count);
                break;
            }
            case SideEffect::Kind::output_row:
            case SideEffect::Kind::figures:
                break;
            case SideEffect::Kind::failure:
                NW_CHECK(!has_words);
                has_words = true;
                break;
            default:
                NW_CHECK(!"a kind that exists");
        }
    }
    NW_CHECK(!has_words || (event.failed && !event.deferred));
    NW_CHECK(!event.deferred || event.failed);
    if (!event.failed) return;
    // The effects of a failed handler are undone, and only the message of its failure is kept.
    NW_CHECK(entry.sent == nullptr);
    NW_CHECK(entry.sent_count == 0);
    NW_CHECK(entry.random_used == 0);
    NW_CHECK(entry.side_effects == nullptr || (has_words && entry.side_effects->next == nullptr));
}

// An event that was canceled and scheduled again has its former key. If both events come by mail,
// the second event may arrive before the anti-message of the first event.
bool are_twins(const EventRecord& a, const EventRecord& b) noexcept {
    return a.key() == b.key() && a.serial != b.serial &&
           (a.canceled_by_identity || b.canceled_by_identity);
}

void validate_event(const LpRecord& lp, const EventRecord& event, bool is_final,
                    const LpExpectations& expected) {
    NW_CHECK(event.target == lp.id);
    NW_CHECK(std::isfinite(event.time));
    NW_CHECK(event.time >= 0);
    NW_CHECK(event.payload_bytes <= expected.payload_bytes_max);
    NW_CHECK(event.status == EventStatus::processed ||
             (event.status == EventStatus::canceled && expected.is_canceling && !is_final));
    NW_CHECK(!is_final || event.time <= expected.gvt);
    NW_CHECK(!is_final || !event.failed);
}

}  // namespace

void validate_record(const LpRecord& lp, const LpExpectations& expected) {
    const History& history = lp.history;
    history.validate();
    NW_CHECK(lp.committed - history.head() <= history.size());
    NW_CHECK(lp.has_uncommitted || lp.committed == history.tail());
    const LogEntry* const logged = expected.log != nullptr && expected.log->contains_events_of(lp)
                                       ? &expected.log->newest_entry_of(lp)
                                       : nullptr;
    if (logged != nullptr) {
        NW_CHECK(!lp.has_uncommitted);
        NW_CHECK(!lp.failed);
        NW_CHECK(lp.last_key == logged->event.key());
    } else if (history.empty()) {
        NW_CHECK(!lp.failed);
        NW_CHECK(lp.last_key.time == -1 ||
                 lp.last_key.time <= std::max(expected.gvt, expected.safe_before));
    } else {
        const HistoryEntry& newest =
            history.at(history.tail() - 1, expected.keeping[lp.kind].entry_stride);
        NW_CHECK(newest.event != nullptr);
        NW_CHECK(lp.last_key == newest.event->key());
        NW_CHECK(lp.failed == newest.event->failed);
    }
    validate_saved_states(lp, expected.keeping[lp.kind], logged);
}

void validate_entries(const LpRecord& lp, History::Ordinal first, const LpExpectations& expected) {
    const History& history = lp.history;
    std::uint64_t random_used = 0;
    std::uint32_t sequence = lp.sequence;  // at the end of the current entry
    const EventRecord* later = nullptr;
    for (History::Ordinal p = history.tail(); p != first;) {
        const HistoryEntry& entry = history.at(--p, expected.keeping[lp.kind].entry_stride);
        NW_CHECK(entry.event != nullptr);
        const EventRecord& event = *entry.event;
        const bool is_final = p - history.head() < lp.committed - history.head();
        validate_event(lp, event, is_final, expected);
        NW_CHECK(!is_final || later == nullptr || before(event.key(), later->key()));
        NW_CHECK(later == nullptr || before(event.key(), later->key()) || are_twins(event, *later));
        NW_CHECK(!event.lets_end || lp.may_have_ended || lp.ended);
        // An LP that has failed executes nothing.
        NW_CHECK(later == nullptr || !event.failed || later->failed);
        random_used += entry.random_used;
        sequence -= entry.sent_count;
        if (is_final)
            NW_CHECK(entry.side_effects == nullptr);
        else
            validate_sends(lp, entry, sequence, expected);
        later = &event;
    }
    NW_CHECK(random_used <= lp.random_counter);
}

void validate_newest(const LpRecord& lp, const LpExpectations& expected) {
    validate_record(lp, expected);
    const History& history = lp.history;
    validate_entries(lp, history.tail() - std::min(history.size(), newest_entries), expected);
}

std::uint64_t validate_whole(const LpRecord& lp, const LpExpectations& expected) {
    validate_record(lp, expected);
    validate_entries(lp, lp.history.head(), expected);
    NW_CHECK(lp.process != nullptr);
    lp.heap.validate();
    return 8 + lp.history.size() + lp.heap.used_bytes() / 1024;
}

}  // namespace nw
