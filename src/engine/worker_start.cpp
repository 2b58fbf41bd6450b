// SPDX-License-Identifier: Apache-2.0
#include "engine/worker_start.hpp"

#include <string>

#include <fmt/format.h>

#include "engine/handler_call.hpp"
#include "memory/handler/warm_up.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

[[noreturn, gnu::noinline]] void blame(const Model& model, std::string_view what) {
    throw SetupError(fmt::format("model {}: on_worker_start(): {}", model.name(), what));
}

// Not inlined, so that the frame to which a fault jumps has no std::string.
[[gnu::noinline]] void call_hook(Model& model, FaultGuard& guard) {
    std::string failure;
    if (!call_guarded(guard, nullptr, failure, [&] { model.on_worker_start(); }))
        blame(model, failure);
}

}  // namespace

void start_worker(Model& model) {
    warm_up();
    FaultGuard guard;
    guard.adopt_thread();
    if (sigsetjmp(guard.env(), 0) != 0) blame(model, leave_crashed_handler(guard));
    call_hook(model, guard);
}

}  // namespace nw
