// SPDX-License-Identifier: Apache-2.0
// Tests single passes of page migration on a fake machine with four nodes. Every operation of this
// machine can fail.
#include <atomic>
#include <cerrno>
#include <thread>

#include "numa/place/migration_share.hpp"
#include "tests/unit/numa/fake_groups.hpp"

using namespace nw;

namespace {

constexpr NodeId n0{0}, n1{1}, n2{2};

struct Machine4 {
    FakeOs os{4, 2};
    test::FakeGroups groups{os, 4};
    MigrationLog log;
    LocalPolicy policy;
    MigrationShare share{os, log, policy};

    Machine4() {
        for (PlacedGroup* group : groups.all()) {
            group->set_home(n0);
            share.add(*group);
        }
    }
    MigrationFigures pass() {
        share.pass();
        return log.figures();
    }
};

}  // namespace

TEST_CASE("MigrationShare: a move takes exactly the touched pages of all segments") {
    Machine4 m;
    auto* a = m.groups.add_segment(0, 10, n0, 4);
    auto* b = m.groups.add_segment(0, 40, n0, 33, SegmentKind::state);
    auto* other = m.groups.add_segment(1, 3, n0, 3);
    CHECK(m.pass().pages_moved == 0);

    m.groups[0].request_migration(n2);
    const MigrationFigures figures = m.pass();
    CHECK(figures.pages_moved == 37);
    CHECK(figures.groups_served == 1);
    CHECK(figures.passes == 2);
    CHECK_FALSE(m.groups[0].home().needs_move());
    CHECK(m.groups.nodes_of(a, 5) == std::vector<int>{2, 2, 2, 2, -1});
    CHECK(m.groups.nodes_of(b, 33) == std::vector<int>(33, 2));
    CHECK(m.groups.nodes_of(other, 3) == std::vector<int>(3, 0));
    CHECK(m.log.notices().empty());
}

TEST_CASE("MigrationShare: a pass without a request makes no call to the kernel") {
    Machine4 m;
    m.groups.add_segment(0, 10, n1, 10);
    const std::size_t before = m.os.records().size();
    m.pass();
    CHECK(m.os.records().size() == before);
}

TEST_CASE("MigrationShare: a group that is moved twice ends on the node of the last request") {
    Machine4 m;
    auto* a = m.groups.add_segment(0, 4, n0, 4);
    m.groups[0].request_migration(n1);
    m.groups[0].request_migration(n2);
    CHECK(m.pass().pages_moved == 4);
    CHECK(m.groups.nodes_of(a, 4) == std::vector<int>(4, 2));
    m.groups[0].request_migration(n1);
    CHECK(m.pass().pages_moved == 8);
    CHECK(m.groups.nodes_of(a, 4) == std::vector<int>(4, 1));
    CHECK(m.log.figures().groups_served == 2);
}

TEST_CASE("MigrationShare: a request that is posted during another request stays valid") {
    GroupHome home;
    home.set(n0);
    home.request_migration(n1);
    const GroupHome::Request first = home.requested();
    home.request_migration(n2);
    home.finish(first);
    REQUIRE(home.needs_move());
    CHECK(home.requested().target == n2);
    home.finish(home.requested());
    CHECK_FALSE(home.needs_move());
    CHECK(home.node() == n2);
}

TEST_CASE("MigrationShare: busy pages are moved in the next pass") {
    Machine4 m;
    auto* a = m.groups.add_segment(0, 6, n0, 6);
    m.os.set_busy(a + page_bytes);
    m.groups[0].request_migration(n1);
    MigrationFigures figures = m.pass();
    CHECK(figures.pages_moved == 5);
    CHECK(figures.pages_busy == 1);
    CHECK(figures.groups_served == 0);
    CHECK(m.groups[0].home().needs_move());
    figures = m.pass();
    CHECK(figures.pages_moved == 6);
    CHECK(figures.groups_served == 1);
    CHECK_FALSE(m.groups[0].home().needs_move());
    CHECK(m.log.notices().empty());
}

