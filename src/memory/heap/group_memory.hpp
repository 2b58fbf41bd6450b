// SPDX-License-Identifier: Apache-2.0
// All memory of one group of LPs: its segments, the platform heap in the segments, the spans that
// the heaps of the LPs share, the pages of the group's mail, and the home of all these pages. A
// group is bound to one worker and moves as a whole.
// Thread: one owner at a time. The destructor releases everything, heaps included.
#pragma once

#include <numawarp/ids.hpp>

#include "memory/heap/lp_heap.hpp"
#include "memory/heap/platform_heap.hpp"
#include "memory/heap/state_spans.hpp"
#include "memory/region/mail_pages.hpp"
#include "memory/region/memory_source.hpp"
#include "memory/region/segments.hpp"
#include "numa/place/placed_group.hpp"

namespace nw {

class GroupMemory final : public PlacedGroup {
  public:
    GroupMemory(MemorySource& source, GroupId group)
        : segments_(source, group), platform_(segments_), spans_(segments_), mail_(segments_) {}

    PlatformHeap& platform() noexcept { return platform_; }
    const PlatformHeap& platform() const noexcept { return platform_; }
    SegmentTable& segments() noexcept { return segments_; }
    const SegmentTable& segments() const noexcept { return segments_; }
    StateSpans& spans() noexcept { return spans_; }
    const StateSpans& spans() const noexcept { return spans_; }
    MailPages& mail() noexcept { return mail_; }
    const MailPages& mail() const noexcept { return mail_; }

    void copy_segments(std::vector<PageRange>& ranges) const override {
        segments_.copy_ranges(ranges);
    }
    void copy_mail(std::vector<PageRange>& ranges) const override;
    std::uint32_t mail_growths() const noexcept override { return mail_.growths(); }

    void validate() const;

  private:
    SegmentTable segments_;
    PlatformHeap platform_;
    StateSpans spans_;
    MailPages mail_;
};

}  // namespace nw
