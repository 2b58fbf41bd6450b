// MPI reports by return codes; here they become exceptions with MPI's own words.
#pragma once

#include <mpi.h>

#include <array>
#include <string>

#include "base/check.hpp"

namespace nw {

// Throws MachineError.
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
