// SPDX-License-Identifier: Apache-2.0
// --check-model in the user's process: starts the runs and compares their results.
#include "app/modelcheck/model_check.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/modelcheck/model_check_words.hpp"
#include "app/options/command_line.hpp"
#include "lp/rollback_methods.hpp"
#include "util/check.hpp"
#include "util/exit_codes.hpp"
#include "util/number_text.hpp"
#include "util/utf8.hpp"

namespace nw {
namespace {

using nlohmann::json;

constexpr double seconds_enough = 1;      // of the first run, if the number of events is not given
constexpr double run_seconds_most = 120;  // a run that takes longer is killed
constexpr std::int64_t clock_shift = 100'000'007;  // seconds: more than three years
constexpr unsigned long only_ask = 0xffffffff;
constexpr const char* page = "docs/how-to/check-model.md";

// The result of one run.
struct Ended {
    int exit_code = exit_done;
    std::string last_words;  // if the run failed
    json found;
    EventLog log;

    bool well() const noexcept { return exit_code == exit_done; }
};

// A temporary file that the started process inherits. It is deleted when it is closed.
class Sheet {
  public:
    Sheet() : file_(std::tmpfile()) {
        if (file_ == nullptr)
            throw MachineError(fmt::format("--check-model: a temporary file cannot be created: {}",
                                           std::strerror(errno)));
    }
    ~Sheet() { std::fclose(file_); }
    Sheet(const Sheet&) = delete;
    Sheet& operator=(const Sheet&) = delete;

    int handle() const noexcept { return ::fileno(file_); }
    std::string content() const {
        std::string text;
        std::rewind(file_);
        std::vector<char> piece(std::size_t{1} << 16);
        for (std::size_t got; (got = std::fread(piece.data(), 1, piece.size(), file_)) > 0;)
            text.append(piece.data(), got);
        return text;
    }

  private:
    std::FILE* file_;
};

// During the lifetime of this object, started programs get the same addresses each time, if the
// kernel permits it.
class FixedAddresses {
  public:
    FixedAddresses() : before_(personality(only_ask)) {
        if (before_ != -1) personality(static_cast<unsigned long>(before_) | ADDR_NO_RANDOMIZE);
    }
    ~FixedAddresses() {
        if (before_ != -1) personality(static_cast<unsigned long>(before_));
    }
    FixedAddresses(const FixedAddresses&) = delete;
    FixedAddresses& operator=(const FixedAddresses&) = delete;

