// SPDX-License-Identifier: Apache-2.0
// Waits for MPI and yields the core meanwhile, so that the process that must act next can run.
// MPI's own waiting functions either spin, or yield in each call that finds no message, even in
// calls of a rank that has much work (session.cpp).
#pragma once

#include <mpi.h>

#include <thread>

#include "mpi/mpi_check.hpp"

namespace nw {

// Yields the core until is_done() returns true. Throws the exceptions of is_done().
template <class IsDone>
void yield_until(IsDone&& is_done) {
    while (!is_done()) std::this_thread::yield();
}

inline void wait_for(MPI_Request& request) {
    yield_until([&] {
        int done = 0;
        mpi_check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        return done != 0;
    });
}

// Returns a new communicator of the same ranks. Collective. The caller frees it.
inline MPI_Comm duplicate(MPI_Comm comm) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(MPI_Comm_idup(comm, &copy, &request), "MPI_Comm_idup");
    wait_for(request);
    return copy;
}

}  // namespace nw
