// The speed of the engines, as ratios within one run of one program: PHOLD beside a plain sequential
// loop (limit.hpp), one worker beside two, traffic beside its sequential engine, more workers than
// cores, a foreign process on one of the cores, and MPI ranks beside workers. Every row is measured in
// turn, round after round, so that a noisy machine hits all of them; medians over the rounds are
// compared.
//
//     phold_bench [--rounds N] [--sections rows,remote,traffic,crowd,foreign,ranks] [--json FILE]
//                 [--launch jobs/lib/launch.py]

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/version.hpp"
#include "models/phold/phold.hpp"
#include "models/traffic/traffic_model.hpp"
#include "run/simulation.hpp"
#include "tests/bench/launched.hpp"
#include "tests/bench/limit.hpp"
#include "tests/support/set_options.hpp"

namespace nw::bench {
namespace {

constexpr double events_per_run = 1e7;  // about a second: first touches of memory do not decide

struct Shape {
    std::uint32_t lps;
    std::uint32_t events_per_lp;
    double remote;
};
constexpr Shape shapes[] = {{1024, 1, 0.1}, {1024, 16, 0.1}, {65536, 1, 0.1}, {65536, 16, 0.1}};

std::string name_of(const Shape& shape) {
    return fmt::format("{} x {}, {:.0f} % remote", shape.lps, shape.events_per_lp,
                       100 * shape.remote);
}

Config config_of(EngineKind engine, std::uint32_t workers) {
    Config config;
    config.engine = engine;
    config.workers = workers;
    return config;
}

// ns of wall time a committed event.
double run(Model& model, const std::map<std::string, std::string>& options, const Config& config) {
    test::set_options(model, options);
    const Setup setup = model.setup();
    LiveProgress progress;
    const std::atomic<int> no_signal{0};
    const RunResult result = simulate(model, setup, config, progress, no_signal);
    return 1e9 * result.wall_seconds /
           static_cast<double>(result.totals[Counter::committed_events]);
}

double until_of(const Shape& shape) {
    return std::max(8.0, events_per_run / (double(shape.lps) * shape.events_per_lp));
}

double run_phold(const Shape& shape, EngineKind engine, std::uint32_t workers,
                 std::optional<VirtualTime> until = {}) {
    phold::Model model;
    const std::map<std::string, std::string> options = {
        {"lps", std::to_string(shape.lps)},
        {"events-per-lp", std::to_string(shape.events_per_lp)},
        {"remote", fmt::format("{}", shape.remote)},
        {"state", "16"}};
    Config config = config_of(engine, workers);
    config.until = until.value_or(until_of(shape));
    return run(model, options, config);
}

// The statistics of PHOLD in processes of its own.
nlohmann::json launch_phold(const Launched& launched, const Shape& shape, std::uint32_t ranks,
                            std::uint32_t workers) {
    return launched.run("phold", ranks, workers,
                        fmt::format("--lps {} --events-per-lp {} --remote {} --state 16 --until {}",
                                    shape.lps, shape.events_per_lp, shape.remote, until_of(shape)));
}

double launch_phold_ns(const Launched& launched, const Shape& shape, std::uint32_t ranks,
                       std::uint32_t workers) {
    return 1e9 / launch_phold(launched, shape, ranks, workers)["events_per_second"].get<double>();
}

double run_limit(const Shape& shape) {
    Phold phold;
    phold.lps = shape.lps;
    phold.events_per_lp = shape.events_per_lp;
    phold.remote = shape.remote;
    return limit_ns_per_event(phold, static_cast<std::uint64_t>(events_per_run));
}

double run_traffic(EngineKind engine, std::uint32_t workers) {
    traffic::TrafficModel model;
    Config config = config_of(engine, workers);
    config.until = 7200;
    return run(model, {{"objects", "1024"}}, config);
}

std::string machine() {
    std::ifstream cpuinfo("/proc/cpuinfo");
    std::string model = "unknown processor";
    for (std::string line; std::getline(cpuinfo, line);)
        if (line.starts_with("model name")) model = line.substr(line.find(':') + 2);
    return fmt::format("{}, {} CPUs", model, sysconf(_SC_NPROCESSORS_ONLN));
}

// A process that keeps one core busy while it lives.
class ForeignLoad {
  public:
    explicit ForeignLoad(int core) : pid_(fork()) {
        if (pid_ != 0) return;
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        CPU_SET(core, &cpus);
        sched_setaffinity(0, sizeof cpus, &cpus);
        for (;;) __asm__ __volatile__("");
    }
    ~ForeignLoad() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    ForeignLoad(const ForeignLoad&) = delete;
    ForeignLoad& operator=(const ForeignLoad&) = delete;

  private:
    pid_t pid_;
};

struct Median {
    double middle = 0, lowest = 0, highest = 0;
};

class Bench {
  public:
    void add(const std::string& row, const std::string& column, std::function<double()> measure) {
        if (!rows_.contains(row)) order_.push_back(row);
        rows_[row].push_back({column, std::move(measure), {}});
    }

