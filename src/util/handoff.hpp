// SPDX-License-Identifier: Apache-2.0
// Points at which one thread publishes data for another thread. In a build with tests
// (NUMAWARP_TESTS), each point calls a hook, which may delay the thread. In this way, tests reach
// orders of steps that are very rare on a fast machine. In other builds these calls compile to
// nothing.
//
// A delayed thread holds no lock except the net role.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nw {

enum class Handoff : std::uint8_t {
    mail_pushed,     // the sender has chosen the receiving worker; the mail is not published yet
    mail_taken,      // the receiver has detected mail, and has not read it yet
    batch_posted,    // a batch for another rank is complete; the net role cannot take it yet
    batch_received,  // the rank has counted a batch, and has not delivered its events yet
    group_given,     // a worker has released groups; the new worker cannot take them yet
    group_taken,     // a worker owns new groups, and has not added their pending events yet
    plan_made,       // the moves of groups are decided; the round with the plan is not reduced yet
    round_opened,    // a round is due; no worker can cut it yet
    cut_made,        // a worker has filled its contribution to a round, and has not arrived yet
    result_made,     // a round is reduced; no worker can read the result yet
    result_read,     // a worker has read the result, and has not acted on it yet
    output_given,    // rows are complete up to a bound; the writer has neither rows nor bound yet
};
inline constexpr std::size_t handoffs = static_cast<std::size_t>(Handoff::output_given) + 1;
inline constexpr std::array<const char*, handoffs> handoff_names = {
    "mail_pushed", "mail_taken",   "batch_posted", "batch_received", "group_given", "group_taken",
    "plan_made",   "round_opened", "cut_made",     "result_made",    "result_read", "output_given"};

#if defined(NUMAWARP_HANDOFF_HOOK)
inline std::atomic<void (*)(Handoff)> handoff_hook{nullptr};

// Thread: any, outside of handlers.
inline void note_handoff(Handoff place) {
    if (auto* const hook = handoff_hook.load(std::memory_order_relaxed)) [[unlikely]]
        hook(place);
}
#else
inline void note_handoff(Handoff) noexcept {}
#endif

}  // namespace nw
