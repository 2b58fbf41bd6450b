// SPDX-License-Identifier: Apache-2.0
// Tests how a worker's thread gets its CPU and its memory policy.
#include "engine/worker_threads.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"

namespace nw {
namespace {

using Call = FakeOs::Call;

// Runs two workers on two nodes. Returns the notices.
std::vector<std::string> run_two(FakeOs& os, bool strict, bool pin = true, bool local = true) {
    WorkerPlaces where;
    where.places = {{0, NodeId{0}}, {1, NodeId{1}}};
    where.pin = pin;
    where.local_memory = local;
    where.strict_memory = strict;
    std::vector<std::string> notices;
    run_worker_threads(
        os, where, [](std::uint32_t) {}, notices);
    return notices;
}

std::vector<int> arguments_of(const FakeOs& os, Call call) {
    std::vector<int> arguments;
    for (const FakeOs::Record& record : os.records())
        if (record.call == call) arguments.push_back(record.argument);
    std::ranges::sort(arguments);
    return arguments;
}

TEST_CASE("worker threads: each worker prefers the memory of its node") {
    FakeOs os(2, 1);
    CHECK(run_two(os, false).empty());
    CHECK(arguments_of(os, Call::bind_thread) == std::vector<int>{0, 1});
    CHECK(os.count(Call::prefer_local_memory) == 2);
    CHECK(os.count(Call::require_memory_of) == 0);
}

TEST_CASE("worker threads: with strict memory, each worker requires the memory of its node") {
    FakeOs os(2, 1);
    CHECK(run_two(os, true).empty());
    CHECK(arguments_of(os, Call::require_memory_of) == std::vector<int>{0, 1});
    CHECK(os.count(Call::prefer_local_memory) == 0);
}

TEST_CASE("worker threads: without local memory or without binding, no policy is set") {
    for (const bool pin : {true, false}) {
        FakeOs os(2, 1);
        CHECK(run_two(os, true, pin, !pin).empty());
        CHECK(os.count(Call::bind_thread) == (pin ? 2U : 0U));
        CHECK(os.count(Call::require_memory_of) + os.count(Call::prefer_local_memory) == 0);
    }
}

TEST_CASE("worker threads: one notice reports that the kernel refuses the policy") {
    FakeOs os(2, 1);
    os.fail_next(Call::require_memory_of, EPERM, 2);
    const std::vector<std::string> notices = run_two(os, true);
    REQUIRE(notices.size() == 1);
    CHECK(notices[0].starts_with("memory could not be bound to the workers' nodes"));
}

}  // namespace
}  // namespace nw
