// All memory of one group of LPs: its segments, the engine's heap in them, and the spans that its
// LPs' heaps share. The unit that is bound to a worker and moves as a whole.
// One owner thread at a time; destroying it releases everything, heaps included.
#pragma once

#include <numawarp/ids.hpp>

#include "numa/lp_heap.hpp"
#include "numa/memory_source.hpp"
#include "numa/platform_heap.hpp"
#include "numa/segments.hpp"
#include "numa/state_spans.hpp"

namespace nw {

class GroupMemory {
  public:
    GroupMemory(MemorySource& source, GroupId group)
        : segments_(source, group), platform_(segments_), spans_(segments_) {}

    PlatformHeap& platform() noexcept { return platform_; }
    SegmentTable& segments() noexcept { return segments_; }
    const SegmentTable& segments() const noexcept { return segments_; }
    StateSpans& spans() noexcept { return spans_; }

    // A heap for one more LP of this group, in the group's memory; lives as long as the group.
    // Throws std::bad_alloc.
    LpHeap& new_lp_heap();

    void validate() const;

  private:
    SegmentTable segments_;
    PlatformHeap platform_;
    StateSpans spans_;
};

}  // namespace nw
