// MPI from the first call to the last. It is started only if a launcher started us (mpirun, srun with
// PMIx): a program that is started plainly never touches it, so that it runs where MPI is installed
// badly, or a debugger or a container is in the way.
//
// MPI_THREAD_SERIALIZED, by RankGroup::check(): any worker may call MPI, one at a time, which the net role
// sees to. MULTIPLE would take a lock in every call.
#pragma once

#include <memory>

#include "net/rank_group.hpp"

namespace nw {

// Joins the ranks that were launched together, or is alone. At most once in a process. A program that has
// started MPI itself also ends it. Throws MachineError when MPI cannot be started.
std::unique_ptr<RankGroup> join_ranks();

}  // namespace nw