    void measure(int rounds) {
        for (int round = 0; round < rounds; ++round) {
            for (const std::string& row : order_)
                for (Cell& cell : rows_[row]) cell.samples.push_back(cell.measure());
            fmt::print(stderr, "\rround {} of {}", round + 1, rounds);
        }
        fmt::print(stderr, "\r{:24}\r", "");
    }

    Median median(const std::string& row, const std::string& column) const {
        for (const Cell& cell : rows_.at(row)) {
            if (cell.column != column) continue;
            std::vector<double> sorted = cell.samples;
            std::sort(sorted.begin(), sorted.end());
            return {sorted[sorted.size() / 2], sorted.front(), sorted.back()};
        }
        return {};
    }

    // One line a row: medians in ns an event, then `ratio` of two columns and what is wanted of it.
    struct Wanted {
        std::string label, over, under;
        double at_least = 0, at_most = 0;
    };
    using Plan = std::vector<std::pair<std::string, std::vector<Wanted>>>;
    void report(const std::string& row, const std::vector<Wanted>& wanted,
                nlohmann::json& json) const {
        fmt::print("{:30}", row);
        for (const Cell& cell : rows_.at(row)) {
            const Median m = median(row, cell.column);
            fmt::print("  {} {:.1f}", cell.column, m.middle);
            json[row][cell.column] = {
                {"median", m.middle}, {"lowest", m.lowest}, {"highest", m.highest}};
        }
        fmt::print("\n");
        for (const Wanted& want : wanted) {
            const double ratio = median(row, want.over).middle / median(row, want.under).middle;
            const bool reached = want.at_most > 0 ? ratio <= want.at_most : ratio >= want.at_least;
            fmt::print("{:30}  {:34} {:5.2f}  wanted {} {:.2f}  {}\n", "", want.label, ratio,
                       want.at_most > 0 ? "at most " : "at least",
                       want.at_most > 0 ? want.at_most : want.at_least,
                       reached ? "reached" : "MISSED");
            json[row]["ratios"][want.label] = ratio;
        }
    }

