// SPDX-License-Identifier: Apache-2.0
#include "mpi/session.hpp"

#include <mpi.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <thread>

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/eager_limit.hpp"
#include "mpi/mpi_check.hpp"
#include "mpi/mpi_transport.hpp"
#include "mpi/waiting.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

constexpr int message_tag = 1;

// Returns whether a launcher started this process. The environment variables are set by Open MPI's
// mpirun, by PMIx (srun --mpi=pmix, prterun), and by PMI 1 and 2 (srun --mpi=pmi2, MPICH's Hydra).
bool is_launched() noexcept {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"})
        if (std::getenv(name) != nullptr) return true;
    return false;
}

// A launcher reads the output of ranks from pipes, but receives MPI_Abort over another channel. It
// exits when it receives MPI_Abort, and the output that it has not yet forwarded is lost. (Open MPI
// 5 lost two of six lines.) So abort() first waits until the launcher has read the pipes, and then
// until the launcher has had time to forward the output, perhaps through another of its processes
// or from another host.
constexpr std::chrono::milliseconds reading_max{2000};
constexpr std::chrono::milliseconds passing_on{100};

// Waits until the reader of a pipe has read its whole content, at most for reading_max. Returns at
// once if the descriptor is not a pipe.
void wait_until_read(int descriptor) noexcept {
    struct stat status {};
    if (fstat(descriptor, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
    const auto begin = std::chrono::steady_clock::now();
    int unread = 0;
    while (ioctl(descriptor, FIONREAD, &unread) == 0 && unread > 0 &&
           std::chrono::steady_clock::now() - begin < reading_max)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

class MpiRanks final : public RankGroup {
  public:
    MpiRanks() {
        // When a rank dies, the other ranks write to its closed sockets. Without this line SIGPIPE
        // would kill the other ranks, too, and the launcher could name the wrong rank.
        std::signal(SIGPIPE, SIG_IGN);
        // By default, if there are more ranks than cores, Open MPI yields the core in each call
        // that finds no message, even in calls of a rank that has much work. Ranks without work
        // yield by themselves: waiting.hpp, src/engine/turn_loop.hpp.
        setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
        int is_started = 0;
        MPI_Initialized(&is_started);
        is_ours_ = is_started == 0;
        if (!is_ours_)
            MPI_Query_thread(&thread_level_);
        else if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &thread_level_) !=
                 MPI_SUCCESS)
            throw MachineError("MPI cannot be started (MPI_Init_thread failed)");
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        try {
            comm_ = duplicate(MPI_COMM_WORLD);
            mpi_check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
            mpi_check(MPI_Comm_size(comm_, &ranks_), "MPI_Comm_size");
        } catch (...) {
            if (is_ours_) MPI_Finalize();
            throw;
        }
    }

    ~MpiRanks() override {
        MPI_Comm_free(&comm_);
        if (is_ours_) MPI_Finalize();
    }

    RankId rank() const noexcept override { return RankId{static_cast<std::uint32_t>(rank_)}; }
    std::uint32_t ranks() const noexcept override { return static_cast<std::uint32_t>(ranks_); }
    void check() const override {
        if (thread_level_ < MPI_THREAD_SERIALIZED)
            throw MachineError(
                "this MPI was built without MPI_THREAD_SERIALIZED; allowed: an MPI with this "
                "thread level, or a run without a launcher");
    }

    std::string host() const override {
        std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
        int length = 0;
        mpi_check(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
        return {name.data(), static_cast<std::size_t>(length)};
    }

    std::vector<std::string> share(const std::string& own) override {
        const auto count = static_cast<std::size_t>(ranks_);
        const int size = as_int(own.size());
        std::vector<int> sizes(count), starts(count);
        MPI_Request request = MPI_REQUEST_NULL;
        mpi_check(MPI_Iallgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm_, &request),
                  "MPI_Iallgather");
        wait_for(request);
        std::size_t all = 0;
        for (std::size_t r = 0; r < count; ++r) {
            starts[r] = as_int(all);
            all += static_cast<std::size_t>(sizes[r]);
        }
        std::string bytes(all, '\0');
        mpi_check(MPI_Iallgatherv(own.data(), size, MPI_BYTE, bytes.data(), sizes.data(),
                                  starts.data(), MPI_BYTE, comm_, &request),
                  "MPI_Iallgatherv");
        wait_for(request);
        std::vector<std::string> said;
        for (std::size_t r = 0; r < count; ++r)
            said.push_back(bytes.substr(static_cast<std::size_t>(starts[r]),
                                        static_cast<std::size_t>(sizes[r])));
        return said;
    }

    void send(RankId to, const std::string& bytes) override {
        MPI_Request request = MPI_REQUEST_NULL;
        mpi_check(MPI_Issend(bytes.data(), as_int(bytes.size()), MPI_BYTE,
                             static_cast<int>(index(to)), message_tag, comm_, &request),
                  "MPI_Issend");
        wait_for(request);
    }

    std::string receive(RankId from) override {
        MPI_Status status;
        MPI_Message message;
        yield_until([&] {
            int is_there = 0;
            mpi_check(MPI_Improbe(static_cast<int>(index(from)), message_tag, comm_, &is_there,
                                  &message, &status),
                      "MPI_Improbe");
            return is_there != 0;
        });
        int size = 0;
        mpi_check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
        std::string bytes(static_cast<std::size_t>(size), '\0');
        MPI_Request request = MPI_REQUEST_NULL;
        mpi_check(MPI_Imrecv(bytes.data(), size, MPI_BYTE, &message, &request), "MPI_Imrecv");
        wait_for(request);
        return bytes;
    }

    std::unique_ptr<Transport> open_transport(std::size_t largest_message, bool by_host) override {
        // Call eager_bytes() only once: MPICH 4.0 crashes when its tool interface is initialized
        // again.
        static const std::size_t batch_bytes = eager_bytes();
        return std::make_unique<MpiTransport>(comm_, batch_bytes, largest_message, by_host);
    }

    void abort(int exit_code) noexcept override {
        if (ranks_ == 1) return;
        wait_until_read(STDOUT_FILENO);
        wait_until_read(STDERR_FILENO);
        std::this_thread::sleep_for(passing_on);
        MPI_Abort(comm_, exit_code);
    }

  private:
    static int as_int(std::size_t size) {
        if (size > static_cast<std::size_t>(std::numeric_limits<int>::max()))
            throw MachineError("more than 2 GiB in one message between ranks");
        return static_cast<int>(size);
    }

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0;
    int ranks_ = 1;
    bool is_ours_ = true;  // MPI was initialized here, and not by the program before nw::run()
    int thread_level_ = MPI_THREAD_SINGLE;  // the level that MPI provides
};

}  // namespace

std::unique_ptr<RankGroup> join_ranks() {
    if (is_launched()) return std::make_unique<MpiRanks>();
    return std::make_unique<SingleProcess>();
}

}  // namespace nw
