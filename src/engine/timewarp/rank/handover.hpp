// SPDX-License-Identifier: Apache-2.0
// Groups on their way from one worker to another, with the data that the old owner kept for them.
#pragma once

#include <vector>

#include "event/pending_entry.hpp"

namespace nw {

struct Group;
struct LpRecord;

struct Handover {
    std::vector<Group*> groups;
    std::vector<PendingEntry> pending;   // events for their LPs
    std::vector<LpRecord*> uncommitted;  // their LPs that have uncommitted events
};

}  // namespace nw
