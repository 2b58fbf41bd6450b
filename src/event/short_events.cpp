// SPDX-License-Identifier: Apache-2.0
#include "event/short_events.hpp"

#include <algorithm>

#include "util/meter_marks.hpp"

namespace nw {
namespace {

// Limits for the number of bodies in a block. Within these limits, a new block has as many bodies
// as all earlier blocks together. The largest block has the size of a huge page.
constexpr std::size_t bodies_min = 1024,
                      bodies_max = (std::size_t{1} << 21) / sizeof(detail::ShortBody);

}  // namespace

ShortEvents::ShortEvents(VirtualTime until, VirtualTime lookahead, std::size_t payload_bytes_max)
    : buffer_{
          .payload_bytes_max = std::min(payload_bytes_max, detail::ShortBody::payload_bytes_max),
          .before = until,
          .lookahead = lookahead} {
    buffer_.next = sent_.data();
    buffer_.end = sent_.data() + sent_.size();
}

std::uint32_t ShortEvents::drop() noexcept {
    const auto dropped = static_cast<std::uint32_t>(buffer_.next - sent_.data());
    for (const detail::SentEvent* sent = sent_.data(); sent != buffer_.next; ++sent)
        if (!PendingEntry::is_bare(sent->body)) free(PendingEntry::short_body(sent->body));
    buffer_.next = sent_.data();
    return dropped;
}

void ShortEvents::make_bodies() {
    const std::size_t count = std::clamp(bodies_made_, bodies_min, bodies_max);
    detail::ShortBody* const bodies =
        bodies_.emplace_back(std::make_unique_for_overwrite<detail::ShortBody[]>(count)).get();
    meter_memory<MeterKind::events>(bodies, count * sizeof(detail::ShortBody));
    bodies_made_ += count;
    // Highest address first, so that the lowest address is used first.
    for (std::size_t i = count; i != 0; --i) free(&bodies[i - 1]);
}

}  // namespace nw
