// SPDX-License-Identifier: Apache-2.0
// A model with an error before or after the run: in options(), setup(), finished(), or in the
// result of setup(). bad_setups.py tests the message and the exit code of such a run. The
// environment variable BAD_MODEL selects the kind of error, because options() is called before any
// option is read.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <numawarp/model.hpp>

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class Process : public nw::LogicalProcess {
  public:
    explicit Process(nw::LpId) {}
    void on_start(nw::Context& context) override { context.schedule(context.self(), 1, 0); }
    void on_event(nw::Context& context, const nw::Event&) override {
        context.schedule(context.self(), 1, 0);
        context.output(0, 1);
    }
};

struct NoWords : std::exception {
    const char* what() const noexcept override { return nullptr; }
};
struct BadWords : std::exception {
    const char* what() const noexcept override {
        volatile char* volatile nowhere = nullptr;
        return *nowhere == 'x' ? "x" : "y";
    }
};

std::uint64_t recurse(std::uint64_t depth) {
    volatile char page[4096] = {};
    page[depth % sizeof page] = 1;
    return depth == 0 ? 0 : recurse(depth + 1) + static_cast<std::uint64_t>(page[1]);
}

void throw_words(const std::string& words) { throw std::runtime_error(words); }

// Errors that each of the three hooks can make.
const std::map<std::string, std::function<void()>> deeds{
    {"exception", [] { throw std::runtime_error("the model's own words"); }},
    {"lines", [] { throw std::runtime_error("words\non two\tlines"); }},
    {"silent", [] { throw std::runtime_error(""); }},
    {"no-words", [] { throw NoWords(); }},
    {"bad-words", [] { throw BadWords(); }},
    {"bytes", [] { throw std::runtime_error("caf\xe9"); }},
    {"five", [] { throw 5; }},
    {"bad-alloc", [] { throw std::bad_alloc(); }},
    {"length", [] { std::vector<int>().reserve(SIZE_MAX / 2); }},
    {"range", [] { static_cast<void>(std::vector<int>().at(1)); }},
    {"system", [] { throw std::system_error(ENOENT, std::generic_category(), "my.toml"); }},
    {"setup-error", [] { throw nw::SetupError("--mine 7: must be even"); }},
    {"null",
     [] {
         volatile int* volatile nowhere = nullptr;
         *nowhere = 1;
     }},
    {"division",
     [] {
         volatile int zero = 0, seven = 7;
         seven = seven / zero;
     }},
    {"abort", [] { std::abort(); }},
    {"terminate", []() noexcept { throw_words("out of noexcept"); }},
    {"stack", [] { recurse(1); }},
    {"illegal", [] { std::raise(SIGILL); }},
};

class BadModel final : public nw::Model {
  public:
    explicit BadModel(const char* kind)
        : Model(std::string(kind) == "name-bytes" ? "b\xe4\nd" : "bad", "goes wrong, for tests"),
          kind_(kind) {}

    void options(nw::Options& options) override {
        do_in("options");
        const std::map<std::string, std::string> names{
            {"name-empty", ""},        {"name-space", "a b"},
            {"name-equals", "a=b"},    {"name-dashes", "--long"},
            {"name-comma", "a,b"},     {"name-dot", "a.b"},
            {"name-brace", "a{b}"},    {"name-umlaut", "gr\xc3\xb6\xc3\x9f"},
            {"name-bytes2", "a\xff"},  {"name-line", "a\nb"},
            {"name-engine", "seed"},   {"name-help", "help"},
            {"name-config", "config"}, {"name-twice", "number"},
            {"name-bang", "!a"},
        };
        options.add("number", number_, "a number");
        options.add_flag("flag", flag_, "a flag");
        if (const auto name = names.find(kind_); name != names.end())
            options.add(name->second, text_, "an invalid option");
        if (kind_ == "flag-name") options.add_flag("", flag_, "");
        if (kind_ == "choice-default") options.add_choice("day", text_, {"monday", "sunday"}, "");
        if (kind_ == "choice-number")
            options.add_choice("lanes", lanes_, {1, 2}, "a choice of numbers");
        if (kind_ == "range-default")
            options.add("lanes", lanes_, "a number with bounds", nw::from(1));
        if (kind_ == "range-nan") options.add("share", share_, "a number");
        if (kind_ == "choice-none") options.add_choice("day", text_, {}, "");
        if (kind_ == "choice-empty") options.add_choice("day", text_, {"", "sunday"}, "");
    }

    nw::Setup setup() override {
        do_in("setup");
        nw::Setup setup;
        setup.lps = 4;
        setup.until = 3;
        setup.process = nw::process<Process>();
        setup.outputs = {{"table", {"a"}}};
        spoil(setup);
        return setup;
    }

    void finished(const nw::RunSummary&) override { do_in("finished"); }

