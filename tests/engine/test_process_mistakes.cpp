// SPDX-License-Identifier: Apache-2.0
// Mistakes in processes. Goal: each mistake fails its event, and the message names the process and
// the place. Method: as in test_process.cpp.
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <numawarp/process.hpp>

#include "tests/engine/engines.hpp"
#include "tests/engine/process_scene.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

// The name of a coroutine in a message. The name contains no parameters if the compiler lacks
// std::source_location.
std::string function(std::string name, [[maybe_unused]] const char* parameters) {
#ifdef __cpp_lib_source_location
    name += parameters;
#endif
    return name;
}

Process faulty(Scene& scene, bool waits) {
    if (waits) co_await scene.env.delay(3);
    if (scene.env.now() >= 0) throw std::out_of_range("no such bed");
}

Process crashing(Scene& scene) {
    co_await nw::any_of(scene.signal, scene.env.delay(3));
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
}

TEST_CASE(
    "a failure message names the process and its last co_await and the type of the exception") {
    const std::string waited = failure([](Scene& s) { s.env.start(faulty(s, true)); });
    CHECK(says(waited, "process "));
    CHECK(says(waited, function("faulty", "(nw::test::Scene&, bool)") +
                           ", after co_await of Delay at test_process_mistakes.cpp:"));
    CHECK(says(waited, ": std::out_of_range: no such bed"));
    const std::string at_once = failure([](Scene& s) { s.env.start(faulty(s, false)); });
    CHECK(says(at_once, function("faulty", "(nw::test::Scene&, bool)") +
                            ": std::out_of_range: no such bed"));
    const std::string crash = failure([](Scene& s) { s.env.start(crashing(s)); });
    CHECK(says(crash, function("crashing", "(nw::test::Scene&)") +
                          ", after co_await of AnyOf<nw::Signal"));
    CHECK(says(crash, ", nw::Delay> at test_process_mistakes.cpp:"));
    // If an LP's own function fails, the message names no process.
    CHECK(!says(failure([](Scene& s) {
                    s.env.start(sleeper(s, 0, ""));
                    throw std::out_of_range("no such bed");
                }),
                "process "));
}

TEST_CASE("each misuse of a process fails the event with a message") {
    CHECK(says(failure([](Scene& s) {
                   const Process process = s.env.start(sleeper(s, 1, ""));
                   s.env.start(process);
               }),
               "started before"));
    CHECK(says(failure([](Scene& s) { sleeper(s, 1, "").interrupt(); }), "not alive"));
    CHECK(says(failure([](Scene& s) {
                   s.env.start([](Scene& scene) -> Process {
                       co_await scene.env.delay(1);
                       scene.processes.front().interrupt();
                   }(s));
                   s.processes.push_back(s.env.start([](Scene& scene) -> Process {
                       co_await scene.env.delay(0.5);
                       scene.processes.front().interrupt();
                   }(s)));
               }),
               "interrupts itself"));
}

class EarlyBird final : public ProcessLp {
  public:
    explicit EarlyBird(LpId) { env.lps(); }
    void start() override {}
};
class EarlyModel final : public Model {
  public:
    EarlyModel() : Model("early", "asks too early") {}
    Setup setup() override { return {.lps = 1, .until = 1, .process = process<EarlyBird>()}; }
};

// Creates an object that can be awaited, and does not await it. If `what` is 5, the object has an
// effect nevertheless.
Process unused_wait(Scene& scene, int what) {
    if (what == 0) static_cast<void>(scene.env.delay(3));
    if (what == 1) static_cast<void>(scene.shelf.get());
    if (what == 2) static_cast<void>(scene.tank.get(10));
    if (what == 3) static_cast<void>(scene.tank.put(60));
    if (what == 4) {
        co_await scene.shelf.put(std::make_unique<int>(1));
        co_await scene.shelf.put(std::make_unique<int>(2));
        auto part = std::make_unique<int>(3);
        static_cast<void>(scene.shelf.put(std::move(part)));
    }
    if (what == 5) static_cast<void>(scene.tank.put(25));
    if (what == 5) scene.note(detail::number_text(scene.tank.level()));
    co_return;
}

TEST_CASE("a process that is never started or an object that is never awaited fails the event") {
    CHECK(says(
        failure([](Scene& s) { [](Scene& scene) -> Process { co_await scene.env.delay(1); }(s); }),
        "never started"));
    CHECK(says(failure([](Scene& s) {
                   s.env.start([](Scene& scene) -> Process {
                       auto turn = scene.desk.request();
                       co_await scene.env.delay(1);
                   }(s));
               }),
               "did not await it"));
    const auto unused = [](Play play) {
        const std::string words = failure(play);
        return says(words, function("unused_wait", "(nw::test::Scene&, int)")) &&
               says(words, "did not await it");
    };
    CHECK(unused([](Scene& s) { s.env.start(unused_wait(s, 0)); }));
    CHECK(unused([](Scene& s) { s.env.start(unused_wait(s, 1)); }));
    CHECK(unused([](Scene& s) { s.env.start(unused_wait(s, 2)); }));
    CHECK(unused([](Scene& s) { s.env.start(unused_wait(s, 3)); }));
    CHECK(unused([](Scene& s) { s.env.start(unused_wait(s, 4)); }));
    CHECK(told([](Scene& s) { s.env.start(unused_wait(s, 5)); }) == "0:75 ");
    // These are no mistakes: a request that is queried, a scope that an exception leaves, and a
    // scope that is cut off by the end of the run.
    const std::string text = told([](Scene& s) {
        const auto asks = s.env.start([](Scene& scene) -> Process {
            const auto turn = scene.desk.request();
            scene.note(turn ? "granted" : "not granted");
            co_return;
        }(s));
        const auto leaves = s.env.start([](Scene& scene) -> Process {
            try {
                const auto turn = scene.desk.request();
                co_await scene.env.delay(5);
            } catch (const Interrupt&) {
                scene.note("left");
            }
        }(s));
        s.env.start([](Scene& scene, Process other) -> Process {
            co_await scene.env.delay(1);
            other.interrupt();
        }(s, leaves));
        s.env.start([](Scene& scene) -> Process {
            const auto turn = scene.desk.request();
            co_await scene.env.delay(1e6);
        }(s));
    });
    CHECK(text.starts_with("0:granted 1:left "));
}

TEST_CASE("an environment reports that it has no Context outside of events") {
    EarlyModel model;
    CHECK(says(model_error_of(model, in_order()), "outside of the events of its LP"));
}

}  // namespace
}  // namespace nw::test
