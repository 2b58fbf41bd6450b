// MPI for a model that gathers its results. tw_init() starts it where a launcher has started several ranks. Without a
// launcher it takes a third of a second, and most models do without: then the model's first call of MPI does.
#include <algorithm>
#include <cstdlib>

#include "door.hpp"

MPI_Comm MPI_COMM_ROSS = MPI_COMM_WORLD;

namespace nw::ross {
namespace {

bool has_told_communicator = false;  // then the model ends MPI itself, as with ROSS

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

// --- What a model may call first, by MPI's profiling interface (MPI 3.1, section 14.2) ----------------
// Anything else ends in MPI's own line that MPI has not been started.

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

// The engine's threads take turns in MPI, also where the model starts it itself.
int MPI_Init_thread(int* argc, char*** argv, int wanted, int* level) {
    // As the engine does: `mpi/session.cpp` has the reason.
    setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
    return PMPI_Init_thread(argc, argv, std::max(wanted, int{MPI_THREAD_SERIALIZED}), level);
}
int MPI_Init(int* argc, char*** argv) {
    int level = 0;
    return MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &level);
}
