// SPDX-License-Identifier: Apache-2.0
// A model that keeps all rules until LP 1 breaks one of them at time 3, or whose last LP cannot be
// built. With `--breach two` the last LP fails at time 4, and with `two_starts` LP 1 and the last
// LP fail in on_start(). cli_bad_input.py and tests/mpi/test_failures.py test the message and the
// exit code.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

#include <numawarp/model.hpp>

namespace {

constexpr nw::VirtualTime lookahead = 0.5;
constexpr std::uint32_t lps = 8;
constexpr nw::LpId last{lps - 1};
constexpr std::size_t large_payload = 60'000;

class Process final : public nw::LogicalProcess {
  public:
    Process(nw::LpId lp, const std::string* breach) : breach_(breach) {
        if (*breach == "constructor" && lp == last) {
            // Gives other ranks time to send events to this LP.
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            throw std::runtime_error("the model's own words");
        }
        // Simulates a rank with a slow set-up.
        if (*breach == "start" && lp == nw::LpId{0})
            std::this_thread::sleep_for(std::chrono::seconds(20));
        if (*breach == "none" && lp == nw::LpId{0})
            std::this_thread::sleep_for(std::chrono::seconds(3));
    }

    void on_start(nw::Context& context) override {
        if (*breach_ == "start") fail_amid_sending(context);
        if (*breach_ == "two_starts") fail_in_two_starts(context.self());
        if (*breach_ == "none")
            context.schedule(nw::LpId{0}, 1, 0, std::array<char, large_payload>{});
        context.schedule(context.self(), 1, 0);
        if (*breach_ == "constructor") context.schedule(last, 1, 0);
    }

    void on_event(nw::Context& context, const nw::Event&) override {
        context.schedule(context.self(), 1, 0);
        if (context.self() == nw::LpId{1} && context.now() == 3) break_rule(context);
        if (context.self() == last && context.now() == 4 && *breach_ == "two")
            throw std::runtime_error("the later failure");
    }

  private:
    // The payload is larger than the payloads that MPI sends before the receiver requests them.
    void fail_amid_sending(nw::Context& context) {
        context.schedule(nw::LpId{0}, 1, 0, std::array<char, large_payload>{});
        if (context.self() != last) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        throw std::runtime_error("the model's own words");
    }

    // LP 1 needs longer than the last LP.
    static void fail_in_two_starts(nw::LpId self) {
        if (self == last) throw std::runtime_error("the last LP");
        if (self != nw::LpId{1}) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        throw std::runtime_error("the model's own words");
    }

    void break_rule(nw::Context& context) {
        const std::string& breach = *breach_;
        if (breach == "past") context.schedule(context.self(), -1, 0);
        if (breach == "nan")
            context.schedule(context.self(), std::numeric_limits<double>::quiet_NaN(), 0);
        if (breach == "infinite") context.schedule(context.self(), nw::time_infinity, 0);
        if (breach == "lookahead") context.schedule(nw::LpId{0}, lookahead / 2, 0);
        if (breach == "lp") context.schedule(nw::LpId{99}, 1, 0);
        if (breach == "payload") context.schedule(context.self(), 1, 0, std::array<char, 64>{});
        if (breach == "columns") context.output(0, 1, 2, 3);
        if (breach == "exception" || breach == "two")
            throw std::runtime_error("the model's own words");
        // Volatile: the compiler must not replace the failing instructions.
        volatile int zero = 0;
        volatile int seven = 7;
        if (breach == "division") seven = seven / zero;
        volatile int* volatile nowhere = nullptr;
        if (breach == "null") *nowhere = 1;
    }

    const std::string* breach_;
};

class RuleBreaker final : public nw::Model {
  public:
    RuleBreaker() : Model("rule_breaker", "breaks one rule, for tests") {}

    void options(nw::Options& options) override {
        options.add_choice(
            "breach", breach_,
            {"past", "nan", "infinite", "lookahead", "lp", "payload", "columns", "exception",
             "null", "division", "constructor", "start", "two", "two_starts", "none"},
            "the rule that LP 1 breaks at time 3, or the last LP in its "
            "constructor or on_start(); two, two_starts: LP 1 and the last LP "
            "fail; none: LP 0 is slow to build");
    }

    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = lps;
        setup.until = 100;
        setup.lookahead = lookahead;
        setup.payload_bytes_max = breach_ == "start" || breach_ == "none" ? large_payload : 8;
        setup.process = nw::process<Process>(const_cast<const std::string*>(&breach_));
        setup.outputs = {{"pairs", {"a", "b"}}};
        return setup;
    }

  private:
    std::string breach_ = "past";
};

}  // namespace

int main(int argc, char** argv) { return nw::run<RuleBreaker>(argc, argv); }