  private:
    void do_in(const std::string& hook) const {
        const std::string start = hook + ":";
        if (kind_.rfind(start, 0) == 0) deeds.at(kind_.substr(start.size()))();
    }

    void spoil(nw::Setup& s) const {
        const std::map<std::string, std::function<void()>> spoils{
            {"lps-0", [&] { s.lps = 0; }},
            {"until-nan", [&] { s.until = nan; }},
            {"until-0", [&] { s.until = 0; }},
            {"until-minus", [&] { s.until = -1; }},
            {"lookahead-nan", [&] { s.lookahead = nan; }},
            {"lookahead-minus", [&] { s.lookahead = -1; }},
            {"lookahead-inf", [&] { s.lookahead = nw::time_infinity; }},
            {"payload", [&] { s.payload_bytes_max = 65'536; }},
            {"payload-huge", [&] { s.payload_bytes_max = SIZE_MAX; }},
            {"rollback-copy", [&] { s.preferred_rollback = nw::Rollback::copy; }},
            {"rollback-reverse", [&] { s.preferred_rollback = nw::Rollback::reverse; }},
            {"rollback-7", [&] { s.preferred_rollback = static_cast<nw::Rollback>(7); }},
            {"state-of", [&] { s.process.state_bytes = 8; }},
            {"process-empty", [&] { s.process = {}; }},
            {"process-null",
             [&] { s.process.build = [](nw::LpId) -> nw::LogicalProcess* { return nullptr; }; }},
            {"process-throws",
             [&] {
                 s.process.build = [](nw::LpId) -> nw::LogicalProcess* {
                     throw std::runtime_error("the model's own words");
                 };
             }},
            {"process-five",
             [&] { s.process.build = [](nw::LpId) -> nw::LogicalProcess* { throw 5; }; }},
            {"process-silent",
             [&] {
                 s.process.build = [](nw::LpId) -> nw::LogicalProcess* {
                     throw std::runtime_error("");
                 };
             }},
            {"process-crash",
             [&] {
                 s.process.build = [](nw::LpId) -> nw::LogicalProcess* {
                     deeds.at("null")();
                     return nullptr;
                 };
             }},
            {"parts-few",
             [&] {
                 s.parts = {0, 1};
             }},
            {"parts-many", [&] { s.parts.assign(5, 0); }},
            {"link-out",
             [&] {
                 s.links = {{nw::LpId{0}, nw::LpId{4}}};
             }},
            {"table-empty",
             [&] {
                 s.outputs = {{"", {"a"}}};
             }},
            {"table-slash",
             [&] {
                 s.outputs = {{"../table", {"a"}}};
             }},
            {"table-nul",
             [&] {
                 s.outputs = {{std::string("a\0b", 3), {"a"}}};
             }},
            {"table-twice",
             [&] {
                 s.outputs = {{"t", {"a"}}, {"t", {"a"}}};
             }},
            {"table-bare",
             [&] {
                 s.outputs = {{"t", {}}};
             }},
            {"table-long",
             [&] {
                 s.outputs = {{std::string(300, 't'), {"a"}}};
             }},
            // These are allowed, and the run must succeed.
            {"links-heavy",
             [&] {
                 s.links = {{nw::LpId{0}, nw::LpId{1}, UINT32_MAX},
                            {nw::LpId{1}, nw::LpId{2}, UINT32_MAX},
                            {nw::LpId{2}, nw::LpId{3}, UINT32_MAX},
                            {nw::LpId{2}, nw::LpId{3}, UINT32_MAX},
                            {nw::LpId{0}, nw::LpId{3}, 1}};
             }},
            {"links-weightless",
             [&] {
                 s.links = {{nw::LpId{0}, nw::LpId{1}, 0}};
             }},
            {"links-to-itself",
             [&] {
                 s.links = {{nw::LpId{1}, nw::LpId{1}}};
             }},
            {"kinds-1-3",
             [&] {
                 s.process = {};
                 s.lps = nw::kinds(
                     {{"few", 1, nw::process<Process>()}, {"many", 3, nw::process<Process>()}});
             }},
            {"kinds-2-2",
             [&] {
                 s.process = {};
                 s.lps = nw::kinds(
                     {{"few", 2, nw::process<Process>()}, {"many", 2, nw::process<Process>()}});
             }},
            {"parts-huge", [&] { s.parts.assign(4, UINT32_MAX); }},
        };
        if (const auto found = spoils.find(kind_); found != spoils.end()) found->second();
    }

    std::string kind_;
    double number_ = 1;
    bool flag_ = false;
    std::uint32_t lanes_ = 0;
    double share_ = nan;
    std::string text_;
};

}  // namespace

int main(int argc, char** argv) {
    const char* const kind = std::getenv("BAD_MODEL");
    BadModel model(kind != nullptr ? kind : "");
    return nw::run(argc, argv, model);
}
