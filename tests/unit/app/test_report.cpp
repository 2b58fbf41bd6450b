// SPDX-License-Identifier: Apache-2.0
// The report of a finished run: text for people and JSON for programs.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "app/options/options_reference.hpp"
#include "app/report/output_files.hpp"
#include "app/report/report.hpp"
#include "app/report/statistics.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/app/toy_model.hpp"
#include "util/check.hpp"
#include "util/number_text.hpp"

namespace {

using nw::Counter;

// A run of two workers that rolled back a tenth of the executed events.
struct FinishedRun {
    nw::test::ToyModel model;
    nw::Settings settings;
    nw::OptionTable options{settings, model};
    nw::RunResult result;

    FinishedRun() {
        result.until = 10;
        result.end_time = 10;
        result.lps = 4;
        result.groups = 2;
        result.lps_per_group = 2;
        result.wall_seconds = 2;
        result.resident_peak_bytes = 3 << 20;
        for (int core : {0, 5}) {
            nw::WorkerReport worker;
            worker.counters[Counter::committed_events] = 450'000;
            worker.counters[Counter::executed_events] = 500'000;
            worker.counters[Counter::rolled_back_events] = 50'000;
            worker.counters[Counter::rollbacks] = 10'000;
            worker.counters[Counter::gvt_rounds] = 100;
            worker.busy_seconds = 1.5;
            worker.core = core;
            worker.lps = 2;
            result.totals.add(worker.counters);
            result.workers.push_back(worker);
        }
    }

