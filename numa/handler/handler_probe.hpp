// How one thread looks at the handler that another thread is running, and asks it to leave.
//
// The asking thread sends a signal (probe_signal: SIGURG, which does nothing by default). In its signal
// handler the probed thread answers for itself: it alone knows what it is running and whether it may be
// torn out of it. So nothing on the way of an event has to be published.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "numa/handler/fault_guard.hpp"

namespace nw {

enum class ProbeWish : std::uint8_t {
    report,     // say what is running
    interrupt,  // leave it, to run it again later
    end,        // leave it for good
};

class HandlerProbe {
  public:
    HandlerProbe() = default;
    HandlerProbe(const HandlerProbe&) = delete;
    HandlerProbe& operator=(const HandlerProbe&) = delete;

    // Thread: the probed one, before its first handler and after its last. A probe may be given to
    // another thread when the first has left it.
    void adopt_thread();
    void leave_thread() noexcept;

    // Thread: any. Which of the thread's handler calls is running; 0: none.
    std::uint64_t running_call() noexcept;
    // Seconds of CPU time that the thread has used; 0 when there is none.
    double cpu_seconds() noexcept;
    // Asks, should the thread still be running that call when the signal reaches it. Unless `by_force`
    // it leaves the call only where neither the C library nor the engine are at work for it.
    void ask(ProbeWish wish, std::uint64_t call, bool by_force = false) noexcept;

  protected:
    ~HandlerProbe() = default;

  private:
    // Thread: the probed one, amid a handler, in a signal handler: async-signal-safe. Returns whether
    // the handler may be left as is wished; then `why` is in the guard's description, and the guard
    // says was_interrupted() if that was the wish.
    virtual bool answer(ProbeWish wish, FaultGuard& guard) noexcept = 0;
    // Thread: as above. Whether the engine or an allocator is at work on the handler's behalf, and must not
    // be torn: a handler runs in its LP's heap, and they outside.
    virtual bool is_in_platform_mode() const noexcept;
    static void on_signal(int signal, siginfo_t* info, void* context);

    std::mutex mutex_;  // who looks at the thread holds it; so the thread cannot end meanwhile
    pthread_t thread_{};
    const HandlerCall* running_ = nullptr;  // the thread's; null: no thread
    std::atomic<ProbeWish> wish_{ProbeWish::report};
    std::atomic<std::uint64_t> call_{0};
    std::atomic<bool> by_force_{false};
};

}  // namespace nw
