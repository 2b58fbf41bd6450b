// SPDX-License-Identifier: Apache-2.0
// The rules of --memory-cap on a fake machine, where the test sets the resident memory.
#include "engine/memory_budget.hpp"

#include <chrono>
#include <string>

#include "memory/region/memory_source.hpp"
#include "plan/run_plan.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

constexpr std::uint64_t MiB = std::uint64_t{1} << 20;

class Idle final : public LogicalProcess {
  public:
    explicit Idle(LpId) {}
    void on_event(Context&, const Event&) override {}
};

Setup setup_of(std::uint32_t lps) {
    Setup setup;
    setup.lps = lps;
    setup.until = 1;
    setup.process = process<Idle>();
    return setup;
}

Config config_of(std::uint64_t cap) {
    Config config;
    config.memory_cap_bytes = cap;
    return config;
}

// A machine for a run of two workers with a cap of 100 MiB.
struct Machine {
    FakeOs os{1, 2};
    Setup setup;
    Config config = config_of(100 * MiB);
    RunPlan plan{setup, config, 1, 2, nullptr};
    MemorySource memory{os, MemoryMode::numa, plan.partition.groups()};
    MemoryBudget::Clock::time_point now = MemoryBudget::Clock::now();

    explicit Machine(std::uint32_t lps = 1000) : setup(setup_of(lps)) {
        memory.set_memory_cap(config.memory_cap_bytes);
        use(10);
    }
    void use(double mebibytes) {
        MemoryFigures figures;
        figures.resident = static_cast<std::uint64_t>(mebibytes * MiB);
        os.set_memory(figures);
    }
    MemoryBudget::Level level_at(MemoryBudget& budget, double mebibytes) {
        use(mebibytes);
        now += std::chrono::milliseconds(10);
        return budget.level(now);
    }
};

std::string words_of(const auto& body) {
    try {
        body();
    } catch (const MachineError& error) {
        return error.what();
    }
    return "no error";
}

TEST_CASE(
    "MemoryBudget: the resident size that ends a shortage is smaller than the size that begins "
    "it") {
    Machine machine;
    MemoryBudget budget(machine.plan, machine.memory, 1);
    using Level = MemoryBudget::Level;
    CHECK(machine.level_at(budget, 84) == Level::ample);
    CHECK(!machine.memory.is_short());
    CHECK(machine.level_at(budget, 86) == Level::tight);
    CHECK(machine.memory.is_short());
    CHECK(machine.level_at(budget, 80) == Level::tight);
    CHECK(machine.level_at(budget, 104) == Level::full);
    CHECK(machine.level_at(budget, 102) == Level::tight);
    CHECK(machine.level_at(budget, 74) == Level::ample);
}

TEST_CASE("MemoryBudget: memory is measured more often if less memory is left") {
    Machine machine;
    MemoryBudget budget(machine.plan, machine.memory, 1);
    machine.level_at(budget, 99.5);
    machine.use(104);
    CHECK(budget.level(machine.now + std::chrono::microseconds(10)) == MemoryBudget::Level::tight);
    CHECK(budget.level(machine.now + std::chrono::microseconds(100)) == MemoryBudget::Level::full);
    machine.level_at(budget, 20);
    machine.use(90);
    CHECK(budget.level(machine.now + std::chrono::milliseconds(4)) == MemoryBudget::Level::ample);
    CHECK(budget.level(machine.now + std::chrono::milliseconds(6)) == MemoryBudget::Level::tight);
}

TEST_CASE("MemoryBudget: the memory for speculation decreases to almost zero at the cap") {
    Machine machine;
    MemoryBudget budget(machine.plan, machine.memory, 1);
    std::uint64_t before = UINT64_MAX;
    for (double used = 86; used < 103; used += 0.5) {
        machine.level_at(budget, used);
        const std::uint64_t ahead = budget.bytes_ahead(MiB, 8 * MiB);
        CHECK(ahead <= before);
        CHECK(ahead > 0);
        CHECK(budget.bytes_ahead(MiB, 0) <= ahead);
        before = ahead;
    }
    // Without free chunks, the result is half of the sum of two values. The first one is the memory
    // that a worker may still take: 7 MiB if 83 MiB are used. The second one is the memory that the
    // worker already holds.
    machine.level_at(budget, 83);
    CHECK(budget.bytes_ahead(0, 0) == Approx(3.5 * MiB).epsilon(0.01));
    machine.level_at(budget, 90);
    CHECK(budget.bytes_ahead(4 * MiB, 0) == Approx((1.75 + 2) * MiB).epsilon(0.01));
    machine.level_at(budget, 103.5);
    CHECK(budget.bytes_ahead(MiB, 8 * MiB) == 0);
}

TEST_CASE("MemoryBudget: a program that is larger than the cap is refused at the start") {
    Machine machine;
    machine.use(101);
    const std::string words = words_of([&] { MemoryBudget(machine.plan, machine.memory, 1); });
    CHECK(words.find("--memory-cap 100 MiB") != std::string::npos);
    CHECK(words.find("101 MiB") != std::string::npos);
}

TEST_CASE(
    "MemoryBudget: a set-up that exceeds the cap is refused with the size of the whole set-up") {
    // The number of LPs is so large that measurements become due during the set-up.
    constexpr int lps = 1'000'000;
    Machine machine(lps);
    MemoryBudget budget(machine.plan, machine.memory, 1);
    // The program uses 10 MiB before the set-up, and all LPs together use 400 MiB.
    const std::string words = words_of([&] {
        for (int lp = 1; lp <= lps; ++lp) {
            machine.use(10 + 400.0 / lps * lp);
            budget.note_built();
        }
    });
    CHECK(words.find("--memory-cap 100 MiB: constructing all LPs takes about 4") !=
          std::string::npos);
    CHECK(words.find(" of 1000000") != std::string::npos);
}

TEST_CASE(
    "MemoryBudget: a run ends if the memory that it needs stays above the cap, and otherwise "
    "continues") {
    Machine machine;
    MemoryBudget budget(machine.plan, machine.memory, 1);
    const auto rounds_until_infeasible = [&](double used) {
        int rounds = 0;
        while (rounds < 2000) {
            machine.level_at(budget, used);
            if (budget.is_infeasible(machine.now)) break;
            ++rounds;
        }
        return rounds;
    };
    // No part of the resident memory was reported as needed, so the run may continue.
    CHECK(rounds_until_infeasible(104) == 2000);
    machine.level_at(budget, 102);
    CHECK(!budget.is_infeasible(machine.now));

    budget.note_needed(0, std::uint64_t{100} << 20);
    CHECK(rounds_until_infeasible(102) == 2000);
    CHECK(rounds_until_infeasible(104) == 255);
    machine.level_at(budget, 102);
    CHECK(!budget.is_infeasible(machine.now));
    CHECK(rounds_until_infeasible(104) == 255);
    CHECK(words_of([&] {
              budget.give_up(1.5);
          }).find("at virtual time 1.5 the run takes about 104 MiB") != std::string::npos);
    CHECK(words_of([&] { budget.check(2); }) == "no error");
    machine.use(105);
    CHECK(words_of([&] { budget.check(2); }).find("105 MiB") != std::string::npos);
}

}  // namespace
}  // namespace nw
