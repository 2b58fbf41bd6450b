# SPDX-License-Identifier: Apache-2.0
"""Faults that a careless change could make, for mutants.py. Each fault is (file, old text, new text). The old text occurs
once in the file. It is one or more statements, which end with a semicolon, or an expression. An empty new text
removes the statement."""

GVT = [
    # A worker's cut does not contain the messages that it has sent, or sets of epochs are mixed.
    ("src/gvt/epoch_counts.hpp", "current_.min = std::min(current_.min, event);", ""),
    ("src/gvt/epoch_counts.hpp", "--current_.messages;", ""),
    ("src/gvt/epoch_counts.hpp", "if (sums.older.messages != 0) return;", ""),
    ("src/gvt/epoch_counts.hpp", "newer_.min = std::min(newer_.min, closed_min_);", ""),
    ("src/gvt/epoch_counts.hpp", "out.m0 = std::min(smallest_pending, current_.min);", "out.m0 = smallest_pending;"),
    ("src/gvt/epoch_counts.hpp", "older_end_ = seen_;", ""),
    # GVT ignores messages in flight, or deferred events.
    ("src/gvt/contribution.hpp", "if (epochs.messages != 0) bound = std::min(bound, epochs.min);", ""),
    ("src/gvt/contribution.hpp", "deferred = std::min(deferred, other.deferred);", ""),
    ("src/gvt/contribution.hpp", "if (before(end_key, other.end_key)) end_key = other.end_key;", ""),
    ("src/gvt/gvt_rounds.cpp", "sums.in_flight() == 0", "true"),
    ("src/gvt/window_control.cpp", "width_ *= growth;", ""),
]

EVENT = [
    # The order of events.
    ("src/api/event_key.hpp", "if (a.generation != b.generation) return a.generation < b.generation;", ""),
    ("src/event/pending_set.hpp", "(late_.empty() || !before(late_.front(), *run_next_))", "true"),
    ("src/event/pending_set.hpp", "x >= late_below_ && x < ring_end_", "x < ring_end_"),
    ("src/event/pending_set.hpp", "std::erase_if(late_, takes);\n        restore_heap();", "std::erase_if(late_, takes);"),
    ("src/event/pending_set.cpp", "far_min_[bin] <= near", "far_min_[bin] < near"),
    ("src/event/pending_set.cpp", "!before(run[i], run[i - 1])", "run[i].time >= run[i - 1].time"),
    ("src/event/pending_set.cpp", "std::pop_heap(late_.begin(), late_.end(), after);", ""),
    # Mail and short events.
    ("src/event/mail_ring.hpp",
     "if (payload != nullptr) std::memcpy(at + sizeof header, payload, header.payload_bytes);", ""),
    ("src/event/mail_ring.hpp", "return written_ + bytes - released_seen_ <= capacity;", "return true;"),
    ("src/event/bottom_half.hpp", "            listed_ = false;", ""),
    ("src/event/short_events.hpp", "word |= serial_in_word;", ""),
    ("src/event/short_events.cpp",
     "if (!PendingEntry::is_bare(sent->body)) free(PendingEntry::short_body(sent->body));", ""),
]

LP = [
    # The log.
    ("src/lp/past_log.hpp", "!before(event, at(newest_).event)", "true"),
    ("src/lp/past_log.hpp", "entry.flags |= LogEntry::gone;", ""),
    ("src/lp/past_log.hpp", "entry.older = newest_of(lp);", "entry.older = 0;"),
    ("src/lp/past_log.cpp", "copy(tail_, slack_min());", ""),
    # Histories and saved states.
    ("src/lp/history.cpp", "p & (capacity - 1)", "(p + 1) & (capacity - 1)"),
    ("src/lp/state_keeping.cpp", "lp.save_due = kept.newest->position + kept.interval;", ""),
    ("src/lp/state_keeping.cpp", "std::memcpy(saved->state(), plain_state(lp), rules.state_bytes);", ""),
    ("src/lp/state_keeping.cpp", "base->older = nullptr;", ""),
    ("src/lp/state_keeping.hpp", "if (rules.keeps_control) std::memcpy(undo, &control, sizeof control);", ""),
    ("src/lp/state_keeping.hpp", "kept->newest == nullptr && kept->interval == 1 && is_small(*kept)",
     "kept->interval == 1 && is_small(*kept)"),
    ("src/lp/rollback_methods.cpp", "!entry->event->failed", "true"),
    ("src/lp/rollback_methods.cpp", "keeper.restore_copy(undoing.lp(), undoing.entry_at(undoing.wanted()));", ""),
    ("src/lp/side_effects.hpp", "beyond -= sent->time < until ? 1 : 0;", ""),
]

WORKER = "src/engine/timewarp/worker/"
ENGINE = [
    # Rollback.
    (WORKER + "executor.cpp", "if (before(entry, lp.last_key)) rollbacks_.roll_back_before(group, lp, entry.key());", ""),
    (WORKER + "executor.cpp", "place.lp->unmatched_anti_messages == 0", "true"),
    (WORKER + "rollbacks.cpp", "++lp.unmatched_anti_messages;", ""),
    (WORKER + "rollbacks.cpp", "lp.failed = last.failed;", ""),
    (WORKER + "rollbacks.cpp", "ending_.take_back_beyond_end(sends_beyond_end(entry, core_.plan.until));", ""),
    (WORKER + "rollbacks.cpp", "lp().sequence -= entry.sent_count;", ""),
    (WORKER + "committer.cpp", "lp.digest = entry.digest;", ""),
    (WORKER + "committer.cpp", "add_anti_message(kept, entry.first_send()[i], group.heap);", ""),
    (WORKER + "logged_execution.cpp", "lp->sequence = sequence_;", ""),
    (WORKER + "handovers.cpp", "sent.canceled_by_identity = true;", ""),
    # Output, and the end of a run.
    (WORKER + "committer.cpp", "std::reverse(rows_.begin() + first, rows_.end());", ""),
    (WORKER + "sends.cpp", "ending_.take_back_beyond_end(beyond_end);", ""),
    (WORKER + "safe_horizon.cpp", "if (groups_move) rounds_held_ = 3;", ""),
    (WORKER + "worker.cpp", "if (core_.rank.rebinding().wants_backlogs(rounds.opened())) handovers_->note_backlogs();", ""),
    # Workers that share a CPU.
    ("src/engine/timewarp/rank/rebind_plans.cpp", "loads_[worker] / speeds_[worker]", "loads_[worker]"),
    ("src/engine/carriers.cpp", "loans_[w].is_recalled.store(true);", ""),
    ("src/engine/sleepers.hpp", "wake_thread(carriers_.thread_of(w));", "wake_thread(w);"),
]

MEMORY = [
    ("src/memory/heap/lp_heap.cpp", "bin.used = std::max(bin.used, j + 1);", ""),
    ("src/memory/heap/lp_heap.cpp", "std::memcpy(moved, address, std::min(old_bytes, bytes));",
     "std::memcpy(moved, address, std::min(old_bytes, bytes) / 2);"),
    ("src/memory/heap/lp_heap_snapshot.cpp", "bin.current = nullptr;", ""),
    ("src/memory/heap/lp_heap_snapshot.cpp", "made->used_units = static_cast<std::uint32_t>(snapshot.used_units);", ""),
    ("src/memory/handler/handler_probe.cpp", "handler_call.number.store(calls_, std::memory_order_relaxed);", ""),
    ("src/memory/heap/platform_heap.cpp", "live_bytes_ -= chunk_bytes(bytes);", ""),
]

FAULTS = GVT + EVENT + LP + ENGINE + MEMORY
