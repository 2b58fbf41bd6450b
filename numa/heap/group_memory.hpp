// All memory of one group of LPs: its segments, the engine's heap in them, the spans that its LPs'
// heaps share, the pages of its mail, and the node where all of it should be. The unit that is bound
// to a worker and moves as a whole.
// One owner thread at a time; destroying it releases everything, heaps included.
#pragma once

#include <numawarp/ids.hpp>

#include "numa/heap/group_home.hpp"
#include "numa/heap/lp_heap.hpp"
#include "numa/heap/platform_heap.hpp"
#include "numa/heap/state_spans.hpp"
#include "numa/region/mail_pages.hpp"
#include "numa/region/memory_source.hpp"
#include "numa/region/segments.hpp"

namespace nw {

class GroupMemory {
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
    GroupHome& home() noexcept { return home_; }
    const GroupHome& home() const noexcept { return home_; }

    // The owner says where it runs: at set-up, before any page is touched.
    void set_home(NodeId node) noexcept { home_.set(node); }
    // The group's new owner, once it is the owner, asks for all pages. Cheap: pagemigd does the work.
    void request_migration(NodeId node) noexcept { home_.request_migration(node); }

    void validate() const;

  private:
    SegmentTable segments_;
    PlatformHeap platform_;
    StateSpans spans_;
    MailPages mail_;
    GroupHome home_;
};

}  // namespace nw
