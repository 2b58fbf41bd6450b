// SPDX-License-Identifier: Apache-2.0
// The pages of one group, as the page-migration daemon and the placement probe use them. The memory
// of a group (GroupMemory) implements this interface.
//
// Thread: any, while the group's owner continues, except set_home() and request_migration().
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/place/group_home.hpp"

namespace nw {

// The use of a page.
enum class PageKind : std::uint8_t { state, platform, mail };
inline constexpr std::size_t page_kinds = 3;
// The names in reports, in which the platform is called the engine.
constexpr const char* name_of(PageKind kind) noexcept {
    constexpr const char* names[page_kinds] = {"state", "engine", "mail"};
    return names[static_cast<std::size_t>(kind)];
}

struct PageRange {
    std::byte* base;
    std::size_t bytes;  // multiple of the page size
    PageKind kind;
};

class PlacedGroup {
  public:
    GroupHome& home() noexcept { return home_; }
    const GroupHome& home() const noexcept { return home_; }
    // Sets the owner's node. Called at set-up, before any page is touched.
    void set_home(NodeId node) noexcept { home_.set(node); }
    // Requests a move of all pages. Thread: the group's new owner, after it has become the owner.
    // Cost: small, because pagemigd moves the pages.
    void request_migration(NodeId node) noexcept { home_.request_migration(node); }

    // Replaces `ranges` by the ranges of the group's state and of the engine's data about it. A
    // range may be released right after the copy: its addresses then have no pages, or belong to a
    // newer range of the same group. Throws std::bad_alloc. Cost: the owner may wait while 24 bytes
    // per range are copied.
    virtual void copy_segments(std::vector<PageRange>& ranges) const = 0;
    // Replaces `ranges` by the ranges of the group's mail that were touched. Throws std::bad_alloc.
    virtual void copy_mail(std::vector<PageRange>& ranges) const = 0;
    // How often the touched part of the mail has grown.
    virtual std::uint32_t mail_growths() const noexcept = 0;

  protected:
    ~PlacedGroup() = default;

  private:
    GroupHome home_;
};

}  // namespace nw
