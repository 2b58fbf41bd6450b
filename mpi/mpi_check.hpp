// SPDX-License-Identifier: Apache-2.0
// Converts return codes of MPI to exceptions with MPI's error text.
#pragma once

#include <mpi.h>

#include <array>
#include <string>

#include "util/check.hpp"

namespace nw {

// Throws MachineError unless `code` is MPI_SUCCESS. `call`: the name of the called function.
inline void mpi_check(int code, const char* call) {
    if (code == MPI_SUCCESS) [[likely]]
        return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw MachineError(std::string(call) + ": " +
                       std::string(text.data(), static_cast<std::size_t>(length)));
}

}  // namespace nw
