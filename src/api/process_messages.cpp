// SPDX-License-Identifier: Apache-2.0
// The engine's part of the process library. It posts the two faults that the library detects: a
// process that was never started, and an object (such as a delay or a request) that was never
// awaited. It also describes the process that has failed.
#include "api/process_messages.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <typeinfo>
#include <utility>

#include <fmt/format.h>

#include <numawarp/errors.hpp>
#include <numawarp/process/coroutine.hpp>

#include "memory/handler/fault_guard.hpp"
#include "memory/handler/heap_fault.hpp"
#include "memory/handler/heap_scope.hpp"

namespace nw {

namespace {

std::string name_of_file(const SourceLocation& where) {
    return std::filesystem::path(where.file_name()).filename().string();
}

}  // namespace

namespace detail {

namespace {

constinit thread_local ProcessPlace place_of_running;

// The place of a posted fault. The engine reads the fault at the end of the handler, when the
// process waits again and running_place() has been reset.
constinit thread_local ProcessPlace fault_place;

void post_fault(HeapFault fault) noexcept {
    if (!in_handler()) return;
    fault_place = place_of_running;
    post_heap_fault(fault);
}

}  // namespace

ProcessPlace& running_place() noexcept { return place_of_running; }
void note_never_started() noexcept { post_fault(HeapFault::never_started); }
void note_never_awaited() noexcept { post_fault(HeapFault::never_awaited); }

void refuse_wait(const SourceLocation& where, VirtualTime now, const char* what, double time,
                 const char* allowed) {
    throw ModelError(fmt::format("{}:{}: a process at time {} waits{}{}; allowed: {}",
                                 name_of_file(where), where.line(), now, what, time, allowed));
}

}  // namespace detail

namespace {

std::string name_of_type(const std::type_info& type) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
    return name != nullptr ? name.get() : type.name();
}

}  // namespace

void note_exception(FaultGuard& guard, const std::exception& error) {
    const char* what = error.what();
    if (what == nullptr || *what == '\0') what = "an exception without a message";
    const std::type_info& type = typeid(error);
    if (detail::running_place().process.line() == 0 || type == typeid(ModelError)) {
        guard.note(what);
        return;
    }
    const PlatformScope platform;
    guard.note((name_of_type(type) + ": " + what).c_str());
}

std::string take_failed_process() {
    const detail::ProcessPlace running = std::exchange(detail::running_place(), {});
    const detail::ProcessPlace faulty = std::exchange(detail::fault_place, {});
    const detail::ProcessPlace& place = running.process.line() != 0 ? running : faulty;
    if (place.process.line() == 0) return {};
    std::string_view name = place.process.function_name();
    constexpr std::string_view returned = "nw::Process ";
    if (name.starts_with(returned)) name.remove_prefix(returned.size());
    if (place.awaited_line == 0) return fmt::format("process {}: ", name);
    return fmt::format("process {}, after co_await of {} at {}:{}: ", name, *place.awaited,
                       name_of_file(place.process), place.awaited_line);
}

}  // namespace nw
