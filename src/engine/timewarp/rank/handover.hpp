// SPDX-License-Identifier: Apache-2.0
// Groups on their way from one worker to another, with the data that the old owner kept for these
// groups.
#pragma once

#include <vector>

#include "event/pending_entry.hpp"

namespace nw {

struct Group;
struct LpRecord;

struct Handover {
    std::vector<Group*> groups;
    std::vector<PendingEntry> pending;   // events for LPs of these groups
    std::vector<LpRecord*> uncommitted;  // LPs of these groups that have uncommitted events
};

}  // namespace nw
