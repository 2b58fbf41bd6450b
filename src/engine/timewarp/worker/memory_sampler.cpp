// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/memory_sampler.hpp"

#include <algorithm>

#include "lp/group.hpp"

namespace nw {
namespace {

constexpr std::chrono::milliseconds interval{100};
// Measuring more groups than this takes milliseconds, so it is done less often.
constexpr std::size_t many_groups = 10'000;
constexpr std::chrono::milliseconds interval_of_many{1000};

}  // namespace

void MemorySampler::sample(Clock::time_point now, const std::vector<Group*>& groups,
                           const MemoryKinds& others) noexcept {
    next_ = now + (groups.size() > many_groups ? interval_of_many : interval);
    MemoryKinds kinds;
    std::uint64_t engine = 0, records = 0;
    for (const Group* group : groups) {
        kinds.state += group->memory.spans().used_bytes();
        kinds.history += group->heap.history_bytes();
        kinds.bottom_halves += group->memory.mail().touched_bytes();
        engine += group->heap.live_bytes();
        records += group->count * sizeof(LpRecord);
    }
    // The sizes of the engine's heaps and of the saved states both count whole chunks.
    kinds.events = engine - std::min(engine, kinds.history + others.snapshots + records);
    kinds += others;
    if (kinds.sum() >= largest_.sum()) largest_ = kinds;
}

}  // namespace nw
