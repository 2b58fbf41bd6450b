// SPDX-License-Identifier: Apache-2.0
// The source of all groups' segments: the region, or glibc's malloc. There is one object per run,
// which all workers share. It is built before the workers start, and destroyed after the last
// group.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memory/region/libc_segments.hpp"
#include "memory/region/region.hpp"
#include "numa/os/os.hpp"
#include "numa/place/memory_options.hpp"

namespace nw {

class MemorySource {
  public:
    // Throws MachineError if the address space cannot be reserved. Transparent huge pages are
    // requested in all slots (on), in no slot (off), or in the slots of large groups (automatic:
    // see SegmentTable). Huge pages are forbidden in all other slots: a machine that uses them
    // without a request would spend 2 MiB on a group of one small LP.
    MemorySource(Os& os, MemoryMode mode, std::uint32_t groups,
                 HugePages huge_pages = HugePages::off);
    MemorySource(const MemorySource&) = delete;
    MemorySource& operator=(const MemorySource&) = delete;

    Os& os() noexcept { return os_; }
    MemoryMode mode() const noexcept { return region_ ? MemoryMode::numa : MemoryMode::libc; }
    HugePages huge_pages() const noexcept { return huge_pages_; }
    const Region* region() const noexcept { return region_ ? &*region_ : nullptr; }
    Region* region() noexcept { return region_ ? &*region_ : nullptr; }
    const std::vector<std::string>& notices() const noexcept { return notices_; }

    // The maximum resident memory of the process (--memory-cap). The engine enforces it
    // (engine/memory_budget.hpp). If the segments of all groups would exceed the limit,
    // SegmentTable refuses state to a handler that requests a block of 1 MiB or more, or more than
    // 1 MiB in one call. A wrong speculation can make a handler resize a container wrongly or loop
    // without end. The event of this handler then fails, and the run continues. Set before the
    // workers start. Default: no limit.
    void set_memory_cap(std::uint64_t bytes) noexcept { memory_cap_ = segment_limit_ = bytes; }
    std::uint64_t memory_cap() const noexcept { return memory_cap_; }
    // Subtracts resident memory outside of segments from the limit for segments. Requires: bytes <
    // the cap.
    void set_resident_besides(std::uint64_t bytes) noexcept {
        resident_besides_ = bytes;
        segment_limit_ = memory_cap_ - bytes;
    }
    std::uint64_t resident_besides() const noexcept { return resident_besides_; }  // 0: not set
    std::uint64_t segment_limit() const noexcept { return segment_limit_; }

    // Memory is short from now on: platform heaps split large free chunks before they take fresh
    // memory, no group requests huge pages any more, and new pages are small, so that only used
    // memory becomes resident. Existing huge pages remain. Thread: any.
    void set_short() noexcept;
    bool is_short() const noexcept { return short_.load(std::memory_order_relaxed); }

    // The region's addresses remain reserved after the destruction of this object: see
    // Region::keep_mapped().
    void keep_mapped() noexcept {
        if (region_) region_->keep_mapped();
    }
    // As keep_mapped(), but the contents of segments remain, too. They can be read until the
    // process ends or another run begins.
    void keep_contents() noexcept {
        keep_mapped();
        keeps_contents_ = true;
    }
    bool keeps_contents() const noexcept { return keeps_contents_; }

    // The sum of taken_bytes() over all active segments. This is address space: a page that was
    // never touched takes no memory.
    std::uint64_t segment_bytes() const noexcept {
        return segment_bytes_.load(std::memory_order_relaxed);
    }
    void count_segment(std::int64_t bytes) noexcept {
        segment_bytes_.fetch_add(static_cast<std::uint64_t>(bytes), std::memory_order_relaxed);
    }

  private:
    Os& os_;
    std::optional<Region> region_;               // MemoryMode::numa
    std::optional<LibcSegments> libc_segments_;  // MemoryMode::libc
    HugePages huge_pages_;
    std::vector<std::string> notices_;
    std::uint64_t memory_cap_ = UINT64_MAX;
    std::uint64_t segment_limit_ = UINT64_MAX;
    std::uint64_t resident_besides_ = 0;
    bool keeps_contents_ = false;
    std::atomic<bool> short_{false};
    std::atomic<std::uint64_t> segment_bytes_{0};
};

}  // namespace nw
