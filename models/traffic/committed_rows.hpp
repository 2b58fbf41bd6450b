// SPDX-License-Identifier: Apache-2.0
// Reads the rows that the run committed to its CSV file. The picture is drawn from these rows,
// because the state of an LP can be speculative during the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traffic {

struct RoadRow {
    double time_s = 0;  // end of the interval
    std::uint64_t inside = 0;
    std::uint64_t entered = 0;    // since the start
    std::uint64_t left = 0;       // since the start
    std::uint64_t accidents = 0;  // since the start
    bool blocked = false;         // by an accident, at time_s
    double density = 0;           // cars per km, both carriageways, mean over the interval
    std::optional<double> speed;  // km/h, mean over the interval; none if there was no car
};

// Returns the last row of each object, indexed by the object's number. Empty if the file has no
// row. `accidents` is the sum over all rows of the object. Throws std::runtime_error if the file
// cannot be read, lacks a column, or has an incomplete row.
std::vector<RoadRow> last_rows(const std::string& csv_file);

}  // namespace traffic
