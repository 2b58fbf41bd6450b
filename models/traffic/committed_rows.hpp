// Reads back the rows that the run committed to its CSV file: the picture is drawn from what the
// user gets, not from states that may still have been speculative.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traffic {

struct RoadRow {
    double time_s = 0;  // when the interval ended
    std::uint64_t inside = 0;
    std::uint64_t entered = 0;    // since the start
    std::uint64_t left = 0;       // since the start
    std::uint64_t accidents = 0;  // since the start
    bool blocked = false;         // by an accident, at time_s
    double density = 0;           // cars per km, both carriageways, mean over the interval
    std::optional<double> speed;  // km/h, mean over the interval; none if nobody was there
};

// The last row of every object, by its number; empty if the run was too short for a row.
// Throws std::runtime_error if the file cannot be read or is not ours.
std::vector<RoadRow> last_rows(const std::string& csv_file);

}  // namespace traffic
