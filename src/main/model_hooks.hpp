// The model's own code before and after the run: options(), on_process_start(), setup(),
// finished(). What goes wrong in it
// is said with the model's name and the hook's, also where it is a crash, and is never our internal
// error.
#pragma once

#include <functional>
#include <string_view>

#include <numawarp/model.hpp>

namespace nw {

enum class ModelHook : std::uint8_t { options, on_process_start, setup, finished };

std::string_view name_of(ModelHook hook) noexcept;

// Runs `body`, which calls that hook of the model. Errors of ours (SetupError, ModelError, MachineError,
// InternalError) go through as they are: their words are meant for the user. Anything else that is
// thrown, and a signal (bad pointer, division by zero, abort), becomes
//     SetupError    in those before the run
//     ModelError    in finished(), after it
//     MachineError  where memory is short; in finished() a std::system_error, too
// A hook that takes longer than `seconds_most` (0: any time is right) is left like one that crashed.
// Thread: the main thread, with no worker about. What a hook that was left held stays held.
void call_hook(const Model& model, ModelHook hook, double seconds_most,
               const std::function<void()>& body);

}  // namespace nw
