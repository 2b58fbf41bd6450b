// SPDX-License-Identifier: Apache-2.0
// With a probe, one thread can examine the handler that another thread is running, and can request
// that the other thread leaves the handler.
//
// The requesting thread sends a signal (probe_signal: SIGURG, which is ignored by default). The
// probed thread answers in its signal handler, because only this thread can describe its call and
// determine whether the call may be left. While a worker executes events, it publishes only the
// number of its call. Any thread can read this number.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "memory/handler/fault_guard.hpp"
#include "util/locks.hpp"

namespace nw {

enum class ProbeRequest : std::uint8_t {
    report,     // report the running handler
    interrupt,  // leave the handler; it runs again later
    end,        // leave the handler; it does not run again
};

class HandlerProbe {
  public:
    HandlerProbe() = default;
    HandlerProbe(const HandlerProbe&) = delete;
    HandlerProbe& operator=(const HandlerProbe&) = delete;

    // Thread: the probed thread, before its first handler and after its last handler. A probe may
    // be given to another thread after leave_thread().
    void adopt_thread();
    void leave_thread() noexcept;
    // Like adopt_thread(), for a thread that has called adopt_thread() of some probe before.
    void join_thread() noexcept;
    // Several probes may have adopted one thread. The probe whose make_current() was called last
    // answers requests, and counts the thread's calls. Thread: the probed thread, while no handler
    // runs.
    void make_current() noexcept;

    // The number of the current handler call, among the calls of this probe; 0: none. Thread: any.
    std::uint64_t running_call() noexcept;
    // CPU time of the thread in seconds; 0 if there is no thread. Thread: any.
    double cpu_seconds() noexcept;
    // Sends the request. The request has an effect only if the thread still runs this call when the
    // signal arrives. Without `by_force`, the thread leaves the call only if it executes neither
    // the C library nor the engine. With `by_force`, `interrupt` still has no effect while the
    // thread executes the engine. Thread: any.
    void request(ProbeRequest request, std::uint64_t call, bool by_force = false) noexcept;

  protected:
    ~HandlerProbe();

  private:
    // Answers a request. Returns true if the handler must be left now. For the request `interrupt`,
    // the implementation calls guard.note_interruption() before it returns true. For `end`, it
    // calls guard.note() with the reason. For `report`, it stores the report and returns false.
    // Thread: the probed thread, in a signal handler that interrupts a handler; async-signal-safe.
    virtual bool answer(ProbeRequest request, FaultGuard& guard) noexcept = 0;
    // True while the handler executes the engine or an allocator, or while a function of the LP
    // runs outside of the LP's heap. Such a call must not be interrupted. While a handler runs, the
    // heap of its LP is current. While the engine or an allocator runs, no heap is current.
    // Thread: as for answer().
    virtual bool is_in_platform_mode() const noexcept;
    static void on_signal(int signal, siginfo_t* info, void* context);
    void end_being_current() noexcept;

    Mutex mutex_;  // held while another thread uses thread_, so that thread_ cannot end
    pthread_t thread_ NW_GUARDED_BY(mutex_){};
    const HandlerCall* running_ NW_GUARDED_BY(mutex_) = nullptr;  // of thread_; null: no thread
    std::atomic<ProbeRequest> request_{ProbeRequest::report};
    std::atomic<std::uint64_t> call_{0};
    std::atomic<bool> by_force_{false};
    std::atomic<bool> is_current_{false};
    std::uint64_t calls_ = 0;  // calls so far; valid while the probe is not current
};

}  // namespace nw
