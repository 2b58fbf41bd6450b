// SPDX-License-Identifier: Apache-2.0
#include "engine/watched_thread.hpp"

namespace nw {

bool WatchedThread::report(std::uint64_t call, RunningHandler& handler) const noexcept {
    if (reported_call_.load(std::memory_order_acquire) != call) return false;
    handler = handler_;
    return true;
}

bool WatchedThread::answer(ProbeRequest request, FaultGuard& guard) noexcept {
    const RunningHandler handler = running_handler();
    if (request == ProbeRequest::report) {
        handler_ = handler;
        // Pairs with the acquire in report(). After the watch has read the report, it requests no
        // other report during this call.
        reported_call_.store(handler_call.number.load(std::memory_order_relaxed),
                             std::memory_order_release);
        return false;
    }
    if (request == ProbeRequest::interrupt) {
        if (handler.irrevocable) return false;
        guard.note_interruption();
        return true;
    }
    if (!handler.irrevocable) return false;
    guard.note("it has not returned within --handler-timeout");
    return true;
}

}  // namespace nw
