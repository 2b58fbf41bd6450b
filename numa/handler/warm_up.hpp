// Makes libc and libstdc++ allocate now, from libc, what they would otherwise allocate lazily inside
// some handler, where it would be taken for the LP's and vanish with the next rollback: the buffers
// of stdout and stderr, time zones, number formatting, the exception globals of the thread.
//
// Thread: each worker calls it once, in platform mode, before its first handler.
#pragma once

namespace nw {

void warm_up();

}  // namespace nw
