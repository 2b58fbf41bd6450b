// SPDX-License-Identifier: Apache-2.0
// Initializes and finalizes MPI. MPI is initialized only if a launcher (mpirun, srun with PMIx)
// started the process. Without a launcher the program never calls MPI, so that it also runs with a
// broken installation of MPI, in a debugger and in a container.
//
// The required thread level is MPI_THREAD_SERIALIZED, which RankGroup::check() verifies: any worker
// may call MPI, but only one at a time. The net role ensures that no two workers call MPI at the
// same time. MPI_THREAD_MULTIPLE would take a lock in each call.
#pragma once

#include <memory>

#include "net/rank_group.hpp"

namespace nw {

// Returns the group of the ranks that were launched together, or a group of one rank if no launcher
// started the process. Call it at most once in a process. If the program has already initialized
// MPI, the group does not finalize MPI; the program must finalize it. Throws MachineError if MPI
// cannot be initialized.
std::unique_ptr<RankGroup> join_ranks();

}  // namespace nw
