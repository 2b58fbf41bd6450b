// SPDX-License-Identifier: Apache-2.0
// Options of the engine that have no effect in a run because of other choices. If the user has
// given such an option, a notice reports this. The statistics do not list the option as in force.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/options/option_table.hpp"
#include "plan/config.hpp"

namespace nw {

// Facts that decide which options are idle: chosen by the user, or by the engine.
struct RunShape {
    Rollback rollback = Rollback::snapshot;
    std::uint64_t workers = 1;  // on all ranks
    std::uint64_t ranks = 1;
    bool commits_late = false;  // a model with can_end() on several workers
    // --engine auto has chosen the conservative engine, without a trial of Time Warp.
    bool is_conservative = false;
};

// The name of an option and the reason why it has no effect.
struct IdleOption {
    std::string name;
    std::string why;
};
std::vector<IdleOption> idle_options(const Settings& settings, const RunShape& shape);

// Returns an option that has an effect only in Time Warp and to which the user has given another
// value than its default, as "--window off"; empty: there is none. Used for --engine auto.
std::string option_for_timewarp(const Settings& settings, const OptionTable& table);

// Returns one line for each idle option that the user has given. An option whose value asks for the
// behavior that the run has anyway gets no line.
std::vector<std::string> idle_notices(const Settings& settings, const OptionTable& table,
                                      const RunShape& shape);

}  // namespace nw
