// SPDX-License-Identifier: Apache-2.0
// nw::run: from the command line to the exit code. Only this file prints errors and chooses the
// exit code of the process.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <numawarp/model.hpp>

#include "app/checkpoint_folders.hpp"
#include "app/fingerprint.hpp"
#include "app/model_hooks.hpp"
#include "app/modelcheck/model_check.hpp"
#include "app/options/command_line.hpp"
#include "app/options/setup_rules.hpp"
#include "app/progress.hpp"
#include "app/rank_agreement.hpp"
#include "app/report/output_files.hpp"
#include "app/report/report.hpp"
#include "app/report/statistics.hpp"
#include "app/report/trace_file.hpp"
#include "app/signals.hpp"
#include "app/simulation/simulation.hpp"
#include "app/standard_error.hpp"
#include "app/standard_streams.hpp"
#include "engine/checkpoint/saved_run.hpp"
#include "engine/checkpoint/saved_run_folder.hpp"
#include "memory/handler/float_environment.hpp"
#include "memory/image/metered_thread.hpp"
#include "memory/region/shared_arena.hpp"
#include "mpi/session.hpp"
#include "numa/os/modules.hpp"
#include "numa/os/os.hpp"
#include "results/formats/kept_tables.hpp"
#include "util/check.hpp"
#include "util/exit_codes.hpp"
#include "util/meter_marks.hpp"
#include "util/utf8.hpp"
#include "util/version.hpp"