  private:
    struct Cell {
        std::string column;
        std::function<double()> measure;
        std::vector<double> samples;
    };
    std::map<std::string, std::vector<Cell>> rows_;
    std::vector<std::string> order_;
};

// Two ranks of one worker beside one rank of two; what a batch carries; more ranks than cores.
void add_ranks(Bench& bench, Bench::Plan& plan, const Launched& launched) {
    if (!launched.can_start_ranks()) {
        fmt::print(stderr, "ranks are not measured without --launch\n");
        return;
    }
    for (const Shape& shape : shapes) {
        const std::string row = "ranks, " + name_of(shape);
        bench.add(row, "timewarp-2",
                  [=, &launched] { return launch_phold_ns(launched, shape, 1, 2); });
        bench.add(row, "ranks-2",
                  [=, &launched] { return launch_phold_ns(launched, shape, 2, 1); });
        plan.push_back({row, {{"share of the two-worker speed", "timewarp-2", "ranks-2", 0.8, 0}}});
    }
    // One run gives the columns of a row; the first measures, the others look.
    const auto stats = std::make_shared<nlohmann::json>();
    for (Shape shape : {shapes[0], shapes[3]}) {
        shape.remote = 0.25;
        const std::string row = "ranks, " + name_of(shape);
        bench.add(row, "events sent", [=, &launched] {
            *stats = launch_phold(launched, shape, 2, 1);
            return (*stats)["mpi"]["events_sent"].get<double>();
        });
        bench.add(row, "batches", [=] { return (*stats)["mpi"]["batches_sent"].get<double>(); });
        plan.push_back({row, {{"events a batch", "events sent", "batches", 8, 0}}});
    }
    const Shape shape = shapes[1];
    const std::string row = "4 ranks on the cores";
    bench.add(row, "timewarp-2", [=, &launched] { return launch_phold_ns(launched, shape, 1, 2); });
    bench.add(row, "ranks-4", [=, &launched] {
        *stats = launch_phold(launched, shape, 4, 1);
        return 1e9 / (*stats)["events_per_second"].get<double>();
    });
    bench.add(row, "GVT rounds a second", [=] {
        return (*stats)["gvt_rounds"].get<double>() / (*stats)["wall_seconds"].get<double>();
    });
    plan.push_back({row, {{"share of the two-worker speed", "timewarp-2", "ranks-4", 0.5, 0}}});
}

int main_of(int argc, char** argv) {
    int rounds = 5;
    const std::vector<std::string> all = {"rows", "remote", "traffic", "crowd", "foreign", "ranks"};
    std::vector<std::string> sections = all;
    std::string json_file, launcher;
    CLI::App app("The speed of numawarp's engines, in ns of wall time a committed event");
    app.add_option("--rounds", rounds, "measurements of everything")->check(CLI::PositiveNumber);
    app.add_option("--sections", sections, "what to measure")
        ->delimiter(',')
        ->check(CLI::IsMember(all));
    app.add_option("--json", json_file, "where to write the figures");
    app.add_option("--launch", launcher, "what starts MPI ranks; without it none are measured");
    CLI11_PARSE(app, argc, argv);
    const auto has = [&](const char* section) {
        return std::find(sections.begin(), sections.end(), section) != sections.end();
    };

    using Kind = EngineKind;
    Bench bench;
    Bench::Plan plan;
    const Launched launched(launcher, std::filesystem::canonical(argv[0]).parent_path());
    if (has("rows")) {
        for (const Shape& shape : shapes) {
            const std::string row = name_of(shape);
            bench.add(row, "limit", [=] { return run_limit(shape); });
            bench.add(row, "sequential", [=] { return run_phold(shape, Kind::sequential, 1); });
            bench.add(row, "timewarp", [=] { return run_phold(shape, Kind::timewarp, 1); });
            bench.add(row, "timewarp-2", [=] { return run_phold(shape, Kind::timewarp, 2); });
            plan.push_back({row,
                            {{"sequential / limit", "sequential", "limit", 0, 2.0},
                             {"timewarp / limit", "timewarp", "limit", 0, 3.5},
                             {"speed-up of a second worker", "timewarp", "timewarp-2", 1.6, 0}}});
        }
    }
    if (has("remote")) {
        for (const double remote : {0.25, 1.0}) {
            for (Shape shape : shapes) {
                shape.remote = remote;
                const std::string row = name_of(shape);
                bench.add(row, "timewarp", [=] { return run_phold(shape, Kind::timewarp, 1); });
                bench.add(row, "timewarp-2", [=] { return run_phold(shape, Kind::timewarp, 2); });
                plan.push_back({row,
                                {{"speed-up of a second worker", "timewarp", "timewarp-2",
                                  remote < 1 ? 1.6 : 1.2, 0}}});
            }
        }
    }
    if (has("traffic")) {
        const std::string row = "traffic, 1024 objects";
        bench.add(row, "sequential", [] { return run_traffic(Kind::sequential, 1); });
        bench.add(row, "timewarp", [] { return run_traffic(Kind::timewarp, 1); });
        bench.add(row, "timewarp-2", [] { return run_traffic(Kind::timewarp, 2); });
        plan.push_back({row, {{"speed-up of two workers", "sequential", "timewarp-2", 1.7, 0}}});
    }
    if (has("crowd")) {
        const Shape shape{1024, 16, 0.1};
        const std::string row = "8 workers on the cores";
        bench.add(row, "timewarp-2", [=] { return run_phold(shape, Kind::timewarp, 2); });
        bench.add(row, "timewarp-8", [=] { return run_phold(shape, Kind::timewarp, 8); });
        plan.push_back(
            {row, {{"share of the two-worker speed", "timewarp-2", "timewarp-8", 0.5, 0}}});
    }
    if (has("foreign")) {
        const Shape shape{1024, 16, 0.1};
        const std::string row = "foreign process on a core";
        bench.add(row, "alone", [=] { return run_phold(shape, Kind::timewarp, 2); });
        bench.add(row, "beside", [=] {
            const ForeignLoad load(1);
            return run_phold(shape, Kind::timewarp, 2);
        });
        plan.push_back({row, {{"share of the speed kept", "alone", "beside", 0.4, 0}}});

        // Few events at a time: workers wait for each other all the time.
        const Shape small{64, 1, 0.5};
        const std::string small_row = "foreign processes on all cores";
        bench.add(small_row, "alone", [=] { return run_phold(small, Kind::timewarp, 2, 20'000); });
        bench.add(small_row, "beside", [=] {
            const ForeignLoad first(0), second(1);
            return run_phold(small, Kind::timewarp, 2, 20'000);
        });
        plan.push_back({small_row, {{"share of the speed kept", "alone", "beside", 0.05, 0}}});
    }

    if (has("ranks")) add_ranks(bench, plan, launched);

    bench.measure(rounds);
    fmt::print("ns of wall time a committed event (or what stands there), medians of {}\n", rounds);
    nlohmann::json json;
    for (const auto& [row, wanted] : plan) bench.report(row, wanted, json["rows"]);
    json["rounds"] = rounds;
    json["machine"] = machine();
    json["compiler"] = "GCC-compatible " __VERSION__;
    json["commit"] = built_commit;
    json["date"] = fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr)));
    if (!json_file.empty()) std::ofstream(json_file) << json.dump(2) << '\n';
    return 0;
}

}  // namespace
}  // namespace nw::bench

int main(int argc, char** argv) { return nw::bench::main_of(argc, argv); }
