// SPDX-License-Identifier: Apache-2.0
#include "app/model_hooks.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "engine/worker_threads.hpp"
#include "memory/handler/fault_guard.hpp"
#include "memory/handler/handler_probe.hpp"
#include "numa/os/signals.hpp"
#include "util/check.hpp"
#include "util/locks.hpp"

namespace nw {

namespace {

// The message of an exception of the model. what() may be the model's own code, and may return null
// or an empty string.
std::string words_of(const std::exception& error) {
    const char* const words = error.what();
    return words != nullptr && *words != '\0' ? words : "an exception without a message";
}

// Limits the duration of a hook. During the lifetime of the object, a second thread watches the
// thread that created the object.
class HookTimeout final : public HandlerProbe {
  public:
    explicit HookTimeout(double seconds) : seconds_(seconds) {
        adopt_thread();
        const SignalsBlocked blocked;  // the main thread receives the signals of the process
        thread_ = start_thread<std::thread>("that limits the time of a hook", [this] { run(); });
    }
    ~HookTimeout() {
        {
            const LockGuard lock(mutex_);
            over_ = true;
        }
        over_changed_.notify_one();
        thread_.join();
        leave_thread();
    }

  private:
    void run() {
        LockGuard lock(mutex_);
        std::chrono::duration<double> time(seconds_);
        // Repeats the request to end the hook every 20 ms. The request has no effect while the hook
        // executes a library that must not be left. After 50 requests the hook is left by force.
        constexpr std::uint32_t tries_max = 50;
        for (std::uint32_t i = 0;
             !over_changed_.wait_for(lock, time, [this]() NW_REQUIRES(mutex_) { return over_; });
             ++i) {
            if (const std::uint64_t call = running_call(); call != 0)
                request(ProbeRequest::end, call, i >= tries_max);
            time = std::chrono::milliseconds(20);
        }
    }
    // A hook has no LP, and its only heap is libc's.
    bool is_in_platform_mode() const noexcept override { return false; }
    bool answer(ProbeRequest request, FaultGuard& guard) noexcept override {
        if (request != ProbeRequest::end) return false;
        guard.note("it has not returned within --handler-timeout");
        return true;
    }

    const double seconds_;
    Mutex mutex_;
    std::condition_variable_any over_changed_;
    bool over_ NW_GUARDED_BY(mutex_) = false;
    std::thread thread_;
};

[[noreturn]] void blame(const Model& model, ModelHook hook, const std::string& what) {
    const std::string line = fmt::format("model {}: {}: {}", model.name(), name_of(hook), what);
    if (hook == ModelHook::finished) throw ModelError(line);
    throw SetupError(line);
}

}  // namespace

std::string_view name_of(ModelHook hook) noexcept {
    switch (hook) {
        case ModelHook::options:
            return "options()";
        case ModelHook::on_process_start:
            return "on_process_start()";
        case ModelHook::setup:
            return "setup()";
        case ModelHook::finished:
            return "finished()";
    }
    return "?";
}

void call_hook(const Model& model, ModelHook hook, double seconds_most,
               const std::function<void()>& body) {
    FaultGuard guard;
    guard.adopt_thread();
    const std::unique_ptr<HookTimeout> timeout =
        seconds_most > 0 ? std::make_unique<HookTimeout>(seconds_most) : nullptr;
    if (sigsetjmp(guard.env(), 0) != 0) {
        guard.recover();
        blame(model, hook, guard.description());
    }
    std::string what;
    bool is_machine = false;
    try {
        guard.arm();
        body();
        guard.disarm();
        return;
    } catch (const SetupError&) {
        guard.disarm();
        throw;
    } catch (const ModelError&) {
        guard.disarm();
        throw;
    } catch (const MachineError&) {
        guard.disarm();
        throw;
    } catch (const InternalError&) {
        guard.disarm();
        throw;
    } catch (const std::bad_alloc&) {
        is_machine = true;
        what = "out of memory (std::bad_alloc); allowed: a smaller model, or more memory";
    } catch (const std::system_error& error) {
        is_machine = hook == ModelHook::finished;
        what = words_of(error);
    } catch (const std::exception& error) {
        what = words_of(error);
    } catch (...) {
        what = "an exception that is not a std::exception";
    }
    guard.disarm();
    if (is_machine)
        throw MachineError(fmt::format("model {}: {}: {}", model.name(), name_of(hook), what));
    blame(model, hook, what);
}

}  // namespace nw