TEST_CASE(
    "MigrationShare: a group waits for room on its node, and other groups do not wait for this "
    "group") {
    Machine4 m;
    auto* large = m.groups.add_segment(0, 40, n0, 40);
    auto* small = m.groups.add_segment(1, 4, n0, 4);
    m.os.set_free_bytes(n1, 10 * page_bytes);
    m.groups[0].request_migration(n1);
    m.groups[1].request_migration(n1);
    MigrationFigures figures = m.pass();
    CHECK(figures.pages_no_room == 40);
    CHECK(figures.pages_moved == 4);
    CHECK(m.groups.nodes_of(large, 40) == std::vector<int>(40, 0));
    CHECK(m.groups.nodes_of(small, 4) == std::vector<int>(4, 1));
    m.pass();
    REQUIRE(m.log.notices().size() == 1);
    CHECK(m.log.notices()[0] ==
          "page migration: node 1 has no room for 160 KiB of pages that belong there; tried again "
          "every period");

    m.os.set_free_bytes(n1, 40 * page_bytes);
    figures = m.pass();
    CHECK(figures.pages_moved == 44);
    CHECK(figures.groups_served == 2);
    CHECK(m.groups.nodes_of(large, 40) == std::vector<int>(40, 1));
}

TEST_CASE("MigrationShare: a node that is full despite its figures is tried again") {
    Machine4 m;
    auto* a = m.groups.add_segment(0, 4, n0, 4);
    SECTION("for one page") { m.os.set_immovable(a + page_bytes, -ENOMEM); }
    SECTION("for the whole call") { m.os.fail_next(FakeOs::Call::move_pages, ENOMEM); }
    m.groups[0].request_migration(n1);
    const MigrationFigures figures = m.pass();
    CHECK(figures.pages_no_room >= 1);
    CHECK(figures.pages_moved + figures.pages_no_room == 4);
    CHECK(m.groups[0].home().needs_move());
    CHECK(m.log.notices().size() == 1);
}

TEST_CASE("MigrationShare: a page that can never be moved is counted and the group is complete") {
    Machine4 m;
    auto* a = m.groups.add_segment(0, 4, n0, 4);
    m.os.set_immovable(a, GENERATE(-EFAULT, -EACCES, -EIO));
    m.groups[0].request_migration(n1);
    m.pass();
    const MigrationFigures figures = m.pass();
    CHECK(figures.pages_moved == 3);
    CHECK(figures.pages_failed == 1);
    CHECK(figures.groups_served == 1);
    CHECK_FALSE(m.groups[0].home().needs_move());
}

TEST_CASE("MigrationShare: a missing node is reported once and not tried again") {
    Machine4 m;
    m.os.set_free_bytes(NodeId{9}, std::uint64_t{1} << 30);
    m.groups.add_segment(0, 4, n0, 4);
    m.groups.add_segment(1, 4, n0, 4);
    auto* good = m.groups.add_segment(2, 4, n0, 4);
    m.groups[0].request_migration(NodeId{9});
    m.groups[1].request_migration(NodeId{9});
    m.groups[2].request_migration(n1);
    m.pass();
    const std::size_t calls = m.os.count(FakeOs::Call::move_pages);
    const MigrationFigures figures = m.pass();
    CHECK(m.os.count(FakeOs::Call::move_pages) == calls);
    CHECK(figures.pages_failed == 8);
    CHECK(figures.groups_served == 1);
    CHECK(m.groups.nodes_of(good, 4) == std::vector<int>(4, 1));
    REQUIRE(m.log.notices().size() == 1);
    CHECK(m.log.notices()[0].find("node 9 (No such device)") != std::string::npos);
}

TEST_CASE("MigrationShare: a lost permission ends all attempts with one notice") {
    Machine4 m;
    m.groups.add_segment(0, 4, n0, 4);
    m.groups.add_segment(1, 4, n0, 4);
    const Status refusal = GENERATE(EPERM, ENOSYS);
    const auto call = GENERATE(FakeOs::Call::move_pages, FakeOs::Call::query_pages);
    m.os.fail_next(call, refusal, 1);
    m.groups[0].request_migration(n1);
    m.groups[1].request_migration(n2);
    m.pass();
    CHECK(m.log.refused());
    const std::size_t before = m.os.records().size();
    m.groups[0].request_migration(n2);
    m.pass();
    CHECK(m.os.records().size() == before);
    CHECK(m.log.notices().size() == 1);
}

