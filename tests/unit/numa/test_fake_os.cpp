// SPDX-License-Identifier: Apache-2.0
// Tests that FakeOs follows those rules of the real kernel on which other tests rely.
#include <array>
#include <cerrno>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"

using namespace nw;

TEST_CASE("FakeOs: a planned fault affects only the next calls of its kind") {
    FakeOs os(2, 2);
    os.fail_next(FakeOs::Call::bind_thread, EPERM, 2);
    CHECK(os.prefer_local_memory() == 0);
    CHECK(os.bind_thread(0) == EPERM);
    CHECK(os.bind_thread(1) == EPERM);
    CHECK(os.bind_thread(1) == 0);
    CHECK(os.bind_thread(99) == EINVAL);
    CHECK(os.count(FakeOs::Call::bind_thread) == 4);
    CHECK(os.records().back().status == EINVAL);
}

TEST_CASE("FakeOs: move_pages moves touched pages and returns a status per page") {
    FakeOs os(2, 2, 1, 4 * page_bytes);
    std::array<char, 5> memory{};
    std::array<void*, 5> pages{};
    for (std::size_t i = 0; i < pages.size(); ++i) pages[i] = &memory[i];
    for (std::size_t i = 0; i < 3; ++i) os.touch(pages[i], NodeId{0});
    os.touch(pages[3], NodeId{1});
    os.set_busy(pages[1]);
    os.set_free_bytes(NodeId{1}, page_bytes);
    std::array<int, 5> statuses{};
    CHECK(os.move_pages(pages, NodeId{7}, statuses) == ENODEV);
    REQUIRE(os.move_pages(pages, NodeId{1}, statuses) == 0);
    CHECK(statuses == std::array<int, 5>{1, -EBUSY, -ENOMEM, 1, -ENOENT});
    os.set_free_bytes(NodeId{1}, 2 * page_bytes);
    REQUIRE(os.move_pages(pages, NodeId{1}, statuses) == 0);
    CHECK(statuses == std::array<int, 5>{1, 1, 1, 1, -ENOENT});
    REQUIRE(os.query_pages(pages, statuses) == 0);
    CHECK(statuses == std::array<int, 5>{1, 1, 1, 1, -ENOENT});
    os.fail_next(FakeOs::Call::move_pages, EPERM);
    CHECK(os.move_pages(pages, NodeId{0}, statuses) == EPERM);
}

TEST_CASE(
    "FakeOs: a discarded page is on no node, and the memory of the page's node is free again") {
    FakeOs os(2, 2, 1, 4 * page_bytes);
    void* base = nullptr;
    REQUIRE(os.reserve(nullptr, 2 * page_bytes, base) == 0);
    REQUIRE(os.set_access(base, 2 * page_bytes, Access::write) == 0);
    std::array<void*, 2> pages{base, static_cast<char*>(base) + page_bytes};
    for (void* page : pages) os.touch(page, NodeId{1});
    CHECK(os.free_bytes(NodeId{1}) == 2 * page_bytes);
    REQUIRE(os.discard(base, page_bytes) == 0);
    CHECK(os.free_bytes(NodeId{1}) == 3 * page_bytes);
    std::array<int, 2> statuses{};
    REQUIRE(os.query_pages(pages, statuses) == 0);
    CHECK(statuses == std::array<int, 2>{-ENOENT, 1});
    REQUIRE(os.unreserve(base, 2 * page_bytes) == 0);
    CHECK(os.free_bytes(NodeId{1}) == 4 * page_bytes);
}

