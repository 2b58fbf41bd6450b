// SPDX-License-Identifier: Apache-2.0
// The size up to which MPI sends a message at once, without a handshake with the receiver.
#pragma once

#include <cstddef>

namespace nw {

// Returns the size of the largest eager message, in bytes of payload: from 1 KiB to 64 KiB. Reads
// Open MPI's limits of the shared-memory and TCP transports through MPI's tool interface (MPI_T),
// and returns the smaller limit minus 256 bytes for the header. If there is no such limit, returns
// Open MPI's default of 4 KiB, minus the header.
std::size_t eager_bytes();

}  // namespace nw
