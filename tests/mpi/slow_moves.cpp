// SPDX-License-Identifier: Apache-2.0
// LPs that wait when their group arrives on another rank, so that a test can kill a rank exactly
// during a move (test_killed_moves.py). On the other rank, the constructors of the LPs are called
// again, while all ranks are paused. If the folder $NUMAWARP_TEST_MOVES exists, each constructor
// creates a file in this folder, named by the number of the process, and waits until the file is
// removed.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <atomic>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <numawarp/model.hpp>

namespace {

std::atomic<bool> has_begun{false};  // handlers have run in this process

// Must not allocate: the memory would belong to the LP.
void arrive() noexcept {
    const char* folder = std::getenv("NUMAWARP_TEST_MOVES");
    if (folder == nullptr) return;
    char path[4096];
    std::snprintf(path, sizeof path, "%s/%d", folder, static_cast<int>(getpid()));
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return;
    close(file);
    while (access(path, F_OK) == 0) usleep(1000);
}

class Wanderer final : public nw::LogicalProcess {
  public:
    Wanderer(nw::LpId, std::uint32_t lps) : lps_(lps) {
        if (has_begun) arrive();
    }

    void on_start(nw::Context& context) override {
        for (int i = 0; i < 4; ++i) send(context);
    }

    void on_event(nw::Context& context, const nw::Event&) override {
        has_begun.store(true, std::memory_order_relaxed);
        seen_.push_back(context.random().below(1000));
        if (seen_.size() > 50) seen_ = std::vector<std::uint64_t>(seen_.end() - 10, seen_.end());
        if (seen_.back() < 10)
            context.output(0, index(context.self()), context.now(), seen_.size());
        send(context);
    }

  private:
    void send(nw::Context& context) const {
        nw::Random& random = context.random();
        const auto target = static_cast<std::uint32_t>(random.below(lps_));
        context.schedule(nw::LpId{target}, random.exponential(1), 0);
    }

    const std::uint32_t lps_;
    std::vector<std::uint64_t> seen_;
};

class SlowMoves final : public nw::Model {
  public:
    SlowMoves() : Model("slow_moves", "groups that arrive slowly, for tests") {}

    nw::Setup setup() override {
        constexpr std::uint32_t lps = 12;
        nw::Setup setup;
        setup.lps = lps;
        setup.until = 10'000;
        setup.process = nw::process<Wanderer>(lps);
        setup.outputs = {{"rare", {"lp", "time", "seen"}}};
        return setup;
    }
};

}  // namespace

int main(int argc, char** argv) { return nw::run<SlowMoves>(argc, argv); }
