// Places where one thread publishes data for another. A build with tests (NUMAWARP_TESTS) calls a hook there, which
// may delay the thread, so that tests meet orders of steps that a fast machine hardly ever produces. Other builds
// compile nothing there.
//
// A thread that is delayed holds no lock but the net role.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nw {

enum class Handoff : std::uint8_t {
    mail_pushed,  // the sender has read the owner of the group; the bottom half does not have the mail yet
    mail_taken,  // the owner has emptied its ready list; the bottom halves on it still have their mail
    batch_posted,    // a batch for another rank is complete; the net role cannot take it yet
    batch_received,  // the rank has counted a batch; no bottom half has its mail yet
    group_given,     // a worker has let go of groups; the new worker cannot take them yet
    group_taken,     // a worker owns new groups and has not learnt what is pending there
    plan_made,  // which groups change workers is decided; the round that carries the plan is not reduced
    round_opened,  // a round is due; no worker can cut it yet
    cut_made,      // a worker has filled its contribution to a round, and has not arrived
    result_made,   // a round is reduced; no worker can read the result yet
    result_read,   // a worker has read the result, and has not changed anything by it
    output_given,  // rows are complete up to a bound; the writer has neither rows nor bound
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
