// SPDX-License-Identifier: Apache-2.0
// validate() of each structure finds damage. Each line damages one member of a valid structure,
// calls validate(), and repairs the member.
#include <string>
#include <vector>

#include "memory/heap/group_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/new_lp_heap.hpp"
#include "tests/support/private_member.hpp"
#include "util/check.hpp"

namespace nw::test {

NW_TEST_OPEN(BumpOf, &PlatformHeap::bump_);
NW_TEST_OPEN(LiveBytesOf, &PlatformHeap::live_bytes_);
NW_TEST_OPEN(HeldBytesOf, &PlatformHeap::held_bytes_);
NW_TEST_OPEN(SpareBytesOf, &PlatformHeap::spare_bytes_);
NW_TEST_OPEN(NextUnitOf, &StateSpans::next_unit_);
NW_TEST_OPEN(UsedBytesOf, &StateSpans::used_bytes_);
NW_TEST_OPEN(SpanOf, &StateSpans::span_);
NW_TEST_OPEN(ActiveBytesOf, &SegmentTable::active_bytes_);
NW_TEST_OPEN(CountOf, &SegmentTable::count_);
NW_TEST_OPEN(TablesOf, &LpHeap::tables);

namespace {

class UsedGroup {
  public:
    UsedGroup() : memory(source_, GroupId{1}), heap(test::new_lp_heap(memory)) {
        std::vector<void*> chunks;
        for (std::size_t i = 0; i < 200; ++i) chunks.push_back(memory.platform().allocate(40 * i));
        for (std::size_t i = 0; i < 200; i += 2) memory.platform().free(chunks[i], 40 * i);
        for (std::size_t i = 1; i < 200; ++i) last = heap.allocate(16 * i);
        large = heap.allocate(100'000);
        kept = chunks[3];
        kept_bytes = 120;
        check_all();
    }

    void check_all() const {
        memory.validate();
        heap.validate();
    }
    template <class T, class U>
    void check_found(const char* what, T& place, U&& wrong) {
        INFO(what);
        T right = place;
        place = static_cast<T>(wrong);
        CHECK_THROWS_AS(check_all(), InternalError);
        place = right;
        CHECK_NOTHROW(check_all());
    }

  private:
    MemorySource source_{linux_os(), MemoryMode::numa, 4};

  public:
    GroupMemory memory;
    LpHeap& heap;
    void* last = nullptr;   // the last small chunk of the LP
    void* large = nullptr;  // a large chunk of the LP
    void* kept = nullptr;   // a chunk of the platform heap
    std::size_t kept_bytes = 0;
};

}  // namespace

TEST_CASE("PlatformHeap: validate() finds damage") {
    UsedGroup group;
    PlatformHeap& heap = group.memory.platform();
    group.check_found("more live bytes than exist", heap.*opened(LiveBytesOf{}),
                      std::size_t{1} << 30);
    group.check_found("segments are not counted", heap.*opened(HeldBytesOf{}), page_bytes);
    group.check_found("spare pages that do not exist are counted", heap.*opened(SpareBytesOf{}),
                      (heap.*opened(SpareBytesOf{})) + page_bytes);
    group.check_found("allocated memory is marked as new", heap.*opened(BumpOf{}),
                      static_cast<std::byte*>(group.kept));
    heap.free(group.kept, group.kept_bytes);
    REQUIRE_NOTHROW(group.check_all());
    SECTION("a double free") { heap.free(group.kept, group.kept_bytes); }
    SECTION("a free of a part of a free chunk") {
        heap.free(static_cast<std::byte*>(group.kept) + 64, 64);
    }
    SECTION("a write to a free chunk") {
        *static_cast<void**>(group.kept) = static_cast<std::byte*>(group.kept) + 8;
    }
    SECTION("a free of memory of another owner") { heap.free(group.last, 64); }
    CHECK_THROWS_AS(group.check_all(), InternalError);
}

TEST_CASE("StateSpans: validate() finds damage") {
    UsedGroup group;
    StateSpans& spans = group.memory.spans();
    StateSpans::SpanHeader*& span = spans.*opened(SpanOf{});
    group.check_found("blocks are not counted", spans.*opened(UsedBytesOf{}), 128);
    group.check_found("the next unit is in use", spans.*opened(NextUnitOf{}),
                      StateSpans::header_units);
    group.check_found("a span is not a segment", span, span + 1);
    group.check_found("a span has no mark", span->magic, span->magic + 1);
    group.check_found("a unit belongs to another block", span->block_at[StateSpans::header_units],
                      StateSpans::header_units + 1);
    group.check_found("a unit without a block", span->block_at[StateSpans::header_units], 0);
    group.check_found("a block overlaps the table", span->block_at[0], StateSpans::header_units);
}

TEST_CASE("SegmentTable: validate() finds damage") {
    UsedGroup group;
    SegmentTable& segments = group.memory.segments();
    group.check_found("bytes are not counted", segments.*opened(ActiveBytesOf{}), page_bytes);
    group.check_found("a segment is missing", segments.*opened(CountOf{}),
                      segments.entries().size() - 1);
}

TEST_CASE("LpHeap: validate() finds damage") {
    UsedGroup group;
    Block& block = *StateSpans::find(group.last);
    Block& large = *StateSpans::find(group.large);
    group.check_found("chunks are not counted", (group.heap.*opened(TablesOf{}))()->used_units, 1);
    group.check_found("a chunk in use is marked as free", block.free_mask, block.free_mask ^ 1);
    group.check_found("a block has another owner", block.owner, nullptr);
    group.check_found("a block has a wrong size class", block.small_class, block.small_class - 1);
    group.check_found("a block has a wrong index", block.index, block.index + 1);
    group.check_found("a large block has a wrong index", large.index, large.index + 1);
    group.check_found("a large block has a small size class", large.small_class, 3);
}

TEST_CASE("LpHeap: validate() finds damage in a heap with one block") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    GroupMemory memory(source, GroupId{0});
    LpHeap& heap = test::new_lp_heap(memory);
    void* const kept = heap.allocate(16);
    Snapshot* const snapshot = heap.take(memory.platform());
    void* const more = heap.allocate(16);
    Block& block = *StateSpans::find(kept);
    REQUIRE((StateSpans::find(more) == &block && (heap.*opened(TablesOf{}))() == nullptr));
    const auto check_found = [&](std::uint64_t chunk) {
        CHECK_NOTHROW(heap.validate());
        block.free_mask ^= chunk;
        CHECK_THROWS_AS(heap.validate(), InternalError);
        block.free_mask ^= chunk;
    };
    check_found(1);
    heap.restore(*snapshot);
    CHECK(heap.used_bytes() == 16);
    check_found(1);
    check_found(2);
    REQUIRE(heap.free(kept) == HeapFault::none);
    CHECK(heap.used_bytes() == 0);
    check_found(1);
    heap.restore(*snapshot);
    check_found(1);
    LpHeap::drop(snapshot, memory.platform());
}

TEST_CASE("MailPages: validate() accepts touched pages and memory from libc") {
    UsedGroup group;
    MailPages& mail = group.memory.mail();
    mail.touch(MailBufferId::a, MailArea::small, page_bytes);
    REQUIRE_NOTHROW(mail.validate());
    MemorySource libc(linux_os(), MemoryMode::libc, 1);
    REQUIRE_NOTHROW(GroupMemory(libc, GroupId{0}).mail().validate());
}

}  // namespace nw::test
