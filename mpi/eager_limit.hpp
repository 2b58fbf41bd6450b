// How large a message may be that MPI sends at once, without asking the receiver first.
#pragma once

#include <cstddef>

namespace nw {

// Bytes of payload. Open MPI is asked through its tool interface (MPI_T) for the limits of the shared
// memory and TCP transports, of which the smaller counts; where it does not say, 4 KiB less the
// header, which is what it does unless told otherwise. At least 1 KiB, at most 64 KiB.
std::size_t eager_bytes();

}  // namespace nw
