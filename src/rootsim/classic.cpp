// Classic ROOT-Sim's program is ROOT-Sim's: main() is here, and its command line is one of theirs, of the
// model's own words (argp) and of ours.
#include "rootsim/classic.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <argp.h>
#include <errno.h>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "rootsim/classic_include/ROOT-Sim.h"
#include "rootsim/lp.hpp"

// The model's, with parameters of its own types.
extern "C" void ProcessEvent(unsigned me, double now, unsigned type, const void* content,
                             unsigned bytes, void* state);
extern "C" bool OnGVT(unsigned me, const void* state);

namespace nw::rootsim {
namespace {

void process_event(std::uint64_t lp, double now, unsigned type, const void* content, unsigned bytes,
                   void* state) {
    ProcessEvent(static_cast<unsigned>(lp), now, type, content, bytes, state);
}

// Asked about states only, as there.
bool can_end(std::uint64_t lp, const void* state) {
    return state != nullptr && OnGVT(static_cast<unsigned>(lp), state);
}

class ClassicModel final : public Model {
  public:
    ClassicModel() : Model(program_invocation_short_name, "a model for ROOT-Sim 2") {}

    void options(Options& options) override {
        options.add("lp", n_prc_tot, "number of LPs", from(1));
        options.add("master-seed", seed_, "seed of ROOT-Sim's random numbers",
                    from(1).to(9223372036854774784.0));
    }
    Setup setup() override {
        lay_out_topology(n_prc_tot);
        Setup setup = setup_of(
            {process_event, can_end, INIT, std::nullopt, classic_stream_of, n_prc_tot}, seed_);
        if (&abm_settings != nullptr) setup.process = agent_process(seed_);
        return setup;
    }

  private:
    std::uint64_t seed_ = 1;
};

// An option of theirs, and what it is here.
struct Theirs {
    std::string_view name;
    bool has_value;
    std::vector<std::string> ours;  // its value follows; empty: it means nothing
};

const std::vector<Theirs>& their_options() {
    static const std::vector<Theirs> all{
        {"wt", true, {"--workers"}},
        {"simulation-time", true, {"--until"}},
        {"serial", false, {"--engine", "sequential"}},
        {"sequential", false, {"--engine", "sequential"}},
        {"no-core-binding", false, {"--pin", "off"}},
        {"seed", true, {"--master-seed"}},
        {"output-dir", true, {}},
        {"scheduler", true, {}},
        {"npwd", false, {}},
        {"p", true, {}},
        {"full", false, {}},
        {"gvt", true, {}},
        {"cktrm-mode", true, {}},
        {"gvt-snapshot-cycles", true, {}},
        {"lps-distribution", true, {}},
        {"deterministic-seed", false, {}},
    };
    return all;
}

// Whether the model has such an option, and if so, whether it takes a value.
std::optional<bool> model_option(std::string_view name) {
    if (&model_argp == nullptr || model_argp.options == nullptr) return std::nullopt;
    for (const argp_option* option = model_argp.options;
         option->name != nullptr || option->key != 0; ++option)
        if (option->name != nullptr && option->name == name) return option->arg != nullptr;
    return std::nullopt;
}

// The words of the command line, dealt out.
struct CommandLine {
    std::vector<std::string> ours;
    std::vector<std::string> models;
    std::vector<std::string> idle;
};

// Their words for values that a flag, or an option, of ours has not.
bool is_level(std::string_view name, std::string_view value) {
    const auto one_of = [value](std::initializer_list<std::string_view> words) {
        return std::find(words.begin(), words.end(), value) != words.end();
    };
    return (name == "stats" && one_of({"global", "performance", "lp", "all"})) ||
           (name == "verbose" && one_of({"info", "debug", "no"}));
}

CommandLine deal_out(const std::vector<std::string>& words) {
    CommandLine line;
    line.ours.push_back(words.front());
    line.models.push_back(words.front());
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& word = words[i];
        const std::size_t equals = std::min(word.find('='), word.size());
        const std::string name = word.starts_with("--") ? word.substr(2, equals - 2) : "";
        const bool has_own_value = equals < word.size();
        const bool has_next = !has_own_value && i + 1 < words.size();
        const std::string value = has_own_value ? word.substr(equals + 1)
                                  : has_next    ? words[i + 1]
                                                : "";
        const auto known = std::find_if(their_options().begin(), their_options().end(),
                                        [&](const Theirs& theirs) { return theirs.name == name; });
        if (const std::optional<bool> takes_value = model_option(name)) {
            line.models.push_back(word);
            if (*takes_value && has_next) line.models.push_back(words[++i]);
        } else if (known != their_options().end()) {
            if (known->ours.empty()) line.idle.push_back("--" + name);
            line.ours.insert(line.ours.end(), known->ours.begin(), known->ours.end());
            if (!known->has_value) continue;
            // One that is missing is missed by who reads ours.
            if (!known->ours.empty() && (has_own_value || has_next)) line.ours.push_back(value);
            if (has_next) ++i;
        } else if (is_level(name, value)) {
            line.idle.push_back("--" + name);
            if (has_next) ++i;
        } else {
            line.ours.push_back(word);
        }
    }
    return line;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

}  // namespace
}  // namespace nw::rootsim

unsigned n_prc_tot = 1;

void (*ScheduleNewEvent)(unsigned, simtime_t, unsigned, void*,
                         unsigned) = [](unsigned receiver, simtime_t timestamp, unsigned event_type,
                                        void* event_content, unsigned event_size) {
    nw::rootsim::schedule(receiver, timestamp, event_type, event_content, event_size);
};

void SetState(void* new_state) { nw::rootsim::current_lp("SetState").state = new_state; }

int main(int argc, char** argv) {
    using namespace nw::rootsim;
    CommandLine line = deal_out({argv, argv + argc});
    if (!line.idle.empty())
        std::fprintf(stderr, "numawarp: no meaning here: %s\n",
                     fmt::format("{}", fmt::join(line.idle, ", ")).c_str());
    if (&model_argp != nullptr) {
        std::vector<char*> words = pointers_to(line.models);
        const error_t code = argp_parse(&model_argp, static_cast<int>(line.models.size()),
                                        words.data(), ARGP_NO_HELP, nullptr, nullptr);
        if (code != 0) return 2;
    }
    ClassicModel model;
    std::vector<char*> words = pointers_to(line.ours);
    return nw::run(static_cast<int>(line.ours.size()), words.data(), model);
}
