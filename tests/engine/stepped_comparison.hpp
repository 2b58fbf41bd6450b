// SPDX-License-Identifier: Apache-2.0
// The reference of a stepped test: the sequential outcome of its case. All ranks together must
// write the same rows as the reference.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/engine/stepped_case.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace nw::test {

inline Outcome sequential_outcome(const SteppedCase& of) {
    Config config = of.config;
    config.engine = EngineKind::sequential;
    config.check_rollback = 0;
    return run_random_model(of.shape, config);
}

// Returns the rows of all files without the header lines. The rows are sorted, because each rank
// writes its own file.
inline std::vector<std::string> sorted_rows(const std::vector<std::string>& files) {
    std::vector<std::string> rows;
    for (const std::string& file : files) {
        std::istringstream lines(file);
        std::string line;
        std::getline(lines, line);
        while (std::getline(lines, line)) rows.push_back(line);
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

// `folders`: the output folders of the ranks. Requires: the run has ended.
inline void check_rows(const std::vector<TemporaryFolder>& folders, const Outcome& reference) {
    std::vector<std::string> events, states;
    for (const TemporaryFolder& folder : folders) {
        events.push_back(folder.read("events.csv"));
        states.push_back(folder.read("states.csv"));
    }
    CHECK((sorted_rows(events) == sorted_rows({reference.events_file})));
    CHECK((sorted_rows(states) == sorted_rows({reference.states_file})));
}

}  // namespace nw::test
