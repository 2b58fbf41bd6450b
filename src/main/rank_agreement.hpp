// Before a run on several ranks: all of them could set it up, and have set up the same. What one of them
// complains of, all learn, and one says it; ranks with different programs, options or seeds would
// simulate different things and never notice.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "net/rank_group.hpp"

namespace nw {

// A name and its value; the same names on every rank, if all is well.
using SetupFacts = std::vector<std::pair<std::string, std::string>>;

struct Agreement {
    int exit_code = 0;    // an ExitCode; 0: everything may start
    std::string message;  // else: one line, which the first rank prints
};

// Collective. `exit_code` and `message` are this rank's failure, if it has one.
Agreement agree(RankGroup& ranks, int exit_code, const std::string& message,
                const SetupFacts& facts);

}  // namespace nw