  private:
    const int before_;
};

// Waits until the process ends, and kills it after run_seconds_most. Returns its exit code in the
// convention of shells (128 + signal).
int wait_for(pid_t process) {
    const auto begin = std::chrono::steady_clock::now();
    bool is_killed = false;
    double next_line_seconds = 10;
    for (;;) {
        int status = 0;
        const pid_t ended = ::waitpid(process, &status, WNOHANG);
        if (ended == process)
            return WIFEXITED(status) ? WEXITSTATUS(status) : exit_signal_base + WTERMSIG(status);
        if (ended < 0 && errno != EINTR)
            throw MachineError(
                fmt::format("--check-model: a run was lost: {}", std::strerror(errno)));
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        if (passed.count() > run_seconds_most && !std::exchange(is_killed, true))
            ::kill(process, SIGKILL);
        if (passed.count() > next_line_seconds) {
            fmt::print(stderr,
                       "numawarp: --check-model: one of its runs has taken {:.0f} s; the limit is "
                       "{:.0f} s\n",
                       passed.count(), run_seconds_most);
            next_line_seconds *= 2;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

std::string last_line_of(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    text.erase(0, text.rfind('\n') + 1);
    constexpr std::string_view prefix = "numawarp: ";
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
    return text;
}

// Executes the program as the run that `wanted` describes, and waits for its end. The run writes
// its results to `report` and its messages to `words`.
int start_and_wait(const std::vector<std::string>& command, json wanted, const Sheet& report,
                   const Sheet& words) {
    wanted["report"] = report.handle();
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, words.handle(), STDERR_FILENO);
    ::setenv(check_run_variable, wanted.dump().c_str(), 1);
    pid_t process = 0;
    const int failure =
        ::posix_spawn(&process, "/proc/self/exe", &files, nullptr, arguments.data(), environ);
    ::unsetenv(check_run_variable);
    posix_spawn_file_actions_destroy(&files);
    if (failure != 0)
        throw MachineError(fmt::format("--check-model: the program cannot be started again: {}",
                                       std::strerror(failure)));
    return wait_for(process);
}

// Reads the kinds as names_of() has written them (model_check_run.cpp).
Kinds kinds_of(const json& found) {
    std::vector<Kind> all;
    for (const json& written : found["kinds"]) {
        Kind& kind = all.emplace_back(
            Kind{written["name"].get<std::string>(), written["lps"].get<std::uint32_t>()});
        for (const json& event : written["events"])
            kind.process.events.push_back(
                {event["type"].get<EventType>(), 0, event["name"].get<std::string>()});
    }
    if (found["are_named"].get<bool>()) return Kinds(std::move(all));
    Setup setup;
    setup.lps = all.front().count;
    setup.process = all.front().process;
    return Kinds::of(setup);
}

class ModelCheck {
  public:
    ModelCheck(const Model& model, const Settings& settings)
        : model_(model), settings_(settings), words_(own_command_line()) {}

    int check() {
        if (!run_first()) return first_.exit_code;
        run_at_another_time();
        if (is_repeatable_) {
            run_with_fills();
            run_elsewhere();
        }
        for (const json& method : first_.found["methods"])
            run_rolled_back(method_of(method.get<Rollback>()));
        if (is_repeatable_) run_on_workers();
        return conclude();
    }

  private:
    Ended run(json wanted) {
        const Sheet report, words;
        Ended ended;
        std::optional<FixedAddresses> fixed;
        if (!wanted.value("elsewhere", false)) fixed.emplace();
        if (until_) wanted["until"] = *until_;
        ended.exit_code = start_and_wait(words_, std::move(wanted), report, words);
        if (!ended.well()) {
            ended.last_words = last_line_of(words.content());
            if (ended.last_words.empty())
                ended.last_words = fmt::format("it ended with exit code {}", ended.exit_code);
            return ended;
        }
        std::string text = report.content();
        const std::size_t line = std::min(text.find('\n'), text.size());
        ended.found = json::parse(text.substr(0, line), nullptr, false);
        if (!ended.found.is_object())
            throw MachineError("--check-model: a run did not report its results");
        text.erase(0, std::min(line + 1, text.size()));
        ended.log = EventLog({text.begin(), text.end()},
                             until_.value_or(ended.found["end_time"].get<VirtualTime>()));
        return ended;
    }

    void say(bool well, const std::string& what, const std::string& more = {}) {
        fmt::print("{:<7} {}{}\n", well ? "ok" : "BROKEN", what, more.empty() ? "" : ": " + more);
        std::fflush(stdout);
    }
    void report_undecided(const std::string& what, const std::string& why) {
        fmt::print("{:<7} {}: {}\n", "skipped", what, why);
    }

    void break_rule(std::string rule, std::string words) {
        breaches_.push_back({std::move(rule), std::move(words)});
    }
    bool is_broken(std::string_view rule) const {
        return std::any_of(breaches_.begin(), breaches_.end(),
                           [&](const Breach& one) { return one.rule == rule; });
    }

    // Describes the difference between the two runs. A failed run counts as different.
    std::optional<LogDifference> difference(const Ended& run, const Ended& other) const {
        if (!run.well()) return LogDifference{false, run.last_words};
        return first_difference(other.log, run.log, *kinds_);
    }

    // All other runs have the end time of the first run, and most of them are compared with it.
    bool run_first() {
        json wanted{{"watches", true}, {"events", settings_.check_model_events}};
        if (settings_.check_model_is_timed) wanted["seconds"] = seconds_enough;
        first_ = run(std::move(wanted));
        const std::string what = "sequential, checking what handlers change";
        if (!first_.well()) {
            say(false, what, first_.last_words);
            return false;
        }
        until_ = first_.found["end_time"].get<VirtualTime>();
        kinds_.emplace(kinds_of(first_.found));
        if (first_.log.entries().empty())
            throw SetupError(
                fmt::format("--check-model: there is no event before virtual time {}, at which the "
                            "first run ended; allowed: more events, with --check-model=N",
                            *until_));
        for (const json& breach : first_.found["breaches"])
            break_rule(breach["rule"].get<std::string>(), breach["words"].get<std::string>());
        fmt::print("{}: {} events, to virtual time {}\n", model_.name(),
                   with_thousands(first_.log.entries().size()), *until_);
        say(breaches_.empty(), what);
        const std::string why = first_.found["why_not_watched"].get<std::string>();
        if (!why.empty()) report_undecided("variables of the program", why);
        return true;
    }

    void run_at_another_time() {
        const std::string what = "sequential again, with the clocks set forward";
        const Ended again = run({{"clock_shift", clock_shift}});
        const std::optional<LogDifference> differs = difference(again, first_);
        say(!differs, what);
        if (!differs) return;
        is_repeatable_ = false;
        const auto sources = first_.found["sources"].get<std::vector<std::string>>();
        if (sources.empty() && differs->is_in_payload && is_repeatable_when_filled())
            break_never_written(*differs);
        else
            break_rule("Draws outside of random()",
                       sources.empty()
                           ? fmt::format("two sequential runs differ, although handlers read no "
                                         "clock and no known source of entropy: {}",
                                         differs->words)
                           : fmt::format("handlers call {}(), and two sequential runs differ: {}",
                                         fmt::join(sources, "(), "), differs->words));
        report_undecided("memory, addresses, workers", "two sequential runs differ already");
    }

    // Whether two runs are equal if new memory is filled with the same bytes. Memory that was never
    // written has different contents in each run, unless it is filled.
    bool is_repeatable_when_filled() {
        const Ended once = run({{"fill", 0x5a}});
        return !difference(run({{"fill", 0x5a}}), once);
    }
    void break_never_written(const LogDifference& differs) {
        break_rule("Memory that was never written",
                   differs.is_in_payload
                       ? differs.words + ": the sender never wrote it"
                       : fmt::format("the behavior of a handler depends on it: {}", differs.words));
    }

    void run_with_fills() {
        const std::string what = "new memory filled with different bytes";
        Ended one = run({{"fill", 0x5a}, {"check_heap", true}});
        const Ended other = run({{"fill", 0xa5}, {"check_heap", true}});
        if (!one.well()) {
            say(false, what);
            break_rule("Writes beyond a block", one.last_words);
            return;
        }
        const std::optional<LogDifference> differs = difference(other, one);
        say(!differs, what);
        if (differs) break_never_written(*differs);
        is_filled_the_same_ = !differs;
        guarded_ = std::move(one);
    }

    void run_elsewhere() {
        const std::string what = "LPs, libraries and stacks at other addresses";
        const Ended run_there = run({{"elsewhere", true}, {"lps_per_group", 2}});
        std::optional<LogDifference> differs = difference(run_there, first_);
        // Guards change the sizes of blocks, and therefore their order in memory.
        if (!differs && is_filled_the_same_) differs = difference(guarded_, first_);
        say(!differs, what);
        if (differs)
            break_rule("The order of addresses",
                       fmt::format("results depend on addresses in memory: {}", differs->words));
    }

    void run_rolled_back(const RollbackMethod& method) {
        const std::string what =
            fmt::format("Time Warp, each event rolled back once by {}", method.word);
        const Ended ended =
            run({{"timewarp", true}, {"rollback", method.value}, {"rolled_back", 1.0}});
        const std::optional<LogDifference> differs = difference(ended, first_);
        if (is_repeatable_ || !ended.well()) say(!differs, what);
        if (!differs || (ended.well() && !is_repeatable_)) return;
        if (!ended.well() && !method.rule_at_risk.empty()) {
            break_rule(std::string(method.rule_at_risk), ended.last_words);
        } else if (!is_broken("State outside of the LP") && !is_broken("Memory of another LP")) {
            break_rule("State outside of the LP",
                       fmt::format("a rollback does not restore something that handlers use and "
                                   "that is not a variable of the program: {}",
                                   differs->words));
        }
    }

    void run_on_workers() {
        const std::string what = "Time Warp on 2 workers, LPs regrouped and moved";
        const Ended ended = run({{"timewarp", true},
                                 {"workers", 2},
                                 {"lps_per_group", 1},
                                 {"rolled_back", 0.1},
                                 {"interrupted", 0.05},
                                 {"moved", 0.1}});
        const std::optional<LogDifference> differs = difference(ended, first_);
        say(!differs, what);
        if (differs && breaches_.empty())
            break_rule(
                "State outside of the LP",
                fmt::format("results depend on which worker runs an LP: {}", differs->words));
    }

    int conclude() const {
        if (breaches_.empty()) return exit_done;
        fmt::print("\n");
        for (const Breach& breach : breaches_) {
            std::string anchor;
            for (const char one : breach.rule)
                if (one == ' ')
                    anchor += '-';
                else if (one != '(' && one != ')')
                    anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(one)));
            fmt::print("{}: {} ({}#{})\n", breach.rule, one_line(breach.words), page, anchor);
        }
        return exit_model_error;
    }

    const Model& model_;
    const Settings& settings_;
    const std::vector<std::string> words_;
    Ended first_;
    Ended guarded_;  // the run with guards around blocks
    std::optional<VirtualTime> until_;
    std::optional<LpKinds> kinds_;  // of the first run
    bool is_repeatable_ = true;
    bool is_filled_the_same_ = false;
    std::vector<Breach> breaches_;
};

}  // namespace

int check_model(const Model& model, const Settings& settings) {
    return ModelCheck(model, settings).check();
}

}  // namespace nw
