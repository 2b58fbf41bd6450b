// SPDX-License-Identifier: Apache-2.0
// Calls the model's code that runs before and after the simulation: options(), on_process_start(),
// setup(), finished(). An error in this code, also a crash, is reported with the names of the model
// and of the hook, and never as an internal error of numawarp.
#pragma once

#include <functional>
#include <string_view>

#include <numawarp/model.hpp>

namespace nw {

enum class ModelHook : std::uint8_t { options, on_process_start, setup, finished };

std::string_view name_of(ModelHook hook) noexcept;

// Runs `body`, which calls that hook of the model. Errors of numawarp (SetupError, ModelError,
// MachineError, InternalError) pass through unchanged, because their messages are written for the
// user. Any other exception, and a signal (bad pointer, division by zero, abort), is replaced by
//     SetupError    in a hook before the run
//     ModelError    in finished(), after the run
//     MachineError  if memory is short; in finished() also for a std::system_error
// A hook that takes longer than `seconds_most` (0: no limit) is left as if it had crashed. Locks
// and memory that it held are not released.
// Thread: the main thread, while no worker exists.
void call_hook(const Model& model, ModelHook hook, double seconds_most,
               const std::function<void()>& body);

}  // namespace nw