TEST_CASE("MigrationShare: pages of many groups share a call and large groups need several calls") {
    FakeOs os(2, 1);
    test::FakeGroups groups(os, 100);
    MigrationLog log;
    const LocalPolicy policy;
    MigrationShare share(os, log, policy);
    for (std::size_t g = 0; g < 100; ++g) {
        groups.add_segment(g, 10, n0, 10);
        groups[g].request_migration(n1);
        share.add(groups[g]);
    }
    share.pass();
    CHECK(os.count(FakeOs::Call::move_pages) == 1);
    CHECK(log.figures().groups_served == 100);
    groups.add_segment(7, 10'000, n0, 10'000);
    groups[7].request_migration(n1);
    share.pass();
    CHECK(os.count(FakeOs::Call::move_pages) == 4);
    CHECK(log.figures().pages_moved == 11'000);
    for (const FakeOs::Record& record : os.records())
        CHECK(record.bytes <= std::max(MigrationShare::batch_pages * page_bytes,
                                       record.call == FakeOs::Call::move_pages ? 0 : SIZE_MAX));
}

TEST_CASE("MigrationShare: mail on another node moves home without a request") {
    Machine4 m;
    auto* segment = m.groups.add_segment(1, 2, n2, 2);
    auto* mail = m.groups.add_mail(1, 3, n2);
    CHECK(m.pass().pages_moved == 3);
    CHECK(m.groups.nodes_of(mail, 3) == std::vector<int>(3, 0));
    CHECK(m.groups.nodes_of(segment, 2) == std::vector<int>(2, 2));
    CHECK(m.log.figures().groups_served == 0);

    SECTION("mail stays in place while no page is new") {
        const std::size_t before = m.os.records().size();
        m.pass();
        CHECK(m.os.records().size() == before);
    }
    SECTION("mail in pages that were given back before also moves home") {
        m.groups[1].mail().give_back(MailBufferId::a, MailArea::small);
        m.groups.add_mail(1, 3, n1);
        CHECK(m.pass().pages_moved == 6);
    }
    SECTION("mail moves with the group") {
        m.groups[1].request_migration(n1);
        CHECK(m.pass().pages_moved == 8);
        CHECK(m.groups.nodes_of(mail, 3) == std::vector<int>(3, 1));
    }
}

TEST_CASE("MigrationShare: mail that is recorded as touched but not yet written is checked again") {
    Machine4 m;
    m.groups[1].mail().touch(MailBufferId::a, MailArea::small, 2 * page_bytes);
    m.groups.touch(m.groups.mail_base(1), 1, n2);
    CHECK(m.pass().pages_moved == 1);
    m.groups.touch(m.groups.mail_base(1), 2, n2);
    CHECK(m.pass().pages_moved == 2);
}

TEST_CASE("MigrationShare: a busy page of mail is moved in the next pass") {
    Machine4 m;
    m.os.set_busy(m.groups.add_mail(1, 3, n2));
    CHECK(m.pass().pages_moved == 2);
    CHECK(m.pass().pages_moved == 3);
}

TEST_CASE("MigrationShare: a group without a home is not moved") {
    FakeOs os(2, 1);
    test::FakeGroups groups(os, 1);
    MigrationLog log;
    const LocalPolicy policy;
    MigrationShare share(os, log, policy);
    share.add(groups[0]);
    auto* mail = groups.add_mail(0, 1, n1);
    share.pass();
    CHECK(groups.nodes_of(mail, 1) == std::vector<int>{1});
    CHECK(log.figures().pages_failed == 0);
}

TEST_CASE("MigrationShare: a stop shortens a pass and the requests stay valid") {
    Machine4 m;
    m.groups.add_segment(0, 4, n0, 4);
    m.groups[0].request_migration(n1);
    std::stop_source stop;
    stop.request_stop();
    m.share.pass(stop.get_token());
    CHECK(m.log.figures().pages_moved == 0);
    CHECK(m.groups[0].home().needs_move());
}

// Goal: the owner's thread may change the segment table at any moment of a pass. ThreadSanitizer
// checks this.
TEST_CASE("MigrationShare: segments may be added and released while their group moves") {
    FakeOs os(2, 1);
    test::FakeGroups groups(os, 2);
    MigrationLog log;
    const LocalPolicy policy;
    MigrationShare share(os, log, policy);
    for (PlacedGroup* group : groups.all()) share.add(*group);
    auto* kept = groups.add_segment(0, 8, n0, 8);
    std::atomic<bool> done{false};
    std::thread owner([&] {
        std::vector<void*> bases;
        SegmentTable& table = groups[0].segments();
        for (std::uint32_t step = 0; step < 3000; ++step) {
            if (step % 3 != 2) {
                bases.push_back(table.allocate_segment(page_bytes, SegmentKind::platform));
                os.touch(bases.back(), n0);
            } else {
                table.release_segment(bases[step % bases.size()]);
                bases[step % bases.size()] = bases.back();
                bases.pop_back();
            }
            if (step % 100 == 0) groups[0].request_migration(step % 200 == 0 ? n1 : n0);
        }
        table.validate();
        done = true;
    });
    while (!done) share.pass();
    owner.join();
    groups[0].request_migration(n1);
    share.pass();
    CHECK(groups.nodes_of(kept, 8) == std::vector<int>(8, 1));
    CHECK(groups[0].segments().entries().size() == 1001);
    CHECK(log.figures().groups_served > 0);
}
