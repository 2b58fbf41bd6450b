// SPDX-License-Identifier: Apache-2.0
// The layout of a group's slot: mail at both ends, segments between.
//
//     | small A | small B | segments ...                  | large A | large B |
//       64 KiB    64 KiB                                    1/16      1/16 of the slot
//
// A group's mail has two buffers, A and B. Each buffer begins in its small area, and moves to its
// large area when it grows. All four addresses follow from the group's number and never change.
// They replace the table bh_addresses[] of "NUMA Time Warp" (Pellegrini and Quaglia, PADS 2015,
// §3.4), and need no lock while buffers grow or are swapped. The small areas are beside the first
// segments, so that a group's first pages need one page of page table instead of two.
//
// The layout is only address space: a page that is never written takes no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nw {

// One of the two buffers. In each era, one buffer takes mail and the other buffer is read.
enum class MailBufferId : std::uint8_t { a, b };
enum class MailArea : std::uint8_t { small, large };

struct SlotLayout {
    static constexpr std::size_t mail_small_bytes = 64 * 1024;
    static constexpr std::size_t mail_large_share = 16;

    std::span<std::byte> slot;  // at least 2 MiB, a power of two

    constexpr std::size_t mail_large_bytes() const noexcept {
        return slot.size() / mail_large_share;
    }
    constexpr std::span<std::byte> mail(MailBufferId buffer, MailArea area) const noexcept {
        const auto nth = static_cast<std::size_t>(buffer);
        if (area == MailArea::small) return slot.subspan(nth * mail_small_bytes, mail_small_bytes);
        return slot.subspan(slot.size() - (2 - nth) * mail_large_bytes(), mail_large_bytes());
    }
    constexpr std::span<std::byte> segments() const noexcept {
        return slot.subspan(2 * mail_small_bytes,
                            slot.size() - 2 * mail_small_bytes - 2 * mail_large_bytes());
    }
};

}  // namespace nw