    nw::RunFacts facts() const { return {model, settings, options, result}; }
    nlohmann::json json() const { return nlohmann::json::parse(nw::statistics_json(facts())); }
    std::string report() const { return nw::report_text(facts()); }
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("statistics: all keys of the documented format exist") {
    const nlohmann::json json = FinishedRun().json();
    for (const char* key : {"schema",
                            "version",
                            "commit",
                            "model",
                            "engine",
                            "engine_reason",
                            "seed",
                            "ranks",
                            "workers",
                            "lps",
                            "groups",
                            "until",
                            "gvt",
                            "committed_events",
                            "executed_events",
                            "rolled_back_events",
                            "efficiency",
                            "rollbacks",
                            "anti_messages",
                            "gvt_rounds",
                            "wall_seconds",
                            "events_per_second",
                            "digest",
                            "memory",
                            "numa",
                            "mpi",
                            "options",
                            "workers_detail",
                            "end_reason",
                            "notices",
                            "date",
                            "machine",
                            "history",
                            "rollback_lengths",
                            "communication"})
        CHECK(json.contains(key));
    for (const char* key : {"resident_peak_bytes", "segments_bytes", "saved_states_bytes_peak"})
        CHECK(json["memory"].contains(key));
    for (const char* key : {"events_sent", "batches_sent", "bytes_sent"})
        CHECK(json["mpi"].contains(key));
    for (const char* key : {"nodes", "topology", "remote_page_share", "placement", "pages_shared",
                            "pages_moved", "pages_busy", "pages_no_room", "pages_failed",
                            "groups_moved", "rebindings", "pagemigd", "placement_history"})
        CHECK(json["numa"].contains(key));
    for (const char* key :
         {"state", "events", "history", "snapshots", "bottom_halves", "mail_rings"})
        CHECK(json["memory"]["by_kind"].contains(key));
}

TEST_CASE("statistics: the numbers are those of the run") {
    const nlohmann::json json = FinishedRun().json();
    CHECK(json["schema"] == "numawarp.stats/2");
    CHECK(json["model"] == "toy");
    CHECK(json["engine"] == "timewarp");
    CHECK(json["workers"] == 2);
    CHECK(json["committed_events"] == 900'000);
    CHECK(json["efficiency"] == 0.9);
    CHECK(json["events_per_second"] == 450'000.0);
    CHECK(json["digest"] == std::string(32, '0'));
    CHECK(json["workers_detail"].size() == 2);
    CHECK(json["workers_detail"][1]["core"] == 5);
    CHECK(json["workers_detail"][1]["node"].is_null());
    CHECK(json["workers_detail"][1]["committed_events"] == 450'000);
}

TEST_CASE("statistics and report: hardware counts are given in total and per event") {
    FinishedRun run;
    run.result.hardware[nw::HardwareCounter::instructions] = 1'800'000;
    const nlohmann::json hardware = run.json()["hardware"];
    CHECK(hardware["instructions"] == 1'800'000);
    CHECK(hardware["cycles"].is_null());
    CHECK(hardware["an_event"]["instructions"] == 2.0);
    CHECK(hardware["an_event"]["cycles"].is_null());
    CHECK(contains(run.report(), "per event     2 instructions\n"));
    CHECK_FALSE(contains(FinishedRun().report(), "per event"));
}

TEST_CASE("hardware_notices: one notice per reason names all counters with that reason") {
    nw::HardwareCounts counts;
    CHECK(nw::hardware_notices(counts).empty());
    counts.refused = {ENOENT, ENOENT, EACCES};
    const std::vector<std::string> notices = nw::hardware_notices(counts);
    REQUIRE(notices.size() == 2);
    CHECK(contains(notices[0] + notices[1], "instructions, cycles: this machine"));
    CHECK(contains(notices[0] + notices[1], "loads: the kernel does not permit it"));
}

TEST_CASE("statistics: samples and rollback lengths and communication between ranks are reported") {
    FinishedRun run;
    run.result.ranks = 2;
    run.result.history = {{0.5, 3, 100, 130, 20, 7, 1 << 20, 2.5}, {1, 10, 300, 330, 30, 9, 0}};
    for (const std::uint64_t events : {1, 2, 3, 4, 4, 9})
        run.result.of_workers.rollback_lengths.count(events);
    nw::WorkerFigures other;
    other.rollback_lengths.count(2);
    run.result.of_workers += other;
    run.result.communication = {{0, 7}, {5, 0}};
    const nlohmann::json json = run.json();
    CHECK(json["history"][0]["committed_events"] == 100);
    CHECK(json["history"][0]["window"] == 2.5);
    CHECK(json["history"][1]["gvt"] == 10);
    CHECK(json["history"][1]["window"].is_null());
    const nlohmann::json& lengths = json["rollback_lengths"];
    REQUIRE(lengths.size() == 5);
    CHECK(lengths[4]["events_max"] == 16);
    CHECK(lengths[1]["rollbacks"] == 2);
    CHECK(lengths[2]["rollbacks"] == 3);
    CHECK(lengths[3]["rollbacks"] == 0);
    CHECK(json["communication"] == nlohmann::json({{0, 7}, {5, 0}}));
}

TEST_CASE("statistics: the options contain the values in force for the engine and for the model") {
    FinishedRun run;
    run.result.rollback = nw::Rollback::reverse;
    const nlohmann::json options = run.json()["options"];
    CHECK(options["workers"] == 2);
    CHECK(options["until"] == 10);
    CHECK(options["rollback"] == "reverse");
    CHECK(options["lps-per-group"] == 2);
    CHECK(options["window"] == "auto");
    CHECK(options["mean"] == 1.5);
    CHECK(options["day"] == "monday");
    CHECK_FALSE(options.contains("help"));
}

TEST_CASE("statistics: infinite values are null") {
    FinishedRun run;
    run.result.until = nw::time_infinity;
    CHECK(run.json()["until"].is_null());
    CHECK(run.json()["options"]["until"].is_null());
}

namespace {

// FinishedRun on two of three nodes. A quarter of the mail was remote.
struct RunOnNodes : FinishedRun {
    RunOnNodes() {
        const auto gib = std::uint64_t{1} << 30;
        result.numa.nodes = {{nw::NodeId{0}, {0, 1}, 2, 4 * gib, 3 * gib, {10, 20, 30}},
                             {nw::NodeId{1}, {4, 5}, 2, 4 * gib, 2 * gib, {20, 10, 30}},
                             {nw::NodeId{4}, {}, 0, 16 * gib, 16 * gib, {30, 30, 10}}};
        result.workers[0].node = 0;
        result.workers[1].node = 1;
        nw::Placement placement;
        // The kernel reported the node of every tenth of 51,200 pages of state, and of every page
        // of mail.
        placement.kinds[0] = {51'200, 5'120, 5'120, 0, {2'560, 2'560}};
        placement.kinds[2] = {2'000, 2'000, 1'280, 320, {1'280}};
        result.numa.placement = placement;
        result.numa.pages_shared = 0;
        result.numa.history = {{0.5, 7, 1000, 3, 0.25}};
        result.numa.pagemigd = {1, 0.5, {1234, 2, 3, 4, 7, 12, 1'000'000}};
        result.numa.memory = {1 << 20, 2 << 20, 3 << 20, 4 << 20, 5 << 20};
        result.totals[Counter::groups_moved] = 7;
        result.totals[Counter::rebindings] = 1;
    }
};

}  // namespace

TEST_CASE("statistics: nodes and placement and moved pages are reported") {
    const nlohmann::json json = RunOnNodes().json();
    const nlohmann::json& numa = json["numa"];
    CHECK(numa["topology"].size() == 3);
    CHECK(numa["topology"][2]["node"] == 4);
    CHECK(numa["topology"][2]["cpus"].empty());
    CHECK(numa["topology"][1]["distances"] == nlohmann::json({20, 10, 30}));
    CHECK(numa["remote_page_share"] == 320.0 / 6'400);
    CHECK(numa["placement"]["mail"]["remote_share"] == 0.25);
    CHECK(numa["placement"]["state"]["bytes_by_node"] == nlohmann::json({100 << 20, 100 << 20, 0}));
    CHECK(numa["placement"]["engine"]["remote_share"] == 0);
    CHECK(numa["pages_shared"] == 0);
    CHECK(numa["pages_moved"] == 1234);
    CHECK(numa["pages_no_room"] == 3);
    CHECK(numa["groups_moved"] == 7);
    CHECK(numa["rebindings"] == 1);
    CHECK(numa["pagemigd"]["passes"] == 12);
    CHECK(numa["placement_history"][0]["remote_page_share"] == 0.25);
    CHECK(json["memory"]["by_kind"]["history"] == 3 << 20);
}

TEST_CASE("statistics: placement that was not measured is null") {
    const nlohmann::json numa = FinishedRun().json()["numa"];
    CHECK(numa["remote_page_share"].is_null());
    CHECK(numa["placement"].is_null());
    CHECK(numa["pages_shared"].is_null());
    CHECK(numa["pagemigd"]["threads"] == 0);
    CHECK(numa["placement_history"].empty());
}

TEST_CASE("report: several nodes are shown with the pages on them") {
    const std::string report = RunOnNodes().report();
    for (const char* part :
         {"node cores  used workers     memory       free  distances",
          "     1     2     1       1   4.00 GiB   2.00 GiB  20 10 30",
          "     4     0     0       0   16.0 GiB   16.0 GiB  30 30 10",
          "placement     95.0 % local",
          "pagemigd      1,234 pages moved by 1 thread with a period of 500 ms, 1.00 ms busy; 2 "
          "postponed, 3 without room, 4 refused",
          "rebinding     7 groups moved in 1 rebinding\n",
          "state 1.00 MiB, events 2.00 MiB, history 3.00 MiB, snapshots 4.00 MiB, mail 5.00 MiB",
          "remote        0.0 %        0.0 %       25.0 %"})
        CHECK(contains(report, part));
    CHECK(lines_of(report) <= 35);
}

TEST_CASE("report: one node has a table only with --verbose") {
    FinishedRun run;
    run.result.numa.nodes = {{nw::NodeId{0}, {0}, 1, 1 << 30, 1 << 29, {10}}};
    CHECK_FALSE(contains(run.report(), "distances"));
    CHECK_FALSE(contains(run.report(), "placement"));
    CHECK_FALSE(contains(run.report(), "pagemigd"));
    CHECK_FALSE(contains(run.report(), "rebinding"));
    run.settings.verbose = true;
    CHECK(contains(run.report(), "distances"));
}

TEST_CASE("report: about twenty lines contain the main results") {
    const std::string report = FinishedRun().report();
    CHECK(lines_of(report) >= 12);
    CHECK(lines_of(report) <= 25);
    for (const char* part :
         {"toy: the end time was reached", "timewarp, 1 rank x 2 workers, seed 1",
          "4 in 2 groups, rollback by snapshot", "10 of 10", "900,000 committed", "2.00 s",
          "450 k events/s", "90.0 % (1,000,000 executed, 100,000 rolled back)",
          "20,000, of 5.0 events on average; 0 anti-messages", "200 rounds, one in 10.0 ms",
          "3.00 MiB at most", "75.0 %"})
        CHECK(contains(report, part));
}

TEST_CASE("report: other engines do not report rollbacks") {
    FinishedRun run;
    run.result.engine = nw::EngineKind::sequential;
    CHECK_FALSE(contains(run.report(), "rollback"));
}

TEST_CASE("report: a run with --engine auto names the chosen engine and the reason") {
    FinishedRun run;
    CHECK_FALSE(contains(run.report(), "chosen"));
    run.settings.config.engine = nw::EngineKind::automatic;
    run.result.engine = nw::EngineKind::conservative;
    run.result.engine_reason = "workers waited";
    CHECK(contains(run.report(), "engine        conservative, "));
    CHECK(contains(run.report(), "chosen        workers waited\n"));
    CHECK(run.json()["engine"] == "conservative");
    CHECK(run.json()["engine_reason"] == "workers waited");
}

TEST_CASE("report: an interrupted run names the signal and the reached time") {
    FinishedRun run;
    run.result.reason = nw::EndReason::interrupted;
    run.result.end_time = 2.5;
    for (const auto& [signal, name] : {std::pair{SIGINT, "SIGINT"},
                                       {SIGTERM, "SIGTERM"},
                                       {SIGUSR1, "SIGUSR1"},
                                       {SIGHUP, "SIGHUP"}}) {
        run.result.signal = signal;
        CHECK(contains(run.report(), std::string("toy: interrupted by ") + name));
    }
    CHECK(contains(run.report(), "2.5 of 10"));
}

TEST_CASE("report: after a restart the busy share of workers refers to the time of this process") {
    FinishedRun run;
    run.result.saving.restarted_at = 4;
    run.result.wall_seconds_before = 18;
    run.result.wall_seconds = 20;
    CHECK(contains(run.report(), "wall time     20.0 s"));
    CHECK(contains(run.report(), "  75.0 %\n"));
}

TEST_CASE("report: the list of many workers is shortened without --verbose") {
    FinishedRun run;
    run.result.workers.resize(100);
    CHECK(lines_of(run.report()) <= 25);
    CHECK(contains(run.report(), "and 92 more"));
    run.settings.verbose = true;
    CHECK(lines_of(run.report()) > 100);
    CHECK(contains(run.report(), "coasted_events"));
}

TEST_CASE("report: --verbose lists all counters with the names of the statistics") {
    RunOnNodes run;
    CHECK_FALSE(contains(run.report(), "numa.pages_moved"));
    run.settings.verbose = true;
    const std::string report = run.report();
    for (const char* line :
         {"  executed_events                         1,000,000 events     forward executions of",
          "  numa.pages_moved                            1,234 pages      pages that the daemon",
          "  memory.by_kind.history                  3,145,728"})
        CHECK(contains(report, line));
}

TEST_CASE("report: each notice has its own line") {
    FinishedRun run;
    run.result.notices = {"workers are not pinned"};
    CHECK(contains(run.report(), "\n  notice: workers are not pinned\n"));
}

TEST_CASE("numbers as text: three significant digits") {
    CHECK(nw::count_text(0) == "0");
    CHECK(nw::count_text(999) == "999");
    CHECK(nw::count_text(999.6) == "1.00 k");
    CHECK(nw::count_text(12'345'678) == "12.3 M");
    CHECK(nw::bytes_text(1023) == "1023 B");
    CHECK(nw::bytes_text(1536) == "1.50 KiB");
    CHECK(nw::bytes_text(std::uint64_t{1} << 40) == "1.00 TiB");
    CHECK(nw::exact_bytes_text(1536) == "1536 B");
    CHECK(nw::exact_bytes_text(std::uint64_t{6} << 29) == "3 GiB");
    CHECK(nw::mebibytes_text(1.6 * (1 << 20)) == "2 MiB");
    CHECK(nw::duration_text(0.00123) == "1.23 ms");
    CHECK(nw::duration_text(59.6) == "1 min 00 s");
    CHECK(nw::duration_text(3725) == "1 h 02 min");
    CHECK(nw::duration_text(90'000) == "1 day 01 h");
    CHECK(nw::duration_text(176'400) == "2 days 01 h");
    CHECK(nw::plural(1, "page") == "1 page");
    CHECK(nw::plural(1'234, "page") == "1,234 pages");
    CHECK(nw::with_thousands(0) == "0");
    CHECK(nw::with_thousands(1'234'567) == "1,234,567");
    CHECK(nw::with_thousands(123) == "123");
}

TEST_CASE("output files: a file appears only when it is complete") {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("numawarp-" + std::to_string(getpid()));
    nw::prepare_folder("output", (folder / "deep").string());
    const fs::path path = folder / "deep" / "s.json";
    {
        nw::WholeFile file("stats", path.string());
        CHECK_FALSE(fs::exists(path));
        file.write("{}\n");
        CHECK(fs::exists(path));
    }
    fs::remove(path);
    { const nw::WholeFile unwritten("stats", path.string()); }
    CHECK(fs::is_empty(folder / "deep"));
    fs::remove_all(folder);
}

TEST_CASE("output files: a path that cannot be written is refused at the start") {
    for (const char* path : {"/dev/null", "/dev/null/x", "/proc/numawarp"})
        CHECK_THROWS_AS(nw::prepare_folder("output", path), nw::SetupError);
    CHECK_THROWS_AS(nw::WholeFile("stats", "/nonexistent/x.json"), nw::SetupError);
    CHECK_THROWS_AS(nw::WholeFile("stats", "/"), nw::SetupError);
}

TEST_CASE("reference: every option and every counter has a row") {
    nw::Settings settings;
    const std::string options = nw::options_reference();
    const nw::OptionTable table(settings);
    for (const nw::OptionSpec& spec : table.specs()) CHECK(contains(options, "| `--" + spec.name));
    const std::string statistics = nw::statistics_reference();
    for (const nw::FigureInfo& counter : nw::counter_table)
        CHECK(contains(statistics, std::string(counter.name) + "` | "));
}
