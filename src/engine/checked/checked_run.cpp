// SPDX-License-Identifier: Apache-2.0
#include "engine/checked/checked_run.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "api/lp_kinds.hpp"
#include "event/event_record.hpp"
#include "lp/group.hpp"
#include "lp/state_difference.hpp"
#include "memory/handler/outside_sources.hpp"
#include "memory/heap/lp_heap.hpp"
#include "memory/image/thread_results.hpp"
#include "util/locks.hpp"

namespace nw {
namespace {

// If the program's variables have less than this many bytes, every call is checked for changes of
// the variables. With more bytes, fewer calls are checked. A check, which copies and compares the
// variables, takes some tens of microseconds for this size.
constexpr std::size_t bytes_a_call = 256 * 1024;
constexpr std::size_t breaches_most = 20;

// The size of the stack area in which the frames of a handler will be.
constexpr std::size_t stack_bytes_filled = 16 * 1024;

[[gnu::noinline]] void fill_stack(int byte) noexcept {
    volatile unsigned char below[stack_bytes_filled];
    for (volatile unsigned char& one : below) one = static_cast<unsigned char>(byte);
}

template <class T>
void append(std::vector<std::byte>& log, const T* from, std::size_t count) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(from);
    log.insert(log.end(), bytes, bytes + count * sizeof(T));
}

}  // namespace

void CheckedRun::note_committed(const EventRecord& event) {
    const LoggedEvent logged{event.key(), event.target, event.type, event.payload_bytes};
    const LockGuard lock(mutex_);
    append(log_, &logged, 1);
    append(log_, event.payload(), event.payload_bytes);
}

void CheckedRun::before_building() {
    if (!wanted_.watches) return;
    variables_.emplace();
    if (!wanted_.main_variables.empty())
        variables_->add("", wanted_.main_variables.data(), wanted_.main_variables.size());
    stride_ = 1 + variables_->bytes() / bytes_a_call;
    variables_->remember();
}

void CheckedRun::after_building() {
    if (variables_) find_changed_variables("a constructor of an LP ");
}

void CheckedRun::before_call(const RunningCall& call, const LpKinds& kinds) {
    ++calls_;
    if (variables_ && looks_now()) variables_->remember();
    if (wanted_.watches) find_foreign_writes(call, kinds);
    if (wanted_.fill >= 0) fill_stack(wanted_.fill);
}

void CheckedRun::after_call(const RunningCall& call, Group& group, const LpKinds& kinds) {
    if (!wanted_.watches) return;
    if (looks_now()) find_changed_variables(describe_call(call, kinds) + "the handler ");
    find_kept_results(call, kinds);
    images_.resize(std::max<std::size_t>(images_.size(), call.lp->id + std::size_t{1}));
    Image& image = images_[call.lp->id];
    Snapshot* const before = std::exchange(image.snapshot, nullptr);
    image = {call.lp->heap.take(group.heap, before), &group};
    if (before != nullptr) LpHeap::drop(before, group.heap);
}

void CheckedRun::find_changed_variables(const std::string& call) {
    for (const ChangedVariable& changed : variables_->take_changed()) {
        if (breaches_.size() == breaches_most) return;
        if (!changed.name.empty()) {
            breaches_.push_back(
                {"State outside of the LP",
                 fmt::format("{}changes `{}`, a {}variable of {} bytes that does not belong to the "
                             "LP, from offset {}",
                             call, changed.name, changed.is_thread_local ? "thread_local " : "",
                             changed.bytes, changed.offset)});
            continue;
        }
        const auto* const where = wanted_.main_variables.data() + changed.offset;
        const auto* const model = static_cast<const std::byte*>(wanted_.model);
        breaches_.push_back({"State outside of the LP",
                             where < model ? fmt::format("{}changes a variable of main()", call)
                                           : fmt::format("{}changes the model object, from offset "
                                                         "{} (or a variable of main() after it)",
                                                         call, where - model)});
    }
}

// The LP's heap equals the snapshot that was taken after the LP's last handler, unless other code
// has written into the heap.
void CheckedRun::find_foreign_writes(const RunningCall& call, const LpKinds& kinds) {
    if (call.lp->id >= images_.size() || has_foreign_write_) return;
    const Image& image = images_[call.lp->id];
    if (image.snapshot == nullptr || call.lp->heap.equals(*image.snapshot)) return;
    const std::string where = describe_difference(call.lp->heap, *image.snapshot, call.lp->process,
                                                  kinds.object_bytes(call.lp->kind), {})
                                  .value_or("");
    has_foreign_write_ = true;
    breaches_.push_back(
        {"Memory of another LP",
         fmt::format("{}the LP was changed after its own last handler, by a handler of another LP, "
                     "on_commit() or a thread: {}",
                     describe_call(call, kinds), where)});
}

// Finds pointers in the LP that point to thread_local variables or to a worker's memory for results
// of libc. The next handler of any LP on the worker may overwrite these data.
void CheckedRun::find_kept_results(const RunningCall& call, const LpKinds& kinds) {
    if (has_kept_result_) return;
    const std::vector<AddressRange> ranges = thread_result_ranges();
    call.lp->heap.for_each_chunk([&](const std::byte* chunk, std::size_t bytes) {
        for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes; at += sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            std::memcpy(&word, chunk + at, sizeof word);
            const bool is_kept = std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
                return word >= range.begin && word < range.end;
            });
            if (!is_kept || std::exchange(has_kept_result_, true)) continue;
            const bool is_object = chunk == reinterpret_cast<const std::byte*>(call.lp->process);
            breaches_.push_back(
                {"Pointers to results of libc",
                 fmt::format("{}the LP keeps a pointer, at byte {} of {}, to a result of a libc "
                             "function or to a thread_local variable: other LPs on the worker "
                             "overwrite this memory, and each worker uses different memory",
                             describe_call(call, kinds), at,
                             is_object ? fmt::format("the LP's object ({} bytes)",
                                                     kinds.object_bytes(call.lp->kind))
                                       : fmt::format("an allocation of {} bytes", bytes))});
        }
    });
}

bool CheckedRun::is_enough(std::uint64_t executed_events) const noexcept {
    if (wanted_.events_most > 0 && executed_events >= wanted_.events_most) return true;
    if (wanted_.seconds_most <= 0) return false;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    return passed.count() >= wanted_.seconds_most;
}

void CheckedRun::end() {
    for (Image& image : images_)
        if (image.snapshot != nullptr)
            LpHeap::drop(std::exchange(image.snapshot, nullptr), image.group->heap);
}

std::string CheckedRun::why_not_watched() const {
    if (!variables_ || variables_->has_symbols()) return {};
    return "the program has no symbol table (it was stripped), so the check cannot detect whether "
           "handlers change its variables";
}

}  // namespace nw
