// SPDX-License-Identifier: Apache-2.0
// main() and command line of a program for classic ROOT-Sim (version 2). The command line contains
// options of ROOT-Sim, the model's own words (argp), and options of numawarp.
#include "compat/rootsim/classic.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <argp.h>
#include <errno.h>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "compat/rootsim/classic_include/ROOT-Sim.h"
#include "compat/rootsim/lp.hpp"

// Functions of the model. Models declare them with their own parameter types.
extern "C" void ProcessEvent(unsigned me, double now, unsigned type, const void* content,
                             unsigned bytes, void* state);
extern "C" bool OnGVT(unsigned me, const void* state);

namespace nw::rootsim {
namespace {

void process_event(std::uint64_t lp, double now, unsigned type, const void* content, unsigned bytes,
                   void* state) {
    ProcessEvent(static_cast<unsigned>(lp), now, type, content, bytes, state);
}

// Calls OnGVT() only if the LP has a state, as in ROOT-Sim.
bool can_end(std::uint64_t lp, const void* state) {
    return state != nullptr && OnGVT(static_cast<unsigned>(lp), state);
}

class ClassicModel final : public Model {
  public:
    // `wrong`: an error in the command line, or empty.
    ClassicModel(std::string wrong, std::vector<std::string> own_words)
        : Model(program_invocation_short_name, "a model for ROOT-Sim 2"),
          wrong_(std::move(wrong)),
          own_words_(std::move(own_words)) {}

    void options(Options& options) override {
        if (!wrong_.empty()) throw SetupError(wrong_);
        options.add("lp", n_prc_tot, "number of LPs", from(1));
        options.add("master-seed", seed_, "seed of ROOT-Sim's random numbers",
                    from(1).to(9223372036854774784.0));
    }
    Setup setup() override {
        lay_out_topology(n_prc_tot);
        Setup setup = setup_of(
            {process_event, can_end, INIT, std::nullopt, classic_stream_of, n_prc_tot}, seed_);
        if (&abm_settings != nullptr) setup.process = agent_process(seed_);
        setup.own_words = own_words_;
        return setup;
    }

