// Runs of a model's program in processes of its own, alone or on several MPI ranks: what the bench
// cannot do in its own process. Started as a user starts them, by jobs/lib/launch.py.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace nw::bench {

class Launched {
  public:
    // `launcher`: the script; empty: ranks cannot be started. Programs lie in `folder`.
    Launched(std::string launcher, std::string folder);
    ~Launched();

    bool can_start_ranks() const noexcept { return !launcher_.empty(); }

    // The statistics (--stats) of `program` with `options`, on so many ranks with so many workers;
    // one rank is started without MPI. Throws std::runtime_error with what it said if it fails.
    nlohmann::json run(const std::string& program, std::uint32_t ranks, std::uint32_t workers,
                       const std::string& options) const;

  private:
    std::string launcher_;
    std::string folder_;
    std::string scratch_;  // a folder of our own
};

}  // namespace nw::bench
