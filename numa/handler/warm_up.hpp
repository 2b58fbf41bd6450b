// Makes libc and libstdc++ allocate now, from libc, what they would otherwise allocate lazily inside
// some handler, where it would be taken for the LP's and vanish with the next rollback: the buffers
// of stdout and stderr, time zones, number formatting, the exception globals of the thread.
//
// Thread: each worker calls it once, in platform mode, before its first handler.
#pragma once

#include <cstdio>

namespace nw {

void warm_up();

// --- Buffers of stdio's streams ----------------------------------------------------------------------

// stdio allocates a buffer at the first use of a stream: in a handler it would be memory of the LP, and a
// rollback would take it from the stream. warm_up() gives all open streams their buffers, and the
// interposer those that are opened later. How a stream is buffered does not change.
//
// Gives the stream its buffer for bytes and, unless it is byte-oriented, the one for wide characters.
// Requires: platform mode.
void give_buffers(std::FILE* stream) noexcept;

// Before a stream is closed or reopened: stdio frees the buffer for wide characters only of a stream
// that is wide-oriented. Requires: platform mode.
void take_wide_buffer(std::FILE* stream) noexcept;

}  // namespace nw
