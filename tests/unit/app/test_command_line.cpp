// SPDX-License-Identifier: Apache-2.0
// The values that the command line and the configuration file accept, and the messages for values
// that they refuse.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "app/options/command_line.hpp"
#include "app/options/option_values.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/app/toy_model.hpp"
#include "util/utf8.hpp"

namespace {

using nw::test::ToyModel;

struct Program {
    ToyModel model;
    nw::Settings settings;
    nw::OptionTable table{settings, model};

    void read(const std::vector<std::string>& arguments) {
        nw::read_command_line(arguments, table, settings);
    }
};

// The error message for these arguments; empty if they are accepted.
std::string complaint(const std::vector<std::string>& arguments) {
    Program program;
    try {
        program.read(arguments);
    } catch (const nw::SetupError& error) {
        return error.what();
    }
    return "";
}

class TemporaryFile {
  public:
    explicit TemporaryFile(const std::string& text)
        : path_(std::filesystem::temp_directory_path() /
                ("numawarp-test-" + std::to_string(getpid()) + ".toml")) {
        std::ofstream(path_) << text;
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

}  // namespace

TEST_CASE("command line: without arguments all settings have their defaults") {
    Program program;
    program.read({});
    CHECK(program.settings.config.engine == nw::EngineKind::automatic);
    CHECK(program.settings.config.seed == 1);
    CHECK(program.settings.config.workers == 0);
    CHECK_FALSE(program.settings.config.until.has_value());
    CHECK_FALSE(program.settings.config.rollback.has_value());
    CHECK(program.settings.config.window_mode == nw::WindowMode::automatic);
    CHECK(program.settings.config.pin);
    CHECK_FALSE(program.settings.quiet);
    CHECK(program.model.mean == 1.5);
}

TEST_CASE("command line: every option changes its setting") {
    Program program;
    program.read({"--engine",
                  "conservative",
                  "--workers=8",
                  "--until",
                  "7200",
                  "--seed",
                  "42",
                  "--rollback",
                  "reverse",
                  "--window",
                  "0.5",
                  "--memory",
                  "libc",
                  "--huge-pages",
                  "off",
                  "--pin",
                  "off",
                  "--memory-cap",
                  "1.5G",
                  "--stats",
                  "s.json",
                  "--output",
                  "out",
                  "--progress",
                  "on",
                  "--quiet",
                  "--verbose",
                  "--check-rollback",
                  "0.25",
                  "--gvt-interval",
                  "2.5",
                  "--state-saving-interval",
                  "16",
                  "--lps-per-group",
                  "4"});
    const nw::Config& config = program.settings.config;
    CHECK(config.engine == nw::EngineKind::conservative);
    CHECK(config.workers == 8);
    CHECK(config.until == 7200.0);
    CHECK(config.seed == 42);
    CHECK(config.rollback == nw::Rollback::reverse);
    CHECK(config.window_mode == nw::WindowMode::fixed);
    CHECK(config.window == 0.5);
    CHECK(config.memory == nw::MemoryMode::libc);
    CHECK(config.huge_pages == nw::HugePages::off);
    CHECK_FALSE(config.pin);
    CHECK(config.memory_cap_bytes == 3u << 29);
    CHECK(config.output_directory == "out");
    CHECK(config.check_rollback == 0.25);
    CHECK(config.gvt_interval_ms == 2.5);
    CHECK(config.gvt_interval_events == 0);
    CHECK(config.state_saving_interval == 16);
    CHECK(config.lps_per_group == 4);
    CHECK(program.settings.stats_file == "s.json");
    CHECK(program.settings.progress == nw::ProgressMode::on);
    CHECK(program.settings.quiet);
    CHECK(program.settings.verbose);
}

TEST_CASE("command line: words such as off and auto are accepted instead of numbers") {
    Program program;
    program.read({"--window", "off", "--state-saving-interval", "auto", "--lps-per-group", "auto",
                  "--gvt-interval", "500ev"});
    CHECK(program.settings.config.window_mode == nw::WindowMode::off);
    CHECK(program.settings.config.state_saving_interval == 0);
    CHECK(program.settings.config.lps_per_group == 0);
    CHECK(program.settings.config.gvt_interval_events == 500);
    CHECK(program.settings.config.gvt_interval_ms > 60'000);
    CHECK(program.table.find("gvt-interval")->value() == "500ev");
    program.read({"--gvt-interval", "auto"});
    CHECK(program.settings.config.gvt_interval_ms == 1);
    CHECK(program.table.find("gvt-interval")->value() == "auto");
}

TEST_CASE("command line: options of the model change the model") {
    Program program;
    program.read({"--share", "1", "--speed", "130.5", "--trucks", "1", "--lanes", "3"});
    CHECK(program.model.share == 1);
    CHECK(program.model.speed == 130.5);
    CHECK(program.model.trucks == 1);
    CHECK(program.model.lanes == 3);
    CHECK(program.table.find("lanes")->value() == 3);
    program.read({"--mean", "-2.5", "--cars", "9", "--distance", "18446744073709551615",
                  "--network", "a=b --c", "--accidents", "--day", "sunday"});
    CHECK(program.model.mean == -2.5);
    CHECK(program.model.cars == 9);
    CHECK(program.model.distance == 18446744073709551615u);
    CHECK(program.model.network == "a=b --c");
    CHECK(program.model.accidents);
    CHECK(program.model.day == "sunday");
}

TEST_CASE("command line: if an option is given twice, the last value is valid") {
    Program program;
    program.read({"--workers", "1", "--workers", "3", "--accidents", "--accidents=off"});
    CHECK(program.settings.config.workers == 3);
    CHECK_FALSE(program.model.accidents);
}

TEST_CASE("command line: a refusal names the option and its value and the allowed values") {
    struct Row {
        std::vector<std::string> arguments;
        std::string message;
    };
    const std::string above_zero = "must be a number above 0, and finite";
    const std::vector<Row> rows = {
        {{"--workers", "0"}, "--workers 0: must be a whole number from 1 to 4096"},
        {{"--workers", "4097"}, "--workers 4097: must be a whole number from 1 to 4096"},
        {{"--workers", "two"}, "--workers two: must be a whole number from 1 to 4096"},
        {{"--workers", "1.5"}, "--workers 1.5: must be a whole number from 1 to 4096"},
        {{"--workers", "2 "}, "--workers 2 : must be a whole number from 1 to 4096"},
        {{"--workers"}, "--workers: value is missing; allowed: N"},
        {{"--workers="}, "--workers: value is missing; allowed: N"},
        {{"--until", "-5"}, "--until -5: " + above_zero},
        {{"--until", "0"}, "--until 0: " + above_zero},
        {{"--until", "nan"}, "--until nan: " + above_zero},
        {{"--until", "-inf"}, "--until -inf: " + above_zero},
        {{"--until", "1e999"}, "--until 1e999: " + above_zero},
        {{"--seed", "-1"}, "--seed -1: must be a whole number from 0 to 18446744073709551615"},
        {{"--engine", "fast"}, "--engine fast: must be sequential, conservative, timewarp or auto"},
        {{"--rollback", "x"}, "--rollback x: must be snapshot, copy or reverse"},
        {{"--window", "-1"}, "--window -1: " + above_zero + "; or auto; or off"},
        {{"--gvt-interval", "0"},
         "--gvt-interval 0: must be a number above 0, up to 60000; or a number of events per "
         "worker, as in 2000ev; or auto"},
        {{"--gvt-interval", "0ev"},
         "--gvt-interval 0ev: must be a whole number from 1 to 1000000000"},
        {{"--state-saving-interval", "0"},
         "--state-saving-interval 0: must be a whole number from 1 to 1000000000; or auto"},
        {{"--check-rollback", "1.1"}, "--check-rollback 1.1: must be a number from 0 to 1"},
        {{"--check-rebind", "-0.1"}, "--check-rebind -0.1: must be a number from 0 to 1"},
        {{"--rebind", "0"}, "--rebind 0: must be a number above 0, up to 86400; or off"},
        {{"--pagemigd", "65@1"},
         "--pagemigd 65@1: must be THREADS@SECONDS, as in 2@5, with THREADS from 1 to 64 and "
         "SECONDS above 0, up to 86400; or auto; or off"},
        {{"--watchdog", "0"}, "--watchdog 0: must be a number above 0, up to 1000000000; or off"},
        {{"--pin", "true"}, "--pin true: must be on or off"},
        {{"--memory-cap", "8X"},
         "--memory-cap 8X: must be a number of bytes, at least 1048576, as in 8G, 512M or "
         "8589934592"},
        {{"--quiet=maybe"}, "--quiet maybe: must be on or off"},
        {{"--wrokers", "3"}, "--wrokers: unknown option; did you mean --workers?"},
        {{"--check-rollbck=1"}, "--check-rollbck: unknown option; did you mean --check-rollback?"},
        {{"--zzz"}, "--zzz: unknown option; --help lists the options"},
        {{"-w", "3"}, "-w: unknown option; --help lists the options"},
        {{"3"}, "3: unexpected argument; options begin with --"},
        {{"--mean", "inf"}, "--mean inf: must be a finite number"},
        {{"--cars", "4294967296"},
         "--cars 4294967296: must be a whole number from 0 to 4294967295"},
        {{"--day", "friday"}, "--day friday: must be monday or sunday"},
        {{"--lanes", "4"}, "--lanes 4: must be 1, 2 or 3"},
        {{"--lanes", "1.0"}, "--lanes 1.0: must be 1, 2 or 3"},
        {{"--share", "-0.1"}, "--share -0.1: must be a number from 0 to 1"},
        {{"--share", "nan"}, "--share nan: must be a number from 0 to 1"},
        {{"--speed", "0"}, "--speed 0: must be a number above 0 and below 300"},
        {{"--speed", "300"}, "--speed 300: must be a number above 0 and below 300"},
        {{"--trucks", "0"}, "--trucks 0: must be a whole number from 1 to 4294967295"},
        {{"--trucks", "-1"}, "--trucks -1: must be a whole number from 1 to 4294967295"},
        {{"--config", "/nonexistent/a.toml"},
         "--config /nonexistent/a.toml: must be a TOML file that can be read: No such "
         "file or directory"},
    };
    for (const Row& row : rows) CHECK(complaint(row.arguments) == row.message);
}

TEST_CASE("command line: --pagemigd accepts threads and period or a word") {
    Program program;
    const nw::PagemigdOptions& pagemigd = program.settings.config.pagemigd;
    CHECK(pagemigd.automatic);
    program.read({"--pagemigd", "16@0.5"});
    CHECK_FALSE(pagemigd.automatic);
    CHECK(pagemigd.threads == 16);
    CHECK(pagemigd.period_seconds == 0.5);
    CHECK(program.table.find("pagemigd")->value() == "16@0.5");
    program.read({"--pagemigd", "off"});
    CHECK_FALSE(pagemigd.automatic);
    CHECK(pagemigd.threads == 0);
    CHECK(program.table.find("pagemigd")->value() == "off");
    program.read({"--pagemigd", "auto"});
    CHECK(pagemigd.automatic);
    CHECK(program.table.find("pagemigd")->value() == "auto");
    for (const char* wrong : {"", "2", "@", "2@", "@5", "0@5", "65@5", "-1@5", "2@0", "2@-1",
                              "2@nan", "2@inf", "2@1e9", "1.5@5", "2@5@6", "2 @5", "on"})
        CHECK_THROWS_AS(program.table.find("pagemigd")->set(wrong), nw::InvalidValue);
    CHECK(pagemigd.automatic);
}

TEST_CASE("command line: --rebind accepts a period or off and --check-rebind accepts a share") {
    Program program;
    const nw::Config& config = program.settings.config;
    program.read({"--rebind", "0.25", "--check-rebind", "0.5"});
    CHECK(config.rebind_seconds == 0.25);
    CHECK(config.check_rebind == 0.5);
    program.read({"--rebind", "off"});
    CHECK(config.rebind_seconds == 0);
    CHECK(program.table.find("rebind")->value() == "off");
}

TEST_CASE("command line: --help and --version have priority over all other arguments") {
    Program program;
    program.read({"--wrokers", "--help"});
    CHECK(program.settings.help);
    const std::string help = nw::help_text(program.model, program.table);
    for (const char* heading : {"Engine:", "Time Warp:", "Memory:", "Output:", "Model: toy:"})
        CHECK(help.find(heading) != std::string::npos);
    for (const nw::OptionSpec& spec : program.table.specs())
        CHECK(help.find("--" + spec.name) != std::string::npos);
    for (const char* allowed : {"(from 0 to 1)", "(above 0 and below 300)", "(from 1 up)"})
        CHECK(help.find(allowed) != std::string::npos);
    CHECK(nw::version_text(program.model).substr(0, 14) == "toy (numawarp ");
}

TEST_CASE("configuration file: keys equal option names and the command line has priority") {
    const TemporaryFile file(
        "workers = 2\nuntil = 7200\nseed = 9\npin = false\nquiet = true\n"
        "window = \"off\"\nmean = 2.5\nday = \"sunday\"\nlanes = 1\n");
    Program program;
    program.read({"--seed", "10", "--config", file.path()});
    CHECK(program.settings.config.workers == 2);
    CHECK(program.settings.config.until == 7200.0);
    CHECK(program.settings.config.seed == 10);
    CHECK_FALSE(program.settings.config.pin);
    CHECK(program.settings.quiet);
    CHECK(program.settings.config.window_mode == nw::WindowMode::off);
    CHECK(program.model.mean == 2.5);
    CHECK(program.model.day == "sunday");
    CHECK(program.model.lanes == 1);
}

TEST_CASE("configuration file: a refusal names the file and the key") {
    const std::vector<std::pair<std::string, std::string>> rows = {
        {"workers = 0\n", "workers = 0: must be a whole number from 1 to 4096"},
        {"until = nan\n", "until = nan: must be a number above 0, and finite"},
        {"until = -1\n", "until = -1: must be a number above 0, and finite"},
        {"share = 2\n", "share = 2: must be a number from 0 to 1"},
        {"wrokers = 1\n", "wrokers: unknown key; did you mean workers?"},
        {"help = true\n", "help: unknown key"},
        {"config = \"b.toml\"\n", "config: unknown key"},
        {"workers = [1, 2]\n", "workers: must be a number, a string, true or false"},
        {"[engine]\nworkers = 1\n", "engine: must be a number, a string, true or false"},
    };
    for (const auto& [text, message] : rows) {
        const TemporaryFile file(text);
        CHECK(complaint({"--config", file.path()}) == file.path() + ": " + message);
    }
    const TemporaryFile broken("seed = 1\nworkers = = 2\n");
    CHECK(complaint({"--config", broken.path()}).find(broken.path() + ": line 2: ") == 0);
}

TEST_CASE("command line: flags of the model and of the engine can be switched off again") {
    struct Row {
        std::vector<std::string> arguments;
        bool value;
    };
    const std::vector<Row> rows = {{{"--accidents"}, true},
                                   {{"--accidents", "on"}, true},
                                   {{"--accidents", "off"}, false},
                                   {{"--accidents", "--accidents=off"}, false},
                                   {{"--accidents=off", "--accidents"}, true}};
    for (const Row& row : rows) {
        Program program;
        program.read(row.arguments);
        CHECK(program.model.accidents == row.value);
        std::vector<std::string> ours = row.arguments;
        for (std::string& text : ours)
            if (text.starts_with("--accidents")) text.replace(2, 9, "quiet");
        program.read(ours);
        CHECK(program.settings.quiet == row.value);
    }
    CHECK(complaint({"--accidents", "off", "off"}) ==
          "off: unexpected argument; options begin with --");
    CHECK(complaint({"--accidents="}) == "--accidents: value is missing; allowed: on|off");
}

TEST_CASE("command line: options from the command line and from the file are recorded as given") {
    const TemporaryFile file("seed = 9\n");
    Program program;
    program.read({"--workers", "2", "--config", file.path(), "--quiet", "off"});
    CHECK(program.settings.given ==
          std::set<std::string, std::less<>>{"config", "quiet", "seed", "workers"});
}

TEST_CASE("idle options: a given option without effect is reported with the reason") {
    using Lines = std::vector<std::string>;
    const auto notices = [](const std::vector<std::string>& arguments, nw::RunShape shape) {
        Program program;
        program.read(arguments);
        return program.table.idle_notices(shape);
    };
    const nw::RunShape four{nw::Rollback::snapshot, 4};
    CHECK(notices({"--window", "5", "--workers", "4"}, four) == Lines{});
    CHECK(notices({"--engine", "sequential"}, four) == Lines{});
    CHECK(notices({"--engine", "sequential", "--window", "off", "--workers", "1"}, four) ==
          Lines{});
    CHECK(notices({"--engine", "sequential", "--window", "5", "--workers", "2"}, four) ==
          Lines{"--workers 2: has no effect with --engine sequential",
                "--window 5: has no effect with --engine sequential"});
    CHECK(notices({"--engine", "sequential", "--check-interrupt", "0.5"}, four) ==
          Lines{"--check-interrupt 0.5: has no effect with --engine sequential"});
    CHECK(notices({"--engine", "sequential", "--check-interrupt", "0"}, four) == Lines{});
    CHECK(notices({"--state-saving-interval", "7"}, {nw::Rollback::reverse, 4}) ==
          Lines{"--state-saving-interval 7: has no effect with rollback by reverse"});
    CHECK(notices({"--rebind", "1"}, {nw::Rollback::snapshot, 1}) ==
          Lines{"--rebind 1: has no effect with one worker"});
    CHECK(notices({"--rebind-ranks", "on"}, four) ==
          Lines{"--rebind-ranks on: has no effect with one rank"});
    CHECK(notices({"--rebind-ranks", "on"}, {nw::Rollback::snapshot, 4, 2}) == Lines{});
    CHECK(notices({"--rebind-ranks", "on", "--rebind", "off"}, {nw::Rollback::snapshot, 4, 2}) ==
          Lines{"--rebind-ranks on: has no effect with --rebind off"});
    CHECK(notices({"--rebind-policy", "knapsack"}, four) == Lines{});
    CHECK(notices({"--rebind-policy", "knapsack", "--rebind", "off"}, four) ==
          Lines{"--rebind-policy knapsack: has no effect with --rebind off"});
    CHECK(notices({"--rebind-policy", "root-sim", "--check-rebind", "0.5"}, four) ==
          Lines{"--rebind-policy root-sim: has no effect with --check-rebind"});
    CHECK(notices({"--libc-builder", "owners", "--memory", "libc"}, four) == Lines{});
    CHECK(notices({"--libc-builder", "owners"}, four) ==
          Lines{"--libc-builder owners: has no effect with --memory numa"});
    CHECK(notices({"--keep-safe-events", "on"}, {nw::Rollback::snapshot, 4, 1, true}) ==
          Lines{"--keep-safe-events on: has no effect with a model with can_end() on several "
                "workers, which always keeps this data"});
    CHECK(notices({"--keep-safe-events", "on"}, four) == Lines{});
    CHECK(notices({"--rebind", "2"}, {nw::Rollback::snapshot, 4, 1, false, true}) ==
          Lines{"--rebind 2: has no effect with the conservative engine, which --engine auto has "
                "chosen"});
    CHECK(notices({"--quiet", "--verbose"}, four) ==
          Lines{"--verbose on: has no effect with --quiet"});
}

TEST_CASE("as_utf8: escapes exactly the bytes that are not UTF-8") {
    const std::pair<const char*, const char*> rows[] = {
        {"", ""},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\x97", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\x97"},
        {"caf\xe9", "caf\\xe9"},
        {"\xc3", "\\xc3"},
        {"\xc0\x80", "\\xc0\\x80"},
        {"\xe0\x80\x80", "\\xe0\\x80\\x80"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xf0\x80\x80\x80", "\\xf0\\x80\\x80\\x80"},
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},
        {"\xe2\x82", "\\xe2\\x82"}};
    for (const auto& [text, wanted] : rows) {
        CHECK(nw::as_utf8(text) == wanted);
        CHECK_NOTHROW(nlohmann::json(nw::as_utf8(text)).dump());
    }
}

TEST_CASE("range: the text of a range describes its values") {
    struct Row {
        nw::Range range;
        std::string text;
        std::vector<double> inside, outside;
    };
    constexpr double infinity = nw::time_infinity;
    const std::vector<Row> rows = {{{}, "", {-1e300, 0, 1e300}, {}},
                                   {nw::from(1), "from 1 up", {1, 1e300}, {0.999}},
                                   {nw::above(0), "above 0", {1e-300, 1e300}, {0, -0.0, -1}},
                                   {nw::from(0).to(1), "from 0 to 1", {0, 1}, {-0.001, 1.001}},
                                   {nw::above(0).to(1), "above 0, up to 1", {0.5, 1}, {0, 1.001}},
                                   {nw::from(0).below(1), "from 0 to below 1", {0, 0.999}, {-1, 1}},
                                   {nw::above(0).below(1), "above 0 and below 1", {0.5}, {0, 1}},
                                   {nw::Range{}.to(5), "up to 5", {-1e300, 5}, {5.1}},
                                   {nw::Range{}.below(5), "below 5", {-1e300, 4.9}, {5}}};
    for (const Row& row : rows) {
        INFO(row.text);
        CHECK(row.range.text() == row.text);
        for (const double value : row.inside) CHECK(row.range.contains(value));
        for (const double value : row.outside) CHECK_FALSE(row.range.contains(value));
        for (const double value : {infinity, -infinity, std::nan("")})
            CHECK_FALSE(row.range.contains(value));
    }
}

TEST_CASE("require: the message names the option and its value and the rule") {
    CHECK_NOTHROW(nw::require(true, "mean", 0, "must be above 0"));
    CHECK_THROWS_WITH(nw::require(false, "mean", 0, "must be above 0"),
                      "--mean 0: must be above 0");
    CHECK_THROWS_WITH(nw::require(false, "cars", 4'294'967'295, "must be even"),
                      "--cars 4294967295: must be even");
}

TEST_CASE("option table: an option of the model with the name of an engine option is refused") {
    class Clash final : public nw::Model {
      public:
        Clash() : Model("clash", "") {}
        void options(nw::Options& options) override { options.add("seed", seed, ""); }
        nw::Setup setup() override { return {}; }
        double seed = 0;
    };
    Clash model;
    nw::Settings settings;
    CHECK_THROWS_AS(nw::OptionTable(settings, model), nw::SetupError);
}
