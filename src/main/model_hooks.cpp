#include "main/model_hooks.hpp"

#include <exception>
#include <new>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/check.hpp"
#include "numa/fault_guard.hpp"

namespace nw {

namespace {

// The words of an exception of the model's; what() is its own code, and may return nothing.
std::string words_of(const std::exception& error) {
    const char* const words = error.what();
    return words != nullptr && *words != '\0' ? words : "an exception without words";
}

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
        case ModelHook::setup:
            return "setup()";
        case ModelHook::finished:
            return "finished()";
    }
    return "?";
}

void call_hook(const Model& model, ModelHook hook, const std::function<void()>& body) {
    FaultGuard guard;
    guard.adopt_thread();
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
        what = "out of memory (std::bad_alloc); legal: a smaller model, or more memory";
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
