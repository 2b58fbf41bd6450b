// SPDX-License-Identifier: Apache-2.0
// Groups that leave for another rank, or arrive from there, while all workers of all ranks are
// paused. No LP has a history and no message is in flight, so a group consists of its memory and
// its pending events, as in a saved run.

#include <algorithm>

#include "engine/checkpoint/saved_group.hpp"
#include "engine/timewarp/parts/worker_core_inline.hpp"
#include "engine/timewarp/worker/worker.hpp"

namespace nw {

std::vector<std::optional<std::string>> Worker::give_groups(
    const std::vector<std::uint32_t>& leaving, const std::vector<LoadedModule>& modules,
    const AddressMap& map, const std::function<bool(const StrayPointers&)>& may_leave) {
    NW_CHECK(committer_.all_is_final());
    look_at_all_intervals();
    const PendingChains pending = chain_pending();
    std::vector<bool> leaves(core_.plan.partition.groups());
    std::vector<std::optional<std::string>> parcels;
    for (const std::uint32_t g : leaving) {
        Group& group = *core_.rank.group(g);
        forget_past(group);
        std::optional<std::string>& parcel = parcels.emplace_back(std::in_place);
        const StrayPointers strays = write_group(
            group, pending.first(g), map, modules, [&](const void* bytes, std::size_t size) {
                parcel->append(static_cast<const char*>(bytes), size);
            });
        leaves[g] = may_leave(strays);
        if (leaves[g]) {
            ending_.remove(group);
            for (std::uint32_t i = 0; i < group.count; ++i) core_.keeper.hand_over(group.lps[i]);
            ++core_.counters[Counter::groups_sent];
        } else {
            parcel.reset();
        }
    }
    std::vector<PendingEntry> gone;
    pending_.take_if(
        [&](const PendingEntry& entry) {
            return leaves[core_.plan.partition.position(entry.target).group];
        },
        gone);
    std::erase_if(core_.groups, [&](const Group* group) { return leaves[group->mail.group()]; });
    return parcels;
}

void Worker::take_group(std::uint32_t g, std::string_view bytes) {
    Group& group = build_group(g, nullptr);
    go_on_with_copy(group,
                    read_group(group,
                               [&](void* to, std::size_t size) {
                                   NW_CHECK(size <= bytes.size());
                                   std::copy_n(bytes.data(), size, static_cast<char*>(to));
                                   bytes.remove_prefix(size);
                               }),
                    standstill_.bound().time);
    NW_CHECK(bytes.empty());
}

}  // namespace nw