namespace nw {

namespace {

// Returns one line of valid UTF-8, whatever bytes the message contains (from a file name or from an
// exception of the model).
std::string last_line(std::string_view message) {
    return fmt::format("numawarp: {}", one_line(message));
}

int fail(ExitCode code, std::string_view message) {
    write_to_stderr(last_line(message) + '\n');
    return code;
}

// Prints to standard output. Throws MachineError.
void print(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw MachineError(
            fmt::format("standard output cannot be written: {}", std::strerror(errno)));
}

// Returns an option's value as JSON text. A number has the form of the command line, without ".0".
// Different values have different texts, whatever bytes they contain.
std::string text_of(const nlohmann::json& value) {
    if (value.is_number_float()) return fmt::format("{}", value.get<double>());
    return value.is_string() ? nlohmann::json(as_utf8(value.get<std::string>())).dump()
                             : value.dump();
}

// "64 router, 1024 host"
std::string kinds_text(const Setup& setup) {
    std::string text;
    for (const Kind& kind : setup.lps.all())
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind.count, as_utf8(kind.name));
    return text;
}

// Returns the facts that must be equal on all ranks.
SetupFacts facts_of(const Model& model, const Setup& setup, const OptionTable& table) {
    const Settings& settings = table.settings();
    SetupFacts facts;
    for (const OptionSpec& spec : table.specs())
        if (spec.rules.role.on_ranks == Equal::presence)
            facts.emplace_back("--" + spec.name, spec.is_on() ? "yes" : "no");
    if (settings.help || settings.version) return facts;
    facts.emplace_back("program", program_fingerprint());
    facts.emplace_back("version", std::string(version) + " " + std::string(built_commit));
    facts.emplace_back("model", as_utf8(model.name()));
    facts.emplace_back("LPs", kinds_text(setup));
    const SavedRun* const saved = settings.config.restart_from.get();
    facts.emplace_back("the checkpoint", saved != nullptr ? saved->checksum : "none");
    for (const OptionSpec& spec : table.specs())
        if (spec.rules.role.on_ranks == Equal::value)
            facts.emplace_back("--" + spec.name, text_of(spec.value()));
    // These facts come last, because only ranks that save or restart have facts about libraries.
    if (saved != nullptr || settings.config.save.on())
        for (const LoadedModule& module : settings.config.save.modules)
            facts.emplace_back("the library " + module.name, module.identity);
    return facts;
}

// The identity of the run. A saved run can be continued only by a run with an equal identity.
RunIdentity identity_of(const Model& model, const Setup& setup, const OptionTable& table) {
    // The first difference is reported. Therefore values that the user has given come before values
    // that result from them.
    RunIdentity identity{{"the model", as_utf8(model.name())},
                         {"the program", program_fingerprint()}};
    for (const OptionSpec& spec : table.specs()) {
        if (spec.rules.role.at_restart == Equal::value)
            identity.emplace_back("--" + spec.name, text_of(spec.value()));
        if (spec.rules.role.at_restart == Equal::presence)
            identity.emplace_back("--" + spec.name, spec.is_on() ? "on" : "off");
    }
    const auto add_content = [&](const std::string& name, const std::string& file) {
        std::error_code ignored;
        if (std::filesystem::is_regular_file(file, ignored))
            identity.emplace_back("the content of " + as_utf8(name), file_fingerprint(file));
    };
    for (const OptionSpec& spec : table.model_specs())
        if (spec.value().is_string()) add_content("--" + spec.name, spec.text());
    identity.emplace_back("the part of the command line that the model reads",
                          as_utf8(fmt::format("\"{}\"", fmt::join(setup.own_words, "\" \""))));
    // The name of the file is the part after "=", or the whole word if it has no "=": npos + 1 is
    // 0.
    for (const std::string& word : setup.own_words)
        add_content(word, word.substr(word.find('=') + 1));
    identity.emplace_back("the number of LPs", std::to_string(setup.lps.count()));
    identity.emplace_back("the division into kinds", kinds_text(setup));
    return identity;
}

// A failure as exit code and message.
struct Failure {
    ExitCode code = exit_done;
    std::string message;
};

// Converts the current exception to a Failure. Requires: called while an exception is handled.
Failure current_failure() {
    try {
        throw;
    } catch (const SetupError& error) {
        return {exit_wrong_setup, error.what()};
    } catch (const ModelError& error) {
        return {exit_model_error, error.what()};
    } catch (const MachineError& error) {
        return {exit_machine_error, error.what()};
    } catch (const std::bad_alloc&) {
        return {exit_machine_error, "out of memory"};
    } catch (const std::system_error& error) {
        return {exit_machine_error, error.what()};
    } catch (const InternalError& error) {
        return {exit_internal_error, fmt::format("internal error: {}", error.what())};
    } catch (const std::exception& error) {
        return {exit_internal_error, fmt::format("unexpected error: {}", error.what())};
    } catch (...) {
        return {exit_internal_error, "unexpected error of an unknown type"};
    }
}

// All code that places and moves pages requires pages of `page_bytes`.
void check_kernel_pages(const Config& config) {
    if (config.memory == MemoryMode::libc || kernel_page_bytes() == page_bytes) return;
    throw MachineError(
        fmt::format("this kernel has pages of {} bytes; allowed: a kernel with pages of {} bytes, "
                    "or --memory libc",
                    kernel_page_bytes(), page_bytes));
}

// Prefixes the line with this rank's number if there are several ranks.
std::string of_rank(const RankGroup& ranks, const std::string& line) {
    return ranks.ranks() == 1 ? line : fmt::format("rank {}: {}", index(ranks.rank()), line);
}

// Requires: every message is already printed.
void end_all_ranks(RankGroup& ranks, int exit_code) {
    std::fflush(nullptr);
    ranks.abort(exit_code);
}

// Executes each step, also if earlier steps have failed, and stores the first failure.
class Attempts {
  public:
    template <class Step>
    void make(Step&& step) {
        try {
            step();
        } catch (...) {
            if (!first_failure_) first_failure_ = std::current_exception();
        }
    }
    bool all_well() const noexcept { return !first_failure_; }
    void rethrow_first_failure() const {
        if (first_failure_) std::rethrow_exception(first_failure_);
    }
    // The message of the first failure. Requires: a step has failed.
    std::string first_failure() const {
        try {
            std::rethrow_exception(first_failure_);
        } catch (...) {
            return current_failure().message;
        }
    }

