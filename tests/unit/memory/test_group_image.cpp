// SPDX-License-Identifier: Apache-2.0
// A group's memory is written to an image, destroyed and read back. It has the same contents at the
// same addresses, and later allocations return the same addresses as in a group that was not
// written and read.
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "memory/image/group_image.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/new_lp_heap.hpp"
#include "tests/support/random_cases.hpp"
#include "tests/unit/memory/heap_driver.hpp"

using namespace nw;

namespace {

std::string written(const GroupMemory& group) {
    std::string image;
    write_group_memory(group, [&](const void* bytes, std::size_t size) {
        image.append(static_cast<const char*>(bytes), size);
    });
    return image;
}

// Throws std::runtime_error at the end of the image.
class ImageReader {
  public:
    explicit ImageReader(const std::string& image) : image_(image) {}

    void into(GroupMemory& group) {
        read_group_memory(group, [this](void* to, std::size_t size) {
            if (size > image_.size() - at_) throw std::runtime_error("the image ends");
            std::memcpy(to, image_.data() + at_, size);
            at_ += size;
        });
    }
    bool at_end() const { return at_ == image_.size(); }

  private:
    const std::string& image_;
    std::size_t at_ = 0;
};

// Random operations on the engine's heap. Records the returned addresses and checks the contents of
// chunks.
class PlatformDriver {
  public:
    explicit PlatformDriver(std::uint64_t seed) : dice_(seed) {}

    std::vector<std::byte*> returned;

    void step(PlatformHeap& heap) {
        if (!chunks_.empty() && dice_.chance(0.45)) {
            const auto it = std::next(chunks_.begin(),
                                      static_cast<std::ptrdiff_t>(dice_.below(chunks_.size())));
            REQUIRE(holds(it->first, it->second));
            heap.free(it->first, it->second.bytes);
            chunks_.erase(it);
            return;
        }
        const std::size_t magnitude = std::size_t{1} << dice_.below(dice_.chance(0.05) ? 22 : 11);
        const test::Chunk chunk{1 + dice_.below(magnitude), dice_.below(256)};
        auto* const at = static_cast<std::byte*>(heap.allocate(chunk.bytes));
        fill(at, chunk);
        chunks_.emplace(at, chunk);
        returned.push_back(at);
    }

    bool all_hold() const {
        return std::all_of(chunks_.begin(), chunks_.end(),
                           [](const auto& chunk) { return holds(chunk.first, chunk.second); });
    }

  private:
    test::Dice dice_;
    std::map<std::byte*, test::Chunk> chunks_;
};

// The region with a group. The group has some LPs, and drivers use the heaps of these LPs.
class BusyGroup {
  public:
    static constexpr std::uint32_t groups = 3;

    explicit BusyGroup(std::uint64_t seed) : dice_(seed), other_dice_(seed), platform_(seed + 1) {
        const HugePages choices[] = {HugePages::off, HugePages::automatic};
        huge_pages_ = choices[dice_.below(2)];
        number_ = GroupId{static_cast<std::uint32_t>(dice_.below(groups))};
        make();
        for (std::size_t lps = 1 + dice_.below(5); lps > 0; --lps)
            lps_.push_back(std::make_unique<test::HeapDriver>(heaps_.emplace_back(new_heap()),
                                                              seed + 2 + lps));
    }

    void use(std::size_t steps) {
        for (; steps > 0; --steps) {
            if (dice_.chance(0.5))
                platform_.step(group_->platform());
            else
                lps_[dice_.below(lps_.size())]->step();
        }
    }
    void release_free_pages() { group_->platform().release_free_pages(); }

