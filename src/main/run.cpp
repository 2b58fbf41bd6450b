// nw::run: from the command line to the exit code. The one place that prints errors and decides what
// the process ends with.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "base/check.hpp"
#include "engine/simulation.hpp"
#include "main/command_line.hpp"
#include "main/output_files.hpp"
#include "main/progress.hpp"
#include "main/report.hpp"
#include "main/setup_rules.hpp"
#include "main/signals.hpp"
#include "main/statistics.hpp"

namespace nw {

namespace {

enum ExitCode : int {
    exit_done = 0,
    exit_internal_error = 1,
    exit_wrong_setup = 2,
    exit_model_error = 3,
    exit_machine_error = 4,
    exit_signal_base = 128,  // plus the signal's number, as shells have it
};

// One line, whatever stands in a file's name or in an exception of the model's.
int fail(ExitCode code, std::string message) {
    std::replace_if(
        message.begin(), message.end(),
        [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
    fmt::print(stderr, "numawarp: {}\n", message);
    return code;
}

RunResult simulate_with_progress(Model& model, const Setup& setup, const Settings& settings,
                                 const StopSignals& signals) {
    LiveProgress live;
    live.warn = [](const std::string& line) { fmt::print(stderr, "numawarp: {}\n", line); };
    const PlacementSignal placement_signal(live);
    const ProgressLine line(settings.quiet ? ProgressMode::off : settings.progress,
                            settings.config.until.value_or(setup.until), live);
    return simulate(model, setup, settings.config, live, signals.received());
}

int run_model(const std::vector<std::string>& arguments, Model& model) {
    Settings settings;
    const OptionTable table(settings, model);
    read_command_line(arguments, table, settings);
    if (settings.help || settings.version) {
        fmt::print("{}", settings.help ? help_text(model, table) : version_text(model));
        return exit_done;
    }

    const Setup setup = model.setup();
    check_setup(model, setup, settings.config);
    if (!settings.config.output_directory.empty())
        prepare_output_directory(settings.config.output_directory);
    WholeFile stats_file("stats", settings.stats_file);

    const StopSignals signals;
    const RunResult result = simulate_with_progress(model, setup, settings, signals);
    const bool interrupted = result.reason == EndReason::interrupted;
    if (!interrupted)
        model.finished({.end_time = result.end_time,
                        .committed_events = result.totals[Counter::committed_events],
                        .output_directory = settings.config.output_directory});

    const RunFacts facts{model, settings, table, result};
    stats_file.write(statistics_json(facts));
    if (!settings.quiet) fmt::print("{}", report_text(facts));
    return interrupted ? exit_signal_base + result.signal : exit_done;
}

}  // namespace

int run(int argc, char** argv, Model& model) {
    try {
        return run_model(std::vector<std::string>(argv + std::min(argc, 1), argv + argc), model);
    } catch (const SetupError& error) {
        return fail(exit_wrong_setup, error.what());
    } catch (const ModelError& error) {
        return fail(exit_model_error, error.what());
    } catch (const MachineError& error) {
        return fail(exit_machine_error, error.what());
    } catch (const std::bad_alloc&) {
        return fail(exit_machine_error, "out of memory");
    } catch (const InternalError& error) {
        return fail(exit_internal_error, fmt::format("internal error: {}", error.what()));
    } catch (const std::exception& error) {
        return fail(exit_internal_error, fmt::format("unexpected error: {}", error.what()));
    } catch (...) {
        return fail(exit_internal_error, "unexpected error of unknown kind");
    }
}

}  // namespace nw