TEST_CASE("FakeOs: records which pages are open and counts mappings like the kernel") {
    FakeOs os(1, 1);
    void* base = nullptr;
    REQUIRE(os.reserve(nullptr, 8 * page_bytes, base) == 0);
    auto* const pages = static_cast<std::byte*>(base);
    const auto open_pages = [&] {
        std::array<int, 8> open{};
        for (std::size_t i = 0; i < 8; ++i) open[i] = os.is_closed(pages + i * page_bytes) ? 0 : 1;
        return open;
    };
    const auto access = [&](std::size_t first, std::size_t count, bool open) {
        REQUIRE(os.set_access(pages + first * page_bytes, count * page_bytes,
                              open ? Access::write : Access::none) == 0);
    };
    CHECK(os.mapping_count() == 1);
    access(1, 2, true);
    access(5, 2, true);
    CHECK(open_pages() == std::array{0, 1, 1, 0, 0, 1, 1, 0});
    CHECK(os.mapping_count() == 5);
    access(3, 2, true);
    CHECK(open_pages() == std::array{0, 1, 1, 1, 1, 1, 1, 0});
    CHECK(os.mapping_count() == 3);
    access(0, 4, false);
    CHECK(open_pages() == std::array{0, 0, 0, 0, 1, 1, 1, 0});
    access(6, 2, true);
    access(5, 1, false);
    CHECK(open_pages() == std::array{0, 0, 0, 0, 1, 0, 1, 1});
    CHECK(os.mapping_count() == 4);
    CHECK_FALSE(os.is_closed(&os));
    REQUIRE(os.unreserve(base, 8 * page_bytes) == 0);
    CHECK(os.mapping_count() == 0);
}

TEST_CASE("Linux: a page has no node until it is touched") {
    void* base = nullptr;
    REQUIRE(linux_os().reserve(nullptr, 2 * page_bytes, base) == 0);
    REQUIRE(linux_os().set_access(base, 2 * page_bytes, Access::write) == 0);
    *static_cast<char*>(base) = 1;
    std::array<void*, 2> pages{base, static_cast<char*>(base) + page_bytes};
    std::array<int, 2> statuses{};
    if (linux_os().query_pages(pages, statuses) == 0) {
        CHECK(statuses[0] >= 0);
        CHECK((statuses[1] == -ENOENT || statuses[1] == -EFAULT));
    } else {
        WARN("this machine does not allow move_pages; not tested");
    }
    CHECK(linux_os().unreserve(base, 2 * page_bytes) == 0);
}

TEST_CASE(
    "Linux: moving pages to their current nodes returns a status per page over several calls") {
    Os& os = linux_os();
    const std::size_t count = 10'000;
    void* base = nullptr;
    REQUIRE(os.reserve(nullptr, count * page_bytes, base) == 0);
    REQUIRE(os.set_access(base, count * page_bytes, Access::write) == 0);
    REQUIRE(os.advise_huge(base, count * page_bytes, false) == 0);
    std::vector<void*> pages;
    for (std::size_t i = 0; i < count; ++i) {
        pages.push_back(static_cast<char*>(base) + i * page_bytes);
        if (i % 3 == 0) *static_cast<char*>(pages.back()) = 1;
    }
    std::vector<int> statuses(count), after(count);
    if (os.query_pages(pages, statuses) == 0 &&
        os.move_pages(pages, NodeId{statuses[0]}, after) == 0) {
        for (std::size_t i = 0; i < count; ++i) {
            REQUIRE((statuses[i] >= 0) == (i % 3 == 0));
            REQUIRE((after[i] == statuses[0] || after[i] == -ENOENT || after[i] == -EFAULT));
            REQUIRE((after[i] >= 0) == (statuses[i] >= 0));
        }
        CHECK(os.move_pages(pages, NodeId{1000}, after) != 0);
    } else {
        WARN("this machine does not allow move_pages; not tested");
    }
    CHECK(os.unreserve(base, count * page_bytes) == 0);
}

TEST_CASE("Linux: the free memory of a node is below its total memory") {
    Os& os = linux_os();
    for (const NodeId node : os.nodes()) {
        CHECK(os.free_bytes(node) > 0);
        CHECK(os.free_bytes(node) < os.total_bytes(node));
    }
}
