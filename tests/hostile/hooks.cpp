// SPDX-License-Identifier: Apache-2.0
// Faults in hooks other than on_event. Except for can_end, they happen in order only.
#include <cstdlib>
#include <stdexcept>

#include "kind.hpp"

namespace hostile {
namespace {

void throw_error(Scene&) { throw std::runtime_error("the hook's own words"); }
void throw_number(Scene&) { throw 5; }
void follow_null(Scene&) { crash(); }
void divide(Scene&) {
    volatile int zero = 0;
    zero = 7 / zero;
}
void call_abort(Scene&) { std::abort(); }
void call_exit(Scene&) { std::exit(7); }
void loop(Scene&) {
    while (always()) {
    }
}

// clang-format off
#define NW_HOOK(hook) NW_HOOK_THAT_SAYS(hook, "the hook's own words")
#define NW_HOOK_THAT_SAYS(hook, words)                                                             \
    {#hook "-throws", "throws in " #hook, words, throw_error, 0, Hook::hook},                      \
    {#hook "-throws-number", "throws an int in " #hook, "", throw_number, 0, Hook::hook},          \
    {#hook "-crashes", "follows a null pointer in " #hook, "SIGSEGV", follow_null, 0, Hook::hook}, \
    {#hook "-divides", "divides by zero in " #hook, "SIGFPE", divide, 0, Hook::hook},              \
    {#hook "-aborts", "calls abort() in " #hook, "SIGABRT", call_abort, 0, Hook::hook},            \
    {#hook "-exits", "calls exit(7) in " #hook, "exit(7)", call_exit, 0, Hook::hook}
#define NW_ENDLESS_HOOK(hook)                                                                      \
    {#hook "-loops", "never returns from " #hook, "", loop, dear, Hook::hook}

constexpr Kind table[] = {
    NW_HOOK(can_end),     NW_ENDLESS_HOOK(can_end),
    NW_HOOK(on_commit),   NW_ENDLESS_HOOK(on_commit),
    NW_HOOK(on_start),    NW_ENDLESS_HOOK(on_start),
    NW_HOOK(on_end),      NW_ENDLESS_HOOK(on_end),
    NW_HOOK(constructor), NW_ENDLESS_HOOK(constructor),
    // An exception that leaves a destructor ends in std::terminate().
    NW_HOOK_THAT_SAYS(destructor, "SIGABRT"), NW_ENDLESS_HOOK(destructor),
    NW_HOOK(setup),       NW_ENDLESS_HOOK(setup),
    NW_HOOK(finished),    NW_ENDLESS_HOOK(finished),
};
// clang-format on

}  // namespace

std::span<const Kind> hooks() { return table; }

}  // namespace hostile
