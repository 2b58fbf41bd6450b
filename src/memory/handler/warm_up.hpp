// SPDX-License-Identifier: Apache-2.0
// Makes libc and libstdc++ allocate some data now, in memory of libc. Otherwise they would allocate
// these data in a handler. The data would then belong to the LP, and would be lost in the next
// rollback. Examples: buffers of stdout and stderr, time zones, number formatting, the exception
// globals of the thread.
//
// Thread: each worker calls it once, in platform mode, before its first handler.
#pragma once

#include <cstdio>

namespace nw {

void warm_up();

// --- Buffers of stdio's streams ------------------------------------------------------------------

// stdio allocates a buffer at the first use of a stream. In a handler, the buffer would be memory
// of the LP, and a rollback would release the buffer while the stream uses it. Therefore warm_up()
// gives all open streams their buffers, and the interposer does the same for streams that are
// opened later. The buffering mode of a stream does not change.
//
// Gives the stream its buffer for bytes and, unless the stream is byte-oriented, its buffer for
// wide characters.
// Requires: platform mode.
void give_buffers(std::FILE* stream) noexcept;

// Releases the wide buffer of a stream without orientation, before the stream is closed or
// reopened. stdio frees this buffer only for wide-oriented streams.
// Requires: platform mode.
void take_wide_buffer(std::FILE* stream) noexcept;

}  // namespace nw
