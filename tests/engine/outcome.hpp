// One run, reduced to what must be equal whoever runs the model, and what an engine counted on the
// way.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <numawarp/model.hpp>

#include "engine/simulation.hpp"
#include "tests/engine/random_model.hpp"

namespace nw::test {

// A folder that vanishes with the object.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        static std::atomic<unsigned> count{0};
        path_ = std::filesystem::temp_directory_path() /
                ("numawarp-" + std::to_string(getpid()) + "-" + std::to_string(count++));
        std::filesystem::create_directories(path_);
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string path() const { return path_.string(); }
    std::string read(const std::string& file) const {
        std::ostringstream text;
        text << std::ifstream(path_ / file).rdbuf();
        return text.str();
    }

  private:
    std::filesystem::path path_;
};

struct Outcome {
    std::string digest;
    std::uint64_t committed_events = 0;
    EndReason reason = EndReason::until;
    VirtualTime end_time = 0;
    std::string events_file;  // rows of on_event, of on_end
    std::string states_file;
    std::uint64_t on_commit_events = 0;
    std::uint64_t on_commit_sum = 0;
    Counters counters;
};

inline Outcome run_random_model(const RandomShape& shape, Config config) {
    const TemporaryFolder folder;
    config.output_directory = folder.path();
    RandomModel model(shape);
    const Setup setup = model.setup();
    LiveProgress progress;
    const std::atomic<int> stop_signal{0};
    const RunResult result = simulate(model, setup, config, progress, stop_signal);
    return {result.digest.hex(),
            result.totals[Counter::committed_events],
            result.reason,
            result.end_time,
            folder.read("events.csv"),
            folder.read("states.csv"),
            model.log().events,
            model.log().sum,
            result.totals};
}

}  // namespace nw::test
