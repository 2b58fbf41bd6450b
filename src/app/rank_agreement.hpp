// SPDX-License-Identifier: Apache-2.0
// Agreement of all ranks before a run: every rank has set up the run, and all have set up the same
// run. If a rank failed, all ranks receive its failure, and only the first rank prints it. Without
// this agreement, ranks with different programs, options or seeds would simulate different systems,
// and no error would be reported.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "net/rank_group.hpp"

namespace nw {

// Names and values. The names are the same on every rank, unless the programs differ.
using SetupFacts = std::vector<std::pair<std::string, std::string>>;

struct Agreement {
    int exit_code = 0;    // an ExitCode; 0: the run may begin
    std::string message;  // if exit_code is not 0: one line, which the first rank prints
};

// Collective. `exit_code` and `message` describe this rank's failure. If this rank has not failed,
// they are 0 and empty.
Agreement agree(RankGroup& ranks, int exit_code, const std::string& message,
                const SetupFacts& facts);

}  // namespace nw
