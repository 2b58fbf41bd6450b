// Waiting for MPI without keeping the core from whoever is waited for. MPI's own waiting either spins, or gives the core
// away in every call that finds nothing to do, also in those of a rank that has much to do (session.cpp).
#pragma once

#include <mpi.h>

#include <thread>

#include "mpi/mpi_check.hpp"

namespace nw {

// Until is_done(). Throws what that throws.
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

// A communicator of the same ranks. Collective.
inline MPI_Comm duplicate(MPI_Comm comm) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(MPI_Comm_idup(comm, &copy, &request), "MPI_Comm_idup");
    wait_for(request);
    return copy;
}

}  // namespace nw