  private:
    std::exception_ptr first_failure_;
};

// Runs one rank, from the command line to the exit code. A failure before all ranks have agreed is
// printed once, by the first rank. A later failure ends all ranks and is printed by the rank that
// failed.
class RankRun {
  public:
    // `signals` is constructed when the run begins, and outlives this object.
    // `modules`: the libraries that the process had loaded at its start.
    RankRun(std::vector<std::string> arguments, std::vector<LoadedModule> modules, Model& model,
            RankGroup& ranks, LiveProgress& live, std::optional<StopSignals>& signals,
            std::span<std::byte> main_variables)
        : main_variables_(main_variables),
          arguments_(std::move(arguments)),
          modules_(std::move(modules)),
          model_(model),
          ranks_(ranks),
          live_(live),
          signals_(signals) {}

    int run() {
        announce_program();
        const MeteredThread metered;
        int code = agreed([&] {
            ranks_.check();
            call_hook(model_, ModelHook::options, 0, [&] { table_.emplace(settings_, model_); });
            read_command_line(arguments_, *table_, settings_);
            if (settings_.check_model_events > 0) prepare_check();
            if (!prints_text_only() && ranks_.is_first())
                restart_lock_ = lock_restart_folder(settings_);
            return SetupFacts{};
        });
        if (code == exit_done && settings_.check_model_events > 0) return check();
        if (code == exit_done)
            code = agreed([&] {
                if (!prints_text_only()) prepare();
                return facts_of(model_, setup_, *table_);
            });
        if (code != exit_done) return code;
        if (prints_text_only()) {
            if (ranks_.is_first())
                print(settings_.help ? help_text(model_, *table_) : version_text(model_));
            return exit_done;
        }
        Failure failure;
        try {
            signals_.emplace(live_, settings_.config.save.on(), ranks_.ranks() == 1);
            LiveProgress& live = live_;
            const PlacementSignal placement_signal(live);
            Simulation simulation(setup_, settings_.config, ranks_);
            code = agreed([&] {
                simulation.plan();
                return SetupFacts{};
            });
            if (code == exit_done)
                code = agreed([&] {
                    make_files();
                    return SetupFacts{};
                });
            return code == exit_done ? simulate_and_report(simulation, live) : code;
        } catch (...) {
            failure = current_failure();
        }
        fail(failure.code, of_rank(ranks_, failure.message));
        end_all_ranks(ranks_, failure.code);
        return failure.code;
    }

  private:
    // Executes a step that all ranks execute, and compares the facts that it returns. Returns the
    // exit code that all ranks have agreed on.
    template <class Step>
    int agreed(Step&& step) {
        Failure failure;
        SetupFacts facts;
        try {
            facts = step();
        } catch (...) {
            failure = current_failure();
        }
        const Agreement agreement = agree(ranks_, failure.code, failure.message, facts);
        if (agreement.exit_code != exit_done && ranks_.is_first())
            fail(ExitCode{agreement.exit_code}, agreement.message);
        return agreement.exit_code;
    }

    KeptTables kept_tables() const {
        return {setup_.outputs, settings_.config.output_directory, *settings_.output_format};
    }

    bool prints_text_only() const { return settings_.help || settings_.version; }

    // Determines whether this process executes one of the runs of --check-model or has to start
    // them.
    void prepare_check() {
        if (ranks_.ranks() > 1)
            throw SetupError(fmt::format(
                "--check-model: not allowed on {} ranks; allowed: one rank", ranks_.ranks()));
        check_run_ = ModelCheckRun::of_environment();
        if (check_run_) check_run_->apply_to(settings_, *table_, model_, main_variables_);
    }

    int check() {
        for (const std::string& notice : table_->idle_notices({}))
            write_to_stderr(last_line(notice) + '\n');
        try {
            return check_model(model_, settings_);
        } catch (...) {
            const Failure failure = current_failure();
            return fail(failure.code, failure.message);
        }
    }