    // Destroys the group and the region, creates them again with some other content, and then reads
    // the image.
    void write_and_read_back() {
        const std::string image = written(*group_);
        const std::size_t active_bytes = group_->segments().active_bytes();
        const std::size_t taken = source_->segment_bytes();
        group_.reset();
        source_.reset();
        make();
        for (std::size_t n = other_dice_.below(4); n > 0; --n) {
            LpHeap& heap = new_heap();
            for (std::size_t chunks = other_dice_.below(50); chunks > 0; --chunks)
                REQUIRE(heap.allocate(1 + other_dice_.below(20'000)) != nullptr);
        }
        ImageReader reader(image);
        reader.into(*group_);
        REQUIRE(reader.at_end());
        REQUIRE(group_->segments().active_bytes() == active_bytes);
        REQUIRE(source_->segment_bytes() == taken);
        for (LpHeap& heap : heaps_) heap.adopt(*group_);
    }

    // Checks the invariants and the content that all drivers have written.
    void check() const {
        group_->validate();
        for (const LpHeap& heap : heaps_) heap.validate();
        for (std::size_t i = 0; i < lps_.size(); ++i)
            REQUIRE(holds(heaps_[i].get(), lps_[i]->chunks));
        REQUIRE(platform_.all_hold());
    }

    std::vector<std::byte*> addresses() const {
        std::vector<std::byte*> all = platform_.returned;
        for (const auto& lp : lps_) all.insert(all.end(), lp->returned.begin(), lp->returned.end());
        return all;
    }

  private:
    void make() {
        source_.emplace(linux_os(), MemoryMode::numa, groups, huge_pages_);
        group_.emplace(*source_, number_);
    }
    LpHeap& new_heap() { return test::new_lp_heap(*group_); }

    test::Dice dice_;
    test::Dice other_dice_;  // for operations between writing and reading
    HugePages huge_pages_;
    GroupId number_;
    std::optional<MemorySource> source_;
    std::optional<GroupMemory> group_;
    std::vector<std::reference_wrapper<LpHeap>> heaps_;
    std::vector<std::unique_ptr<test::HeapDriver>> lps_;
    PlatformDriver platform_;
};

}  // namespace

// Method: two groups with the same seed execute the same operations, one group after the other,
// because a process has only one region. The second group is written and read back several times.
TEST_CASE("group image: writing and reading a group does not change its later allocations") {
    for (const std::uint64_t seed : test::test_seeds(12)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        std::vector<std::byte*> undisturbed;
        for (const bool is_saved : {false, true}) {
            test::Dice dice(seed);
            BusyGroup group(seed);
            for (int part = 0; part < 4; ++part) {
                group.use(dice.below(600));
                if (dice.chance(0.5)) group.release_free_pages();
                if (is_saved) group.write_and_read_back();
                group.check();
            }
            group.use(300);
            group.check();
            if (!is_saved) undisturbed = group.addresses();
            if (is_saved) CHECK((group.addresses() == undisturbed));
        }
    }
}

TEST_CASE(
    "group image: a snapshot that was taken before a group was written can be restored after it "
    "was read") {
    std::string image;
    Snapshot* snapshot = nullptr;
    LpHeap* heap = nullptr;
    char* text = nullptr;
    {
        MemorySource source(linux_os(), MemoryMode::numa, 1);
        GroupMemory group(source, GroupId{0});
        heap = &test::new_lp_heap(group);
        text = static_cast<char*>(heap->allocate(100));
        std::strcpy(text, "before");
        snapshot = heap->take(group.platform());
        std::strcpy(text, "after");
        image = written(group);
    }
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    GroupMemory group(source, GroupId{0});
    ImageReader(image).into(group);
    heap->adopt(group);
    CHECK(std::string(text) == "after");
    heap->restore(*snapshot);
    CHECK(std::string(text) == "before");
    LpHeap::drop(snapshot, group.platform());
    group.validate();
}

TEST_CASE("group image: pages of zeros are omitted and read back as zeros") {
    constexpr std::size_t bytes = std::size_t{64} << 20;
    std::string image;
    std::byte* at = nullptr;
    {
        MemorySource source(linux_os(), MemoryMode::numa, 1);
        GroupMemory group(source, GroupId{0});
        at = static_cast<std::byte*>(
            group.segments().allocate_segment(bytes, SegmentKind::platform));
        at[bytes / 2] = std::byte{7};
        image = written(group);
    }
    CHECK(image.size() < 4 * page_bytes);
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    GroupMemory group(source, GroupId{0});
    void* const other = group.segments().allocate_segment(bytes, SegmentKind::platform);
    std::memset(other, 1, std::size_t{1} << 20);
    ImageReader(image).into(group);
    CHECK(at[bytes / 2] == std::byte{7});
    CHECK(
        std::all_of(at, at + (std::size_t{2} << 20), [](std::byte b) { return b == std::byte{}; }));
}

TEST_CASE(
    "group image: a truncated image causes the exception of its reader and damages no other "
    "group") {
    std::string image;
    {
        MemorySource source(linux_os(), MemoryMode::numa, 1);
        GroupMemory group(source, GroupId{0});
        std::memset(test::new_lp_heap(group).allocate(30'000), 1, 30'000);
        image = written(group);
    }
    for (std::size_t length = 0; length < image.size(); length += 1 + image.size() / 37) {
        INFO(length << " of " << image.size() << " bytes");
        const std::string torn = image.substr(0, length);
        MemorySource source(linux_os(), MemoryMode::numa, 1);
        GroupMemory group(source, GroupId{0});
        CHECK_THROWS_AS(ImageReader(torn).into(group), std::runtime_error);
    }
}
