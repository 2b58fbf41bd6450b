// SPDX-License-Identifier: Apache-2.0
// The size up to which MPI sends a message at once, without a handshake with the receiver.
#pragma once

#include <cstddef>

namespace nw {

// Returns the largest eager message, in bytes of payload: at least 1 KiB, at most 64 KiB. Reads
// Open MPI's limits of the shared-memory and TCP transports through MPI's tool interface (MPI_T),
// and returns the smaller limit minus 256 bytes for the header. Without such a limit it uses 4 KiB,
// which is Open MPI's default, minus the header.
std::size_t eager_bytes();

}  // namespace nw
