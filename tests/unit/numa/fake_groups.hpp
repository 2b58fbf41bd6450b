// SPDX-License-Identifier: Apache-2.0
// Groups of memory on a fake machine, with pages on nodes that the test chooses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/heap/group_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "util/check.hpp"

namespace nw::test {

class FakeGroups {
  public:
    FakeGroups(FakeOs& os, std::uint32_t groups) : os_(os), source_(os, MemoryMode::numa, groups) {
        for (std::uint32_t g = 0; g < groups; ++g)
            groups_.push_back(std::make_unique<GroupMemory>(source_, GroupId{g}));
    }

    MemorySource& source() { return source_; }
    GroupMemory& operator[](std::size_t g) { return *groups_[g]; }
    std::vector<PlacedGroup*> all() {
        std::vector<PlacedGroup*> pointers;
        for (const auto& group : groups_) pointers.push_back(group.get());
        return pointers;
    }

    // Adds a segment to the group. The first `touched` pages of the segment are on the node.
    std::byte* add_segment(std::size_t g, std::size_t pages, NodeId node, std::size_t touched,
                           SegmentKind kind = SegmentKind::platform) {
        void* const base = groups_[g]->segments().allocate_segment(pages * page_bytes, kind);
        NW_CHECK(base != nullptr);  // not REQUIRE: tests call this in other threads, too
        return touch(static_cast<std::byte*>(base), touched, node);
    }
    std::byte* touch(std::byte* base, std::size_t pages, NodeId node) {
        for (std::size_t i = 0; i < pages; ++i) os_.touch(base + i * page_bytes, node);
        return base;
    }
    // Adds mail to the group's first small area, written by a thread on the node.
    std::byte* add_mail(std::size_t g, std::size_t pages, NodeId node) {
        groups_[g]->mail().touch(MailBufferId::a, MailArea::small, pages * page_bytes);
        return touch(mail_base(g), pages, node);
    }
    std::byte* mail_base(std::size_t g) {
        return groups_[g]->mail().area(MailBufferId::a, MailArea::small).data();
    }

    // The node of each page; −1: not touched.
    std::vector<int> nodes_of(std::byte* base, std::size_t pages) {
        std::vector<void*> addresses;
        for (std::size_t i = 0; i < pages; ++i) addresses.push_back(base + i * page_bytes);
        std::vector<int> nodes(pages);
        REQUIRE(os_.query_pages(addresses, nodes) == 0);
        for (int& node : nodes) node = node < 0 ? -1 : node;
        return nodes;
    }

  private:
    FakeOs& os_;
    MemorySource source_;
    std::vector<std::unique_ptr<GroupMemory>> groups_;
};

}  // namespace nw::test
