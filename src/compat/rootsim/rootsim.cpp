// SPDX-License-Identifier: Apache-2.0
// The program of a model for ROOT-Sim 3. The model's main() fills in a configuration and calls
// RootsimRun(). RootsimRun() calls nw::run() with options from the configuration, followed by the
// user's options.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <errno.h>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "app/embedding.hpp"
#include "compat/rootsim/include/ROOT-Sim.h"
#include "compat/rootsim/lp.hpp"
#include "compat/rootsim/stopper.hpp"
#include "compat/rootsim/stream.hpp"

namespace nw::rootsim {
namespace {

// The arguments of main(). The model's main() does not pass them to RootsimRun(), but glibc also
// passes them to constructors.
int argument_count = 0;
char** arguments = nullptr;
[[gnu::constructor]] void keep_arguments(int count, char** words) {
    argument_count = count;
    arguments = words;
}

// The words before the word "--" are only for the program. If there is no word "--", the words
// before the first word that begins with "--" are only for the program.
std::span<char*> words_typed() {
    return std::span(arguments, static_cast<std::size_t>(argument_count))
        .subspan(argument_count > 0 ? 1 : 0);
}
auto end_of_own_words() {
    const auto typed = words_typed();
    const auto dashes = std::find_if(typed.begin(), typed.end(), [](const char* word) {
        return std::string_view(word) == "--";
    });
    if (dashes != typed.end()) return dashes;
    return std::find_if(typed.begin(), typed.end(),
                        [](const char* word) { return std::string_view(word).starts_with("--"); });
}
std::vector<std::string> own_words() { return {words_typed().begin(), end_of_own_words()}; }
std::vector<std::string> options_typed() {
    const auto typed = words_typed();
    auto first = end_of_own_words();
    if (first != typed.end() && std::string_view(*first) == "--") ++first;
    return {first, typed.end()};
}

std::optional<simulation_configuration> configuration;
Stopper stopper;

class RootsimModel final : public Model {
  public:
    explicit RootsimModel(const simulation_configuration& of)
        : Model(program_invocation_short_name, "a model for ROOT-Sim"),
          of_(of),
          seed_(of.prng_seed) {}

    void options(Options& options) override {
        options.add("prng-seed", seed_, "seed of ROOT-Sim's library of random numbers");
    }
    void on_worker_start() override { stopper.listen(); }
    Setup setup() override {
        master_seed = seed_;
        Setup setup =
            setup_of({of_.dispatcher, of_.committed, LP_INIT, LP_FINI, stream_of, of_.lps}, seed_);
        if (of_.termination_time > 0) setup.until = of_.termination_time;
        setup.own_words = own_words();
        return setup;
    }

  private:
    const simulation_configuration& of_;
    std::uint64_t seed_;
};

// The configuration as options of numawarp.
std::vector<std::string> options_of(const simulation_configuration& of) {
    std::vector<std::string> words;
    const bool is_serial = of.synchronization != 0 ? of.synchronization == SERIAL : of.serial;
    if (is_serial)
        words.insert(words.end(), {"--engine", "sequential"});
    else if (of.n_threads > 0)
        words.insert(words.end(), {"--workers", std::to_string(of.n_threads)});
    if (!is_serial && !of.core_binding) words.insert(words.end(), {"--pin", "off"});
    if (of.log_level == LOG_SILENT) words.emplace_back("--quiet");
    if (of.stats_file != nullptr)
        words.insert(words.end(), {"--stats", std::string(of.stats_file) + ".json"});
    return words;
}

int refuse(const char* function, const char* line) {
    std::fprintf(stderr, "numawarp: %s(): %s\n", function, line);
    return -1;
}

// Whether no run is in progress. Throws ModelError if a handler of the model has called `function`.
bool is_between_runs(const char* function) {
    if (nw::embedding::in_handler())
        throw ModelError(
            fmt::format("{}() called by the model; allowed: before or after a run", function));
    return !stopper.is_running();
}

constexpr const char* run_goes_on = "called during a run; allowed: before or after a run";

}  // namespace
}  // namespace nw::rootsim

int RootsimInit(const simulation_configuration* conf) {
    using namespace nw::rootsim;
    const auto refuse = [](const char* line) { return nw::rootsim::refuse("RootsimInit", line); };
    if (!is_between_runs("RootsimInit")) return refuse(run_goes_on);
    configuration.reset();
    if (conf == nullptr) return refuse("the configuration must not be a null pointer");
    if (conf->lps == 0 || conf->lps > UINT32_MAX)
        return refuse("lps: must be from 1 to 4294967295");
    if (conf->dispatcher == nullptr || conf->committed == nullptr)
        return refuse("dispatcher and committed: must be set");
    if (!(conf->termination_time >= 0))
        return refuse("termination_time: must be above 0, or 0 for none");
    if (conf->synchronization > TIME_WARP)
        return refuse(
            "synchronization: must be SERIAL or TIME_WARP, or 0 to use the member serial");
    configuration = *conf;
    master_seed = conf->prng_seed;
    return 0;
}

int RootsimRun() {
    using namespace nw::rootsim;
    constexpr const char* name = "RootsimRun";
    if (!is_between_runs(name)) return refuse(name, run_goes_on);
    if (!configuration)
        return refuse(name, "there is no configuration; allowed: after RootsimInit()");
    std::vector<std::string> words{argument_count > 0 ? arguments[0] : program_invocation_name};
    for (const auto& more : {options_of(*configuration), options_typed()})
        words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());

    RootsimModel model(*configuration);
    const Stopper::Running running(stopper);
    const int code = nw::run(static_cast<int>(argv.size()), argv.data(), model);
    running_call = {};  // after a crash in a handler
    return stopper.was_used() ? 0 : code;
}

void RootsimStop() {
    using namespace nw::rootsim;
    if (nw::embedding::in_handler())
        throw nw::ModelError(
            "RootsimStop() called by the model, whose events may be rolled back; allowed: a "
            "CanEnd() that returns true");
    stopper.stop();
}

void ScheduleNewEvent(lp_id_t receiver, simtime_t timestamp, unsigned event_type,
                      const void* event_content, unsigned event_size) {
    nw::rootsim::schedule(receiver, timestamp, event_type, event_content, event_size);
}

void SetState(void* new_state) {
    nw::rootsim::set_state(nw::rootsim::current_lp("SetState"), new_state);
}

// All memory that a handler allocates belongs to its LP and is rolled back with it. rs_malloc()
// returns zeroed memory, although ROOT-Sim does not guarantee it: models send structures of which
// they write only a part, and after a rollback the other bytes would be different each time.
void* rs_malloc(size_t req_size) { return std::calloc(1, req_size); }
void* rs_calloc(size_t nmemb, size_t size) { return std::calloc(nmemb, size); }
void rs_free(void* ptr) { std::free(ptr); }
void* rs_realloc(void* ptr, size_t req_size) { return std::realloc(ptr, req_size); }
