// SPDX-License-Identifier: Apache-2.0
// The state that the C and C++ runtime keeps for a thread during a handler, and the resources that
// a handler may have open. A handler can be left at any moment by a jump (fault_guard.hpp), without
// calling destructors. Then this state must be repaired, in addition to the LP's memory.
//
// - Initializers that run once in the process: the initializers of function-local statics, and the
//   functions of pthread_once. They allocate from libc, and other threads wait for them.
// - The thread's locale (uselocale).
// - Resources that are not memory (files, descriptors of iconv, …). A handler must close the
//   resources that it opens, because a resource that stays open across events cannot be rolled
//   back.
//
// The interposer reports changes, and the engine calls the functions at the end of this file. All
// data belong to the calling thread.
#pragma once

#include <clocale>

namespace nw {

class LpHeap;

// --- Initializers --------------------------------------------------------------------------------

// Begins an initializer. Until leave_initializer() the calling thread is in platform mode.
// `outside` is the heap that was current before; if it is not null, the initializer runs on behalf
// of a handler. If the initializer is left by a jump, `abandon` is called, so that another thread
// can initialize.
// Requires: platform mode, because a handler may be interrupted whenever its heap is current.
void enter_initializer(void* control, void (*abandon)(void* control), LpHeap* outside) noexcept;
// Ends an initializer. Returns the heap that must become current; null if another initializer still
// runs.
LpHeap* leave_initializer() noexcept;
bool in_initializer() noexcept;
// True if the initializer runs on behalf of a handler.
bool in_initializer_of_handler() noexcept;

// --- The thread's locale -------------------------------------------------------------------------

// Records that a handler has changed the locale. The handler must restore it before it returns.
void note_locale_change() noexcept;
// Sets the thread's locale permanently, outside of handlers.
void set_thread_locale(locale_t locale) noexcept;

// --- Open resources ------------------------------------------------------------------------------

// Returns false if the handler already has the maximum number of open resources.
bool note_opened(void* resource, void (*close)(void* resource)) noexcept;
// Returns false if the running handler has not opened the resource.
bool forget_opened(void* resource) noexcept;

// Records that the running handler has opened the descriptor. If the handler is left by a jump,
// reset_runtime_state() closes it.
void note_descriptor(int descriptor) noexcept;
// Called when the descriptor is closed, or belongs to a stream or a directory stream.
void forget_descriptor(int descriptor) noexcept;

// --- The engine's side ---------------------------------------------------------------------------

// Called after a handler was left by a jump, before its LP is restored. Closes the descriptors of
// the handler, abandons its initializers, resets the locale, and unlocks the standard streams.
// Ensures: platform mode.
void reset_runtime_state() noexcept;

enum class LeftBehind : unsigned char { nothing, resource, locale };
// Called after each handler that has opened a resource or changed the thread's locale. Closes the
// resources and resets the locale. Returns what the handler had left behind.
LeftBehind put_back() noexcept;

}  // namespace nw