  private:
    const std::string wrong_;
    const std::vector<std::string> own_words_;
    std::uint64_t seed_ = 1;
};

// An option of ROOT-Sim, and the words for numawarp that replace it.
struct Theirs {
    std::string_view name;
    bool has_value;
    std::vector<std::string> ours;  // a value follows these words; empty: no effect
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

// Searches the parser and its children for the option with this name or, if `name` is empty, with
// this key. Returns null if there is no such option. As in argp, an entry without name and key is
// the title of a group, an alias belongs to the option before it, and only an entry without any
// member ends the list.
const argp_option* find_option(const argp& parser, std::string_view name, int key) {
    const argp_option* of_alias = parser.options;
    for (const argp_option* option = parser.options;
         option != nullptr && (option->name != nullptr || option->key != 0 ||
                               option->doc != nullptr || option->group != 0);
         ++option) {
        if ((option->flags & OPTION_ALIAS) == 0) of_alias = option;
        if (name.empty() ? option->key == key : option->name != nullptr && name == option->name)
            return of_alias;
    }
    for (const argp_child* child = parser.children; child != nullptr && child->argp != nullptr;
         ++child)
        if (const argp_option* const found = find_option(*child->argp, name, key)) return found;
    return nullptr;
}

// If the word is an option of the model, returns whether its value is the next word. Otherwise
// returns no value. A word may contain several short options.
std::optional<bool> takes_next(const std::string& word) {
    if (&model_argp == nullptr || word.size() < 2 || word[0] != '-') return std::nullopt;
    const bool is_long = word.starts_with("--");
    const std::size_t equals = std::min(word.find('='), word.size());
    for (std::size_t i = 1; i < word.size(); ++i) {
        const std::string name = is_long ? word.substr(2, equals - 2) : "";
        if (is_long && name.empty()) return std::nullopt;
        const argp_option* const option = find_option(model_argp, name, word[i]);
        if (option == nullptr) return i == 1 ? std::nullopt : std::optional(false);
        const bool is_last = is_long ? equals == word.size() : i + 1 == word.size();
        if (option->arg != nullptr) return is_last && (option->flags & OPTION_ARG_OPTIONAL) == 0;
        if (is_long) break;
    }
    return false;
}

// Sets n_prc_tot from --lp before the model reads its words, because the model may use n_prc_tot
// while it reads them. The engine's option parser reports values that are not valid.
void look_for_lps(const std::vector<std::string>& ours) {
    for (std::size_t i = 0; i < ours.size(); ++i) {
        const std::string text = ours[i].starts_with("--lp=")               ? ours[i].substr(5)
                                 : ours[i] == "--lp" && i + 1 < ours.size() ? ours[i + 1]
                                                                            : "";
        const unsigned long lps = std::strtoul(text.c_str(), nullptr, 10);
        if (lps >= 1 && lps <= UINT_MAX) n_prc_tot = static_cast<unsigned>(lps);
    }
}

// The words of the command line, distributed to their readers.
struct CommandLine {
    std::vector<std::string> ours;    // for nw::run
    std::vector<std::string> models;  // for the model's argp
    std::vector<std::string> idle;    // options of ROOT-Sim that have no effect
    std::string wrong;                // the first error, or empty
};

// Whether `value` is a level of ROOT-Sim's --stats or --verbose. These levels are not values of
// numawarp's options of the same names.
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
        if (const std::optional<bool> takes = takes_next(word)) {
            line.models.push_back(word);
            if (*takes && i + 1 < words.size()) line.models.push_back(words[++i]);
        } else if (known != their_options().end() && !known->has_value && has_own_value) {
            if (line.wrong.empty())
                line.wrong =
                    fmt::format("{}: the option takes no value; allowed: --{}", word, name);
        } else if (known != their_options().end()) {
            if (known->ours.empty()) line.idle.push_back("--" + name);
            line.ours.insert(line.ours.end(), known->ours.begin(), known->ours.end());
            if (!known->has_value) continue;
            // The engine's option parser reports a missing value.
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

void SetState(void* new_state) {
    nw::rootsim::set_state(nw::rootsim::lp_in_handler("SetState"), new_state);
}

int main(int argc, char** argv) {
    using namespace nw::rootsim;
    CommandLine line = deal_out({argv, argv + argc});
    if (!line.idle.empty())
        std::fprintf(stderr, "numawarp: without effect here: %s\n",
                     fmt::format("{}", fmt::join(line.idle, ", ")).c_str());
    const std::vector<std::string> own_words(line.models.begin() + 1, line.models.end());
    if (&model_argp != nullptr) {
        if (std::find(line.ours.begin(), line.ours.end(), "--help") != line.ours.end()) {
            std::printf("Options of the model:\n");
            argp_help(&model_argp, stdout, ARGP_HELP_LONG, program_invocation_short_name);
        }
        look_for_lps(line.ours);
        argp_err_exit_status = 2;
        std::vector<char*> words = pointers_to(line.models);
        const error_t code = argp_parse(&model_argp, static_cast<int>(line.models.size()),
                                        words.data(), ARGP_NO_HELP, nullptr, nullptr);
        if (find_option(model_argp, "lp", 0) != nullptr)
            line.wrong = "model_argp: --lp is already the number of LPs; allowed: another name";
        if (code != 0 && line.wrong.empty())
            line.wrong = fmt::format(
                "model_argp: its parser failed: {}; allowed: a call of argp_error(), or success",
                std::strerror(code));
    }
    ClassicModel model(line.wrong, own_words);
    std::vector<char*> words = pointers_to(line.ours);
    return nw::run(static_cast<int>(line.ours.size()), words.data(), model);
}
