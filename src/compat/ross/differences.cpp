// SPDX-License-Identifier: Apache-2.0
// tw_snapshot(), tw_snapshot_delta() and tw_snapshot_restore(). The linker includes this file only
// if the model calls one of them.
#include "differences.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "app/embedding.hpp"
#include "messages.hpp"
#include "program_state.hpp"

namespace nw::ross {
namespace {

[[maybe_unused]] const bool is_linked = (uses_differences = true);

constexpr std::size_t word = sizeof(std::uint64_t);

// Calls `visit(offset, bytes)` for each run of words that differ from the copy.
template <class Visit>
void for_each_run(const std::byte* now, const std::byte* copy, std::size_t bytes, Visit&& visit) {
    const auto differs = [&](std::size_t at) {
        if (bytes - at < word) return std::memcmp(now + at, copy + at, bytes - at) != 0;
        return std::memcmp(now + at, copy + at, word) != 0;
    };
    for (std::size_t at = 0; at < bytes; at += word) {
        if (!differs(at)) continue;
        const std::size_t first = at;
        while (at < bytes && differs(at)) at += word;
        visit(first, std::min(at, bytes) - first);
    }
}

std::vector<std::byte> runs_of(const std::byte* state, const std::vector<std::byte>& copy,
                               std::size_t bytes) {
    std::vector<std::byte> runs(bytes);
    std::byte* to = runs.data();
    for_each_run(state, copy.data(), copy.size(), [&](std::size_t offset, std::size_t changed) {
        const Difference::Run run{offset, changed};
        std::memcpy(to, &run, sizeof run);
        std::memcpy(to + sizeof run, copy.data() + offset, changed);
        to += sizeof run + changed;
    });
    return runs;
}

void restore(std::byte* state, const std::vector<std::byte>& runs) {
    for (const std::byte* from = runs.data(); from != runs.data() + runs.size();) {
        Difference::Run run;
        std::memcpy(&run, from, sizeof run);
        std::memcpy(state + run.offset, from + sizeof run, run.bytes);
        from += sizeof run + run.bytes;
    }
}

void demand(bool holds, std::string_view function, std::string_view allowed) {
    if (!holds) refuse(fmt::format("{}(): allowed: {}", function, allowed));
}

void demand_size(std::string_view function, std::size_t bytes, std::size_t copied) {
    if (bytes != copied)
        refuse(fmt::format("{}(lp, {}): allowed: the size that tw_snapshot() received, {}",
                           function, bytes, copied));
}

// The state of the LP. Refuses an LP whose handler is not running. Requires: an event handler or a
// reverse handler is running.
std::byte* state_of(std::string_view function, const tw_lp* lp) {
    demand(lp != nullptr && lp->gid == index(this_call().known_context().self()), function,
           "for the LP whose handler is running");
    return static_cast<std::byte*>(lp->cur_state);
}

}  // namespace
}  // namespace nw::ross

using nw::ross::Stage;
using nw::ross::this_call;

void tw_snapshot(tw_lp* lp, std::size_t state_sz) {
    nw::ross::Call& call = this_call();
    nw::ross::demand(call.stage == Stage::event || call.stage == Stage::event_copied ||
                         call.stage == Stage::event_differs,
                     "tw_snapshot", "in an event handler");
    const std::byte* const state = nw::ross::state_of("tw_snapshot", lp);
    if (state_sz > lp->type->state_sz)
        nw::ross::refuse(
            fmt::format("tw_snapshot(lp, {}): allowed: at most the size of the LP's state, {}",
                        state_sz, lp->type->state_sz));
    const nw::embedding::LibcMemory libc;
    call.copy.assign(state, state + state_sz);
    call.stage = Stage::event_copied;
}

long tw_snapshot_delta(tw_lp* lp, std::size_t state_sz) {
    nw::ross::Call& call = this_call();
    nw::ross::demand(call.stage == Stage::event_copied, "tw_snapshot_delta",
                     "in an event handler, once after tw_snapshot()");
    const std::byte* const state = nw::ross::state_of("tw_snapshot_delta", lp);
    nw::ross::demand_size("tw_snapshot_delta", state_sz, call.copy.size());
    std::size_t bytes = 0;
    nw::ross::for_each_run(state, call.copy.data(), state_sz,
                           [&](std::size_t, std::size_t changed) {
                               bytes += sizeof(nw::ross::Difference::Run) + changed;
                           });
    if (!nw::ross::differences.empty()) {
        const nw::embedding::LibcMemory libc;
        call.made = {state_sz, nw::ross::runs_of(state, call.copy, bytes)};
    }
    call.stage = Stage::event_differs;
    return static_cast<long>(bytes);
}

void tw_snapshot_restore(tw_lp* lp, std::size_t state_sz) {
    const nw::ross::Call& call = this_call();
    nw::ross::demand(call.stage == Stage::reverse, "tw_snapshot_restore", "in a reverse handler");
    std::byte* const state = nw::ross::state_of("tw_snapshot_restore", lp);
    nw::ross::demand(call.found != nullptr, "tw_snapshot_restore",
                     "for an event whose handler called tw_snapshot_delta()");
    nw::ross::demand_size("tw_snapshot_restore", state_sz, call.found->state_bytes);
    nw::ross::restore(state, call.found->runs);
}
