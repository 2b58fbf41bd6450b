// What the runtime of C and C++ keeps for a thread while a handler is inside it, and what a handler may
// have open. A handler can be left at any moment by a jump (fault_guard.hpp), past all destructors; then
// this is what must be put in order besides its memory.
//
// - Initialisers that run once in the process: those of function-local statics, and pthread_once. What
//   they allocate is libc's, and others wait for them.
// - The thread's locale (uselocale).
// - Resources that are not memory (files, descriptors of iconv, …). A handler closes what it opens:
//   what is kept open across events cannot be rolled back.
//
// The interposer tells what happens, the engine asks. Everything here belongs to the calling thread.
#pragma once

#include <clocale>

namespace nw {

class LpHeap;

// --- Initialisers ----------------------------------------------------------------------------------

// Until leave_initialiser() the calling thread is in platform mode, on behalf of a handler if `outside`,
// what was current before, is an LP's heap. `abandon` is called if it never gets there: whoever comes
// next must be able to initialise. Requires: platform mode already, since a handler may be interrupted
// at any moment in which it is in its heap.
void enter_initialiser(void* control, void (*abandon)(void* control), LpHeap* outside) noexcept;
// Returns what is to be current from now on: null within another initialiser.
LpHeap* leave_initialiser() noexcept;
bool in_initialiser() noexcept;
// Whether it runs on behalf of a handler.
bool in_initialiser_of_handler() noexcept;

// --- The thread's locale ---------------------------------------------------------------------------

// A handler has changed it, and has to change it back before it returns.
void note_locale_change() noexcept;
// It was changed for good, outside handlers.
void set_thread_locale(locale_t locale) noexcept;

// --- Open resources --------------------------------------------------------------------------------

// Returns false if a handler has too much open already.
bool note_opened(void* resource, void (*close)(void* resource)) noexcept;
// Returns false if the running handler has not opened it.
bool forget_opened(void* resource) noexcept;

// The running handler has opened it. If the handler is left by a jump, reset_runtime_state() closes it.
void note_descriptor(int descriptor) noexcept;
// It is closed, or belongs to a stream or a folder now.
void forget_descriptor(int descriptor) noexcept;

// --- The engine's side -----------------------------------------------------------------------------

// After a handler was left by a jump, before its LP is restored. Ensures: platform mode.
void reset_runtime_state() noexcept;

enum class LeftBehind : unsigned char { nothing, resource, locale };
// After each handler that has opened something or changed the thread's locale: puts all of that back.
LeftBehind put_back() noexcept;

}  // namespace nw