    // All checks that write no files.
    void prepare() {
        call_hook(model_, ModelHook::on_process_start, settings_.config.handler_timeout_seconds,
                  [&] { model_.on_process_start(); });
        {
            std::optional<SharedArena::Filling> filling;
            const Config& config = settings_.config;
            detail::set_seed(model_, config.seed);
            if (config.protect_shared && config.memory == MemoryMode::numa)
                filling.emplace(linux_os());
            call_hook(model_, ModelHook::setup, config.handler_timeout_seconds,
                      [&] { setup_ = model_.setup(); });
        }
        if (!setup_.measures.empty())
            add_measure_tables(setup_.outputs, settings_.config.measure_interval > 0);
        check_setup(model_, setup_, *table_, ranks_.ranks());
        if (const std::string option = table_->option_for_timewarp(); !option.empty())
            settings_.config.needs_timewarp = option + " has an effect only in Time Warp";
        check_kernel_pages(settings_.config);
        // Only a run that saves or restarts needs its identity. Other runs do not compute it,
        // because the computation reads whole files.
        const bool is_long = settings_.config.save.on() || !settings_.restart_directory.empty();
        find_saved_run(settings_, is_long ? identity_of(model_, setup_, *table_) : RunIdentity{},
                       modules_, setup_, ranks_.is_first());
        kept_tables().check();
        settings_.config.trace = !settings_.trace_file.empty();
        check_different_files(kept_tables(), settings_);
        if (ranks_.is_first() && settings_.config.restart_from && !restart_lock_)
            throw SetupError(
                fmt::format("--restart {}: another run has just saved to this folder; allowed: one "
                            "run at a time per folder",
                            settings_.restart_directory));
    }

    // Creates and opens the folders and files for results, so that a run that cannot write them
    // does not begin.
    void make_files() {
        checkpoint_lock_ = prepare_checkpoint_folder(settings_, ranks_.is_first());
        if (!settings_.config.output_directory.empty())
            prepare_folder("output", settings_.config.output_directory);
        if (!ranks_.is_first()) return;
        stats_file_.emplace("stats", settings_.stats_file);
        trace_file_.emplace("trace", settings_.trace_file);
    }

    RunResult run_with_progress(Simulation& simulation, LiveProgress& live) {
        const bool silent = settings_.quiet || !ranks_.is_first();
        ProgressLine progress(silent ? ProgressMode::off : settings_.progress,
                              settings_.config.until.value_or(setup_.until), live);
        // The message is printed first, because end_all_ranks() also ends this process.
        live.failed = [&] {
            const Failure failure = current_failure();
            progress.print(last_line(of_rank(ranks_, failure.message)));
            end_all_ranks(ranks_, failure.code);
        };
        live.warn = [&](const std::string& line) {
            progress.print("numawarp: " + of_rank(ranks_, line));
        };
        if (settings_.verbose && !silent)
            live.announce = [&](const std::string& line) { progress.print("numawarp: " + line); };
        say_if_over(live);
        return simulation.run(model_, live, signals_->received());
    }

    // Warns if the restarted run is already over: the user may have meant another folder or a later
    // end.
    void say_if_over(const LiveProgress& live) const {
        const SavedRun* const saved = settings_.config.restart_from.get();
        if (!ranks_.is_first() || saved == nullptr || !saved->over_at) return;
        if (settings_.config.until.value_or(setup_.until) > *saved->over_at) return;
        live.warn(fmt::format(
            "--restart {}: this run ended at virtual time {}; the events after its last "
            "checkpoint (at {}) are executed again; a later --until continues the run",
            settings_.restart_directory, *saved->over_at, saved->progress.gvt));
    }

    int simulate_and_report(Simulation& simulation, LiveProgress& live) {
        RunResult result = run_with_progress(simulation, live);
        if (check_run_) {
            check_run_->report(setup_, result);
            return exit_done;
        }
        meter_phase<MeterPhase::ending>();
        live.unstoppable =
            "while the results were written; table rows that are already in CSV files are kept";
        for (std::string& notice :
             table_->idle_notices(RunFacts{model_, settings_, *table_, result}.shape()))
            result.notices.push_back(std::move(notice));
        for (const std::optional<WholeFile>* file : {&stats_file_, &trace_file_})
            if (std::string notice = *file ? (*file)->notice() : ""; !notice.empty())
                result.notices.push_back(std::move(notice));
        const bool interrupted = result.reason == EndReason::interrupted;
        const bool saved = interrupted && settings_.config.save.on();
        // If one file cannot be written, the others and the report are still written.
        Attempts attempts;
        if (ranks_.is_first()) write_results(result, saved, attempts);
        if (settings_.config.trace)
            attempts.make([&] {
                write_trace(ranks_, trace_file_ ? &*trace_file_ : nullptr, result,
                            LpKinds(Kinds::of(setup_)));
            });
        if (!saved || !ranks_.is_first()) {
            attempts.rethrow_first_failure();
        } else {
            // The run can be continued, also if some of its results could not be written.
            if (!attempts.all_well()) fail(exit_machine_error, attempts.first_failure());
            write_to_stderr(fmt::format(
                "numawarp: {}\n",
                restart_hint(settings_, setup_.own_words_last, result.end_time, ranks_.ranks())));
        }
        return !interrupted || (saved && result.signal != SIGINT)
                   ? exit_done
                   : exit_signal_base + result.signal;
    }

