// SPDX-License-Identifier: Apache-2.0
// Goal: exceptions that handlers keep in their LP's state are rolled back with this state:
// std::exception_ptr, nested exceptions, promises and futures, and exceptions of the Context.
//
// Method: LPs throw, catch, keep, copy and drop exceptions at random, and send a hash of the
// messages of kept exceptions. There are many stragglers. The digest must be equal to the digest of
// the sequential engine.
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/engine/engines.hpp"
#include "tests/engine/stepped_run.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool exceptions_are_rolled_back =
    false;  // exceptions come from malloc, which sanitizers replace
#else
constexpr bool exceptions_are_rolled_back = true;
#endif

std::uint64_t hash(std::uint64_t sum, const char* text) {
    for (; *text != '\0'; ++text) sum = (sum ^ static_cast<unsigned char>(*text)) * 1099511628211u;
    return sum;
}

void add_words(std::uint64_t& sum, const std::exception& error) {
    sum = hash(sum, error.what());
    try {
        std::rethrow_if_nested(error);
    } catch (const std::exception& inner) {
        add_words(sum, inner);
    } catch (const std::string& text) {
        sum = hash(sum, text.c_str());
    }
}

std::uint64_t words_of(const std::exception_ptr& kept) {
    std::uint64_t sum = 7;
    if (kept == nullptr) return sum;
    try {
        std::rethrow_exception(kept);
    } catch (const std::exception& error) {
        add_words(sum, error);
    } catch (const std::string& text) {
        sum = hash(sum, text.c_str());
    }
    return sum;
}

class KeepingProcess final : public LogicalProcess {
  public:
    explicit KeepingProcess(LpId) {
        try {
            throw std::logic_error("kept since the constructor, in words that are long enough");
        } catch (...) {
            kept_.push_back(std::current_exception());
        }
    }

    void on_start(Context& context) override { send(context); }

    void on_event(Context& context, const Event& event) override {
        sum_ = sum_ * 31 + event.payload<std::uint64_t>();
        sum_ ^= words_of(kept_[context.random().below(kept_.size())]);
        keep_one_more(context);
        if (kept_.size() > 12) kept_.erase(kept_.begin(), kept_.begin() + 7);
        const auto from = context.random().below(kept_.size());
        const auto to = context.random().below(kept_.size());
        kept_[to] = kept_[from];
        if (asked_.valid() && context.random().chance(0.5)) hear();
        if (!asked_.valid()) ask(context);
        send(context);
    }

  private:
    void keep_one_more(Context& context) {
        const std::string text =
            "thrown at " + std::to_string(context.now()) + ", with " + std::to_string(sum_);
        try {
            switch (context.random().below(6)) {
                case 0:
                    throw std::runtime_error(text);
                case 1:
                    throw text;
                case 2:
                    static_cast<void>(std::string().at(sum_ % 1000 + 1));
                    return;
                case 3:
                    context.schedule(LpId{context.lps() + 3}, 1, 0);
                    return;
                case 4:
                    context.output(9, 1.0);
                    return;
                default:
                    break;
            }
            try {
                std::rethrow_exception(kept_.back());
            } catch (...) {
                if (kept_.size() % 5 == 0) throw;
                std::throw_with_nested(std::runtime_error(text));
            }
        } catch (...) {
            kept_.push_back(std::current_exception());
        }
    }

    void ask(Context& context) {
        promise_ = std::promise<std::string>();
        asked_ = promise_.get_future();
        if (context.random().chance(0.3)) {
            promise_ = {};  // a broken promise
        } else if (context.random().chance(0.5)) {
            promise_.set_exception(kept_.back());
        } else {
            promise_.set_value("a promise kept at " + std::to_string(context.now()));
        }
    }

    void hear() {
        try {
            sum_ = hash(sum_, asked_.get().c_str());
        } catch (...) {
            sum_ ^= words_of(std::current_exception());
        }
    }

    void send(Context& context) {
        const auto target = static_cast<std::uint32_t>(context.random().below(context.lps()));
        context.schedule(LpId{target}, context.random().exponential(1.0), 0, sum_);
    }

    std::vector<std::exception_ptr> kept_;
    std::promise<std::string> promise_;
    std::future<std::string> asked_;
    std::uint64_t sum_ = 1;
};

class KeepingModel final : public Model {
  public:
    KeepingModel() : Model("keeping", "LPs that keep exceptions") {}
    Setup setup() override {
        Setup setup;
        setup.lps = 16;
        setup.until = 60;
        setup.payload_bytes_max = sizeof(std::uint64_t);
        setup.process = process<KeepingProcess>();
        return setup;
    }
};

std::string sequential_digest() {
    KeepingModel model;
    return run_model(model, wild_config(EngineKind::sequential)).digest.hex();
}

TEST_CASE("exceptions in LP states are rolled back for any schedule") {
    if (!exceptions_are_rolled_back) return;
    const std::string expected = sequential_digest();
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        INFO("schedule " << seed);
        KeepingModel model;
        const Setup setup = model.setup();
        Config config = wild_config(EngineKind::timewarp);
        config.state_saving_interval = 1 + static_cast<std::uint32_t>(seed % 3);
        config.memory = seed % 2 == 0 ? MemoryMode::libc : MemoryMode::numa;
        SteppedRun run(setup, config, {.ranks = 1 + static_cast<std::uint32_t>(seed % 2)}, seed);
        REQUIRE_NOTHROW(run.run());
        CHECK(run.digest() == expected);
        CHECK(run.counters()[Counter::rollbacks] > 0);
    }
}

TEST_CASE("exceptions in LP states are rolled back with 2 and 4 workers") {
    if (!exceptions_are_rolled_back) return;
    const std::string expected = sequential_digest();
    for (const std::uint32_t workers : {2u, 4u}) {
        std::uint64_t rollbacks = 0;
        // How far the threads drift apart depends on the machine. Repeat until something was rolled
        // back.
        for (int attempt = 0; attempt < 50 && rollbacks == 0; ++attempt) {
            KeepingModel model;
            Config config = wild_config(EngineKind::timewarp);
            config.workers = workers;
            const RunResult result = run_model(model, config);
            REQUIRE(result.digest.hex() == expected);
            rollbacks += result.totals[Counter::rollbacks];
        }
        CHECK(rollbacks > 0);
    }
}

}  // namespace
}  // namespace nw::test
