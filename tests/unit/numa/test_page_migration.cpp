// SPDX-License-Identifier: Apache-2.0
// The threads of the page-migration daemon: their shares of groups, their end, and refusals by the
// kernel. test_migration_share.cpp tests their passes without threads.
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>

#include "numa/place/page_migration.hpp"
#include "tests/support/effort.hpp"
#include "tests/unit/numa/fake_groups.hpp"
#include "tests/unit/numa/few_threads.hpp"

using namespace nw;

namespace {

const LocalPolicy policy;

PagemigdOptions options(std::uint32_t threads, double period_seconds) {
    PagemigdOptions given;
    given.automatic = false;
    given.threads = threads;
    given.period_seconds = period_seconds;
    return given;
}

}  // namespace

TEST_CASE("PageMigrationDaemon: moves requested groups and moves mail home") {
    FakeOs os(4, 2);
    test::FakeGroups groups(os, 10);
    std::vector<std::byte*> segments;
    for (std::size_t g = 0; g < 10; ++g) {
        groups[g].set_home(NodeId{0});
        segments.push_back(groups.add_segment(g, 4, NodeId{0}, 4));
        groups.add_mail(g, 2, NodeId{3});
    }
    PageMigrationDaemon daemon(os, options(3, 0.001), policy);
    CHECK(daemon.threads() == 3);
    daemon.serve(groups.all());
    for (std::size_t g = 0; g < 10; ++g) groups[g].request_migration(NodeId{1});
    while (daemon.figures().groups_served < 10) std::this_thread::yield();
    daemon.stop();
    for (std::size_t g = 0; g < 10; ++g) {
        CHECK(groups.nodes_of(segments[g], 4) == std::vector<int>(4, 1));
        CHECK(groups.nodes_of(groups.mail_base(g), 2) == std::vector<int>(2, 1));
    }
    CHECK(daemon.figures().passes >= 3);
    CHECK(daemon.notices().empty());
}

TEST_CASE("PageMigrationDaemon: the numbers of groups per thread differ by at most one") {
    FakeOs os(1, 1);
    test::FakeGroups groups(os, 64);
    const std::vector<PlacedGroup*> all = groups.all();
    for (std::uint32_t threads = 1; threads <= 32; ++threads) {
        const std::size_t count = 64 - threads;
        PageMigrationDaemon daemon(os, options(threads, 100), policy);
        daemon.serve({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)});
        std::size_t sum = 0, least = count, most = 0;
        for (std::size_t t = 0; t < threads; ++t) {
            sum += daemon.groups_of(t);
            least = std::min(least, daemon.groups_of(t));
            most = std::max(most, daemon.groups_of(t));
        }
        CHECK(sum == count);
        CHECK(most - least <= 1);
    }
}

TEST_CASE("PageMigrationDaemon: stops before its period ends with and without groups") {
    FakeOs os(2, 1);
    test::FakeGroups groups(os, 1);
    const bool serving = GENERATE(false, true);
    const auto started = std::chrono::steady_clock::now();
    {
        PageMigrationDaemon daemon(os, options(4, 3600), policy);
        if (serving) daemon.serve(groups.all());
    }
    CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(60));
}

TEST_CASE(
    "PageMigrationDaemon: if pages cannot be moved it reports this once and starts no thread") {
    FakeOs os(2, 1);
    test::FakeGroups groups(os, 1);
    const auto call = GENERATE(FakeOs::Call::move_pages, FakeOs::Call::query_pages);
    os.fail_next(call, GENERATE(EPERM, ENOSYS, ENODEV, EACCES));
    PageMigrationDaemon daemon(os, options(2, 0.001), policy);
    daemon.serve(groups.all());
    CHECK(daemon.threads() == 0);
    CHECK(daemon.figures().passes == 0);
    REQUIRE(daemon.notices().size() == 1);
    CHECK(daemon.notices()[0].find("does not permit moving pages") != std::string::npos);
}

TEST_CASE("PageMigrationDaemon: completes a change with fewer threads than requested") {
    if (test::sanitized) return;  // the threads of a sanitizer need more addresses
    FakeOs os(2, 1);
    test::FakeGroups groups(os, 8);
    struct : PlacementPolicy {
        NodeId node_of(const void*, NodeId home) const noexcept override { return home; }
        std::uint32_t changes() const noexcept override { return 1; }
    } changed;
    std::optional<PageMigrationDaemon> daemon;
    {
        const test::FewThreads few(2);
        daemon.emplace(os, options(4, 0.001), changed);
    }
    CHECK(daemon->threads() == 2);
    REQUIRE(daemon->notices().size() == 1);
    CHECK(daemon->notices()[0].find("2 of 4 threads could be started") != std::string::npos);
    CHECK_FALSE(daemon->has_caught_up());
    daemon->serve(groups.all());
    for (int i = 0; i < 3000 && !daemon->has_caught_up(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(daemon->has_caught_up());
}

TEST_CASE("PageMigrationDaemon: off starts no thread and makes no call") {
    FakeOs os(2, 1);
    os.set_kernel_balances_nodes(true);
    const PageMigrationDaemon daemon(os, options(0, 1), policy);
    CHECK(daemon.threads() == 0);
    CHECK(daemon.notices().empty());
    CHECK(os.records().empty());
}

TEST_CASE("PageMigrationDaemon: a kernel with automatic balancing of nodes is reported") {
    FakeOs os(2, 1);
    os.set_kernel_balances_nodes(true);
    const PageMigrationDaemon daemon(os, options(1, 1), policy);
    CHECK(daemon.threads() == 1);
    REQUIRE(daemon.notices().size() == 1);
    CHECK(daemon.notices()[0].find("kernel.numa_balancing") != std::string::npos);
}

TEST_CASE("PageMigrationDaemon: does not change the signal mask of the constructing thread") {
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, nullptr, &before);
    FakeOs os(2, 1);
    const PageMigrationDaemon daemon(os, options(1, 1), policy);
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    CHECK(sigismember(&before, SIGINT) == sigismember(&after, SIGINT));
}