    void write_results(const RunResult& result, bool saved, Attempts& attempts) {
        if (result.reason != EndReason::interrupted)
            attempts.make([&] {
                call_hook(model_, ModelHook::finished, settings_.config.handler_timeout_seconds,
                          [&] {
                              model_.finished(
                                  {.end_time = result.end_time,
                                   .committed_events = result.totals[Counter::committed_events],
                                   .output_directory = settings_.config.output_directory});
                          });
            });
        // A run that will be continued needs its CSV files, so it does not convert them.
        if (!saved)
            attempts.make([&] {
                kept_tables().make(result.column_kinds,
                                   {model_.name(), settings_.config.seed, result.digest.hex()});
            });
        const RunFacts facts{model_, settings_, *table_, result};
        // The statistics are written only after success: a user who finds them expects complete
        // tables, and does not continue the run from a checkpoint.
        if (attempts.all_well()) attempts.make([&] { stats_file_->write(statistics_json(facts)); });
        if (!saved && attempts.all_well())
            attempts.make([&] { kept_tables().remove_unwanted_csv(); });
        if (settings_.config.save.on() && result.reason != EndReason::interrupted &&
            attempts.all_well())
            attempts.make([&] {
                SavedRunFolder(settings_.config.save.directory).note_over(result.end_time);
            });
        if (!settings_.quiet) attempts.make([&] { print(report_text(facts)); });
    }

    const std::span<std::byte> main_variables_;
    const std::vector<std::string> arguments_;
    const std::vector<LoadedModule> modules_;
    Model& model_;
    RankGroup& ranks_;
    LiveProgress& live_;
    std::optional<StopSignals>& signals_;
    Settings settings_;
    std::unique_ptr<ModelCheckRun> check_run_;  // set if --check-model started this process
    std::optional<OptionTable> table_;
    Setup setup_;
    std::unique_ptr<FolderLock> restart_lock_;     // held by the first rank
    std::unique_ptr<FolderLock> checkpoint_lock_;  // held by the first rank
    std::optional<WholeFile> stats_file_;          // on the first rank only
    std::optional<WholeFile> trace_file_;          // on the first rank only
};

}  // namespace

int run(int argc, char** argv, Model& model) {
    secure_standard_streams();
    // The floating-point environment is set before the model computes anything, and all threads
    // that are created later inherit it. So results do not depend on how the program was linked.
    FloatEnvironment::current().with_denormals().install();
    // The range between this function's frame and the program's arguments contains the variables of
    // main() and of its callers.
    auto* const frame = static_cast<std::byte*>(__builtin_frame_address(0));
    auto* const frames_end = reinterpret_cast<std::byte*>(argv);
    const std::span<std::byte> main_variables(frame, frame < frames_end ? frames_end : frame);
    try {
        LiveProgress live;
        std::optional<StopSignals> signals;  // destroyed after the ranks and the run
        std::vector<LoadedModule> modules = loaded_modules();  // before MPI loads more libraries
        const std::unique_ptr<RankGroup> ranks = join_ranks();
        return RankRun(std::vector<std::string>(argv + std::min(argc, 1), argv + argc),
                       std::move(modules), model, *ranks, live, signals, main_variables)
            .run();
    } catch (...) {
        const Failure failure = current_failure();
        return fail(failure.code, failure.message);
    }
}

}  // namespace nw
