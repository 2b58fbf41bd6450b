// SPDX-License-Identifier: Apache-2.0
// The kind of memory of each cache line in a program's address space, as marked by the program: one
// byte per line, in leaves for 8 MiB that are allocated at the first mark.
//
// Thread: any. Requires: during set(), no other thread calls set() or at() for these lines.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "util/meter_marks.hpp"

namespace nw::meter {

class KindMap {
  public:
    MeterKind at(std::uint64_t address) const {
        const auto* middle = root_[index(address, 35)].load(std::memory_order_acquire);
        if (middle == nullptr) return MeterKind::other;
        const Leaf* leaf = (*middle)[index(address, 23)].load(std::memory_order_acquire);
        return leaf == nullptr ? MeterKind::other : (*leaf)[address % leaf_bytes / line_bytes];
    }

    // Requires: address < 2^47.
    void set(std::uint64_t address, std::uint64_t bytes, MeterKind kind) {
        const std::uint64_t end = std::min(address + bytes, std::uint64_t{1} << 47);
        while (address < end) {
            const std::uint64_t stop =
                std::min(end, address / leaf_bytes * leaf_bytes + leaf_bytes);
            Leaf& leaf = made((made(root_[index(address, 35)]))[index(address, 23)]);
            std::memset(&leaf[address % leaf_bytes / line_bytes], static_cast<int>(kind),
                        (stop - address + line_bytes - 1) / line_bytes);
            address = stop;
        }
    }

  private:
    static constexpr std::uint64_t line_bytes = 64, leaf_bytes = std::uint64_t{1} << 23;
    using Leaf = std::array<MeterKind, leaf_bytes / line_bytes>;
    template <class T>
    using Table = std::array<std::atomic<T*>, 4096>;

    static std::size_t index(std::uint64_t address, unsigned shift) {
        return address >> shift & 4095;
    }
    // Returns the table or leaf of the slot; allocates it if the slot is empty. It is never freed.
    template <class T>
    static T& made(std::atomic<T*>& slot) {
        T* there = slot.load(std::memory_order_acquire);
        if (there != nullptr) return *there;
        auto fresh = std::make_unique<T>();
        if (slot.compare_exchange_strong(there, fresh.get(), std::memory_order_acq_rel))
            return *fresh.release();
        return *there;
    }

    Table<Table<Leaf>> root_{};
};

}  // namespace nw::meter
