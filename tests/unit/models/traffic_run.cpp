// SPDX-License-Identifier: Apache-2.0
// Executes the whole model on the sequential engine. The tests check the committed rows of the
// model's CSV file.
#include <unistd.h>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

#include "app/simulation/simulation.hpp"
#include "models/traffic/committed_rows.hpp"
#include "models/traffic/map_picture.hpp"
#include "models/traffic/traffic_model.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/set_options.hpp"

namespace {

using nw::test::set_options;
using Options = std::map<std::string, std::string>;

class TemporaryFolder {
  public:
    TemporaryFolder()
        : path_(std::filesystem::temp_directory_path() /
                ("numawarp-traffic-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(path_);
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

using Row = std::map<std::string, std::string>;

std::vector<Row> read_rows(const std::string& file) {
    std::ifstream in(file);
    const auto cells_of = [](const std::string& line) {
        std::vector<std::string> cells(1);
        for (const char c : line) {
            if (c == ',')
                cells.emplace_back();
            else
                cells.back() += c;
        }
        return cells;
    };
    std::string line;
    std::getline(in, line);
    const std::vector<std::string> names = cells_of(line);
    std::vector<Row> rows;
    while (std::getline(in, line)) {
        const std::vector<std::string> cells = cells_of(line);
        REQUIRE(cells.size() == names.size());
        Row row;
        for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
        rows.push_back(row);
    }
    return rows;
}

std::uint64_t count(const Row& row, const char* column) { return std::stoull(row.at(column)); }

struct Run {
    nw::RunResult result;
    std::vector<Row> rows;
};

Run run(traffic::TrafficModel& model, const Options& options, double until,
        const TemporaryFolder& folder) {
    set_options(model, options);
    const nw::Setup setup = model.setup();
    nw::Config config;
    config.engine = nw::EngineKind::sequential;
    config.until = until;
    config.output_directory = folder.path();
    nw::LiveProgress progress;
    const std::atomic<int> stop_signal{0};
    Run run;
    run.result = nw::simulate(model, setup, config, progress, stop_signal);
    run.rows = read_rows(folder.path() + "/roads.csv");
    return run;
}

}  // namespace

TEST_CASE("Traffic: cars in = cars out + cars inside in every row and over the whole network") {
    const TemporaryFolder folder;
    for (const char* objects : {"137", "500"}) {
        INFO(objects << " objects");
        traffic::TrafficModel model;
        // The run takes two and a half hours, so that the last row covers only a part of an hour.
        const Run done = run(model, {{"objects", objects}, {"inter-arrival", "20"}}, 9000, folder);
        REQUIRE(done.rows.size() == 3 * std::stoul(objects));
        struct Sums {
            std::uint64_t entered = 0, left = 0, inside = 0, objects = 0;
        };
        std::map<std::string, Sums> at;
        std::map<std::string, Row> previous;
        for (const Row& row : done.rows) {
            INFO(row.at("object") << " at " << row.at("time_s"));
            CHECK(count(row, "cars_in") == count(row, "cars_out") + count(row, "inside"));
            Sums& sums = at[row.at("time_s")];
            sums.entered += count(row, "entered");
            sums.left += count(row, "left");
            sums.inside += count(row, "inside");
            ++sums.objects;
            Row& before = previous[row.at("lp")];
            const std::uint64_t in_before = before.empty() ? 0 : count(before, "cars_in");
            const std::uint64_t out_before = before.empty() ? 0 : count(before, "cars_out");
            CHECK(count(row, "hour_in") == count(row, "cars_in") - in_before);
            CHECK(count(row, "hour_out") == count(row, "cars_out") - out_before);
            before = row;
        }
        REQUIRE(at.size() == 3);
        for (const auto& [time, sums] : at) {
            INFO("at " << time << " s");
            CHECK(sums.objects == std::stoul(objects));
            CHECK(sums.entered == sums.left + sums.inside);
            CHECK(sums.entered > 5000);
            CHECK(sums.left > 0);
        }
    }
}

TEST_CASE("Traffic: cars enter at the requested rate") {
    const TemporaryFolder folder;
    traffic::TrafficModel model;
    const Run done = run(model, {{"objects", "137"}, {"inter-arrival", "10"}}, 3600, folder);
    double entered = 0;
    for (const Row& row : done.rows) entered += static_cast<double>(count(row, "entered"));
    // There are 62 junctions, and intervals have an Erlang distribution of shape 2. The variance of
    // the number of cars is half of its mean. T/m - 1/4 is the renewal function of a process that
    // starts with a whole interval.
    const double mean = 62 * (3600 / 10.0 - 0.25);
    INFO(entered << " entered, expected " << mean);
    CHECK(std::abs(entered - mean) <= 4 * std::sqrt(mean / 2));
}

TEST_CASE("Traffic: accidents happen only on segments and waiting cars are not lost") {
    const TemporaryFolder folder;
    traffic::TrafficModel model;
    // With a low capacity, a high variance and short accidents, many accidents happen, and end
    // within the run.
    const Run done = run(model,
                         {{"objects", "300"},
                          {"inter-arrival", "30"},
                          {"jam-density", "10"},
                          {"accident-variance", "1"},
                          {"accident-mean", "600"},
                          {"accident-deviation", "100"}},
                         7200, folder);
    std::uint64_t accidents = 0;
    for (const Row& row : done.rows) {
        accidents += count(row, "hour_accidents");
        if (row.at("kind") == "junction") CHECK(count(row, "hour_accidents") == 0);
        CHECK(count(row, "cars_in") == count(row, "cars_out") + count(row, "inside"));
    }
    CHECK(accidents > 5);
}

TEST_CASE("Traffic: by default accidents happen only on a network that is cut into segments") {
    const auto accidents = [](const Options& options) {
        traffic::TrafficModel model;
        set_options(model, options);
        const nw::Setup setup = model.setup();
        CHECK(setup.lps == model.system().plan.size());
        CHECK(setup.lookahead == 1);
        CHECK_FALSE(setup.links.empty());
        return model.system().parameters.accidents;
    };
    CHECK_FALSE(accidents({{"objects", "137"}}));
    CHECK(accidents({}));
    CHECK(accidents({{"objects", "137"}, {"accidents", "on"}}));
    CHECK_FALSE(accidents({{"accidents", "off"}}));
}

TEST_CASE("Traffic: an invalid option is refused in one line with option and value and range") {
    const std::vector<std::pair<const char*, const char*>> wrong = {
        {"inter-arrival", "-1"}, {"inter-arrival", "nan"},     {"erlang-shape", "0"},
        {"speed-mean", "0"},     {"speed-deviation", "-1"},    {"stop-probability", "1"},
        {"stop-mean", "inf"},    {"accident-variance", "0"},   {"accident-mean", "-5"},
        {"jam-density", "0"},    {"slowdown-deviation", "-1"}, {"handover", "-1"},
        {"objects", "136"},      {"objects", "100000"},        {"speed-deviation", "111"},
    };
    for (const auto& [option, value] : wrong) {
        INFO(option << ' ' << value);
        traffic::TrafficModel model;
        try {
            set_options(model, {{option, value}});
            model.setup();
            FAIL("the invalid value was accepted");
        } catch (const nw::SetupError& error) {
            const std::string message = error.what();
            INFO(message);
            CHECK(message.rfind(std::string("--") + option + ' ' + value, 0) == 0);
            CHECK(message.find('\n') == std::string::npos);
        }
    }
}

TEST_CASE("Traffic: a separate car takes one block of 64 bytes, and results do not change") {
    const TemporaryFolder folder;
    struct Figures {
        Run done;
        double bytes = 0, cars = 0;
    };
    const auto figures = [&folder](const char* cars, const char* inter_arrival) {
        traffic::TrafficModel model;
        Figures f{run(model, {{"cars", cars}, {"objects", "137"}, {"inter-arrival", inter_arrival}},
                      1800, folder)};
        f.bytes = static_cast<double>(f.done.result.state_bytes_by_kind.at(0));
        for (const Row& row : f.done.rows) f.cars += static_cast<double>(count(row, "inside"));
        return f;
    };
    const Figures together = figures("together", "10"), separate = figures("separate", "10"),
                  empty_together = figures("together", "1e9"),
                  empty_separate = figures("separate", "1e9");
    CHECK(separate.done.result.digest == together.done.result.digest);
    CHECK(separate.done.rows == together.done.rows);
    REQUIRE(separate.cars > 5000);
    REQUIRE(empty_separate.cars == 0);

    // A car and the two pointers of the list. Cars on a boundary are only numbers, and the lists of
    // these numbers grow with traffic, too.
    static_assert(sizeof(traffic::Car) + 2 * sizeof(void*) == 64);
    const double bytes_per_car = (separate.bytes - empty_separate.bytes) / separate.cars;
    CHECK(std::abs(bytes_per_car - 64) < 2);
    const double bytes_per_car_together = (together.bytes - empty_together.bytes) / together.cars;
    CHECK(bytes_per_car_together < 60);
    // Without cars, a deque has a block of 512 bytes, and a list has no block.
    CHECK(empty_separate.bytes + 137 * 512 < empty_together.bytes);
}

TEST_CASE("Traffic: the picture shows every segment and the virtual time") {
    const TemporaryFolder folder;
    traffic::TrafficModel model;
    const Run done = run(model, {{"objects", "200"}, {"inter-arrival", "60"}}, 5400, folder);
    model.finished({5400, 0, folder.path()});
    std::ifstream in(folder.path() + "/network.svg");
    std::stringstream text;
    text << in.rdbuf();
    const std::string svg = text.str();
    CHECK(svg.rfind("<svg", 0) == 0);
    CHECK(svg.find("</svg>") != std::string::npos);
    CHECK(svg.find("Traffic after 1 h 30 min") != std::string::npos);
    CHECK(svg.find("nan") == std::string::npos);
    std::size_t roads = 0;
    for (std::size_t at = 0; (at = svg.find("class=\"road\"", at)) != std::string::npos; ++at) {
        ++roads;
    }
    CHECK(roads == 200 - 62);
}
