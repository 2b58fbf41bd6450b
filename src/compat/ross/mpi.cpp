// SPDX-License-Identifier: Apache-2.0
// Start and end of MPI, which models use to gather their results. tw_init() starts MPI if a
// launcher has started the program. Without a launcher, the start of MPI takes a third of a second,
// and most models do not need it. MPI is then started by the model's first call of MPI.
#include <algorithm>
#include <cstdlib>

#include "program_state.hpp"

MPI_Comm MPI_COMM_ROSS = MPI_COMM_WORLD;

namespace nw::ross {
namespace {

// tw_comm_set() was called. The model then ends MPI itself, as with ROSS.
bool has_told_communicator = false;

void start_mpi() {
    int is_started = 0;
    MPI_Initialized(&is_started);
    if (is_started != 0) return;
    demand_outside("first use of MPI");
    int level = 0;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        refuse("MPI cannot be started (MPI_Init_thread failed)");
}

}  // namespace

void start_mpi_if_launched() {
    bool is_launched = false;
    for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"})
        is_launched = is_launched || std::getenv(name) != nullptr;
    if (!is_launched) return;
    start_mpi();
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    g_tw_mynode = static_cast<tw_peid>(rank);
    program().ranks = static_cast<unsigned>(ranks);
}

void end_mpi() {
    int is_started = 0, has_ended = 0;
    MPI_Initialized(&is_started);
    MPI_Finalized(&has_ended);
    if (is_started != 0 && has_ended == 0 && !has_told_communicator) MPI_Finalize();
}

void demand_world() {
    if (MPI_COMM_ROSS != MPI_COMM_WORLD)
        refuse("MPI_COMM_ROSS is a different communicator; allowed: MPI_COMM_WORLD");
}

}  // namespace nw::ross

void tw_comm_set(MPI_Comm comm) {
    nw::ross::demand_outside("tw_comm_set()");
    MPI_COMM_ROSS = comm;
    nw::ross::has_told_communicator = true;
    nw::ross::demand_world();
}

// --- Functions of MPI that a model may call first ------------------------------------------------
// These functions replace functions of MPI, and start MPI. MPI's profiling interface permits this
// (MPI 3.1, section 14.2). If a model first calls another function, MPI ends the program with its
// own message.

#define NW_STARTS_MPI(function, parameters, arguments) \
    int MPI_##function parameters {                    \
        nw::ross::start_mpi();                         \
        return PMPI_##function arguments;              \
    }

NW_STARTS_MPI(Comm_rank, (MPI_Comm comm, int* rank), (comm, rank))
NW_STARTS_MPI(Comm_size, (MPI_Comm comm, int* size), (comm, size))
NW_STARTS_MPI(Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
NW_STARTS_MPI(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made),
              (comm, color, key, made))
NW_STARTS_MPI(Barrier, (MPI_Comm comm), (comm))
NW_STARTS_MPI(Bcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
              (buffer, count, type, root, comm))
NW_STARTS_MPI(Reduce,
              (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm),
              (from, to, count, type, op, root, comm))
NW_STARTS_MPI(Allreduce,
              (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
              (from, to, count, type, op, comm))
NW_STARTS_MPI(Exscan,
              (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
              (from, to, count, type, op, comm))
NW_STARTS_MPI(Gather,
              (const void* from, int count, MPI_Datatype type, void* to, int to_count,
               MPI_Datatype to_type, int root, MPI_Comm comm),
              (from, count, type, to, to_count, to_type, root, comm))
NW_STARTS_MPI(Allgather,
              (const void* from, int count, MPI_Datatype type, void* to, int to_count,
               MPI_Datatype to_type, MPI_Comm comm),
              (from, count, type, to, to_count, to_type, comm))
NW_STARTS_MPI(File_open, (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file),
              (comm, name, mode, info, file))

#undef NW_STARTS_MPI

// The engine's threads call MPI one at a time. Therefore MPI must have at least the level
// MPI_THREAD_SERIALIZED, even if the model starts MPI itself.
int MPI_Init_thread(int* argc, char*** argv, int wanted, int* level) {
    // The engine sets the same value; mpi/session.cpp gives the reason.
    setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
    return PMPI_Init_thread(argc, argv, std::max(wanted, int{MPI_THREAD_SERIALIZED}), level);
}
int MPI_Init(int* argc, char*** argv) {
    int level = 0;
    return MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &level);
}
