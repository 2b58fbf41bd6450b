// SPDX-License-Identifier: Apache-2.0
// The memory of a guest's nodes, and the node of each physical address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jobs/research/qemu/qemu_api.hpp"

namespace nw::qemu {

// Whether the page at a virtual address and at an offset in the guest's RAM is a huge page. A
// mapping of 2 MiB keeps these bits of the address. A mapping of 4 KiB keeps them only for one page
// in 512.
inline bool is_huge_page(std::uint64_t address, std::uint64_t offset) {
    return ((address ^ offset) & ((1 << 21) - (1 << 12))) == 0;
}

class GuestMemory {
  public:
    GuestMemory() = default;
    // `bytes`: the memory of each node.
    explicit GuestMemory(const std::vector<std::uint64_t>& bytes) {
        std::uint64_t end = 0;
        for (const std::uint64_t of_node : bytes) end_.push_back(end += of_node);
    }

    std::size_t nodes() const { return end_.size(); }
    std::uint64_t bytes() const { return end_.empty() ? 0 : end_.back(); }

    // The offset in the guest's RAM of an address that QEMU calls physical; at least bytes() if the
    // address is not in the RAM. On a q35 machine, RAM above 2 GiB is mapped from 4 GiB on. In
    // version 1 of the interface the address is the offset in the RAM plus the offset at which the
    // memory of the node begins.
    std::uint64_t offset_of(std::uint64_t physical) const {
        if (api_version() == 1) {
            std::uint64_t begin = 0;
            for (const std::uint64_t end : end_) {
                if (physical < begin + end) return physical - begin;
                begin = end;
            }
            return physical;
        }
        constexpr std::uint64_t gib = std::uint64_t{1} << 30;
        return physical < 4 * gib ? physical : physical - 2 * gib;
    }
    // Requires: offset < bytes().
    unsigned node_of(std::uint64_t offset) const {
        unsigned node = 0;
        while (offset >= end_[node]) ++node;
        return node;
    }

  private:
    std::vector<std::uint64_t> end_;  // of each node, as an offset in the RAM without holes
};

}  // namespace nw::qemu
