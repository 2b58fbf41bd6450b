// SPDX-License-Identifier: Apache-2.0
// Processes. Goal: delays, conditions, resources and messages happen at the times and in the order
// that numawarp/process/ defines, and objects that processes own are destroyed once.
//
// Method: scenes (process_scene.hpp) note what their processes observe. test_process_mistakes.cpp
// tests mistakes of processes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <numawarp/process.hpp>

#include "tests/engine/engines.hpp"
#include "tests/engine/process_scene.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

// --- Time ----------------------------------------------------------------------------------------

TEST_CASE("delays end in the order of time and then in the order of their creation") {
    const std::string text = told([](Scene& s) {
        for (const char* word : {"a", "b", "c"}) s.env.start(sleeper(s, 2, word));
        s.env.start(sleeper(s, 1, "first"));
        s.env.start(sleeper(s, 0, "now"));
    });
    CHECK(text == "0:now 1:first 2:a 2:b 2:c ");
}

TEST_CASE("now() equals exactly the time that a process waited for") {
    Stage stage(
        [](Scene& s) {
            s.env.start([](Scene& scene) -> Process {
                for (int i = 1; i < 9000; ++i) {
                    const double time = i / 9.7 + i % 3 * 1e-12;
                    co_await scene.env.until(time);
                    if (scene.env.now() != time) scene.note("not exact");
                }
            }(s));
        },
        0);
    const RunResult result = run_model(stage, in_order());
    CHECK(std::string(stage.notes.text.data(), stage.notes.size) == "1000:end ");
    CHECK(result.totals[Counter::committed_events] <= 9000);
}

TEST_CASE("canceled delays cost no events and their entries are removed") {
    Stage stage(
        [](Scene& s) {
            for (int i = 0; i < 50; ++i)
                s.env.start([](Scene& scene, int number) -> Process {
                    for (int round = 0; round < 100; ++round) {
                        co_await (scene.env.delay(500 + number % 7) |
                                  scene.env.delay(number % 5 + 1));
                    }
                }(s, i));
        },
        0);
    const RunResult result = run_model(stage, in_order());
    // The first 100 multiples of 1, 2, 3, 4 and 5 are 292 different times in total.
    CHECK(result.totals[Counter::committed_events] == 292);
}

// Sets and withdraws delays at random, and compares them with a table of the delays that are set.
Process clerk(Scene& scene) {
    std::vector<std::unique_ptr<Delay>> delays;
    std::vector<double> times;
    for (int step = 0; step < 20'000; ++step) {
        const Draws random = scene.env.random();
        if (delays.size() < 30 || random.chance(0.4)) {
            times.push_back(scene.env.now() + static_cast<double>(1 + random.below(40)) / 64);
            delays.push_back(std::make_unique<Delay>(scene.env, times.back()));
        }
        const std::size_t drawn = random.below(delays.size());
        if (random.chance(0.3)) {
            const double first = *std::min_element(times.begin(), times.end());
            co_await *delays[static_cast<std::size_t>(std::find(times.begin(), times.end(), first) -
                                                      times.begin())];
            if (scene.env.now() < first) scene.note("too early");
            for (std::size_t i = 0; i < delays.size(); ++i)
                if (delays[i]->happened() != (times[i] <= scene.env.now())) scene.note("wrong");
        }
        if (random.chance(0.4)) {
            // A delay that is neither awaited nor queried fails the event.
            if (delays[drawn]->happened() != (times[drawn] <= scene.env.now())) scene.note("wrong");
            delays.erase(delays.begin() + static_cast<std::ptrdiff_t>(drawn));
            times.erase(times.begin() + static_cast<std::ptrdiff_t>(drawn));
        }
    }
    scene.note("done");
}

TEST_CASE("of many random delays, some of them canceled, exactly the due delays happen") {
    const std::string text = told([](Scene& s) { s.env.start(clerk(s)); });
    CHECK(text.size() > 6);
    CHECK(text.substr(text.find(':')) == ":done ");
}

TEST_CASE("a wait for a time in the past fails the event") {
    CHECK(says(failure([](Scene& s) { s.env.start(sleeper(s, -1, "")); }),
               "waits for a delay of -1; allowed: at least 0"));
    CHECK(says(failure([](Scene& s) { s.env.start(sleeper(s, std::nan(""), "")); }),
               "waits for a delay of nan"));
}

TEST_CASE("may_lag() does not change the results that processes observe") {
    const Play play = [](Scene& s) {
        for (int i = 0; i < 5; ++i)
            s.env.start([](Scene& scene, int number) -> Process {
                for (int round = 0; round < 3; ++round) {
                    auto turn = scene.desk.request(number % 2);
                    if (!co_await turn.within(7)) co_return scene.note("gone");
                    co_await scene.env.delay(number + 1.5);
                    scene.note(std::to_string(number));
                    scene.env.send(scene.env.self(), 10, number);
                    if (round == 2) continue;
                    const int letter = co_await scene.env.receive<int>();
                    scene.note("letter " + std::to_string(letter));
                }
            }(s, i));
        s.env.start(sleeper(s, 999.5, "late"));
    };
    const std::string punctual = told(play);
    for (const double lag : {0.1, 1.0, 5.0, 10.0}) CHECK(told(play, lag) == punctual);
    CHECK(says(punctual, "letter"));
    CHECK(says(punctual, "999.5:late"));
}

// --- Conditions ----------------------------------------------------------------------------------

TEST_CASE("any_of returns the first condition; all_of waits for the last; both can be nested") {
    const std::string text = told([](Scene& s) {
        s.env.start([](Scene& scene) -> Process {
            Environment& env = scene.env;
            const auto first = co_await any_of(env.delay(3), env.delay(1), env.delay(2));
            scene.note(std::to_string(first));
            co_await all_of(env.delay(3), env.delay(1));
            scene.note("all");
            co_await ((env.delay(1) & env.delay(5)) | env.delay(2));
            scene.note("nested");
            auto kept = env.delay(4);
            const auto early = co_await (kept | env.delay(1));
            co_await kept;
            scene.note(fmt::format("kept {}", early));
            const Process other = env.start(sleeper(scene, 2, "other"));
            co_await (other | scene.signal);
            co_await other;
            const auto at_once = co_await any_of(scene.signal, other);
            scene.note(std::to_string(at_once));
        }(s));
    });
    CHECK(text == "1:1 4:all 6:nested 10:kept 1 12:other 12:1 ");
}

Process thrower(Scene& scene) {
    const Guest guest(scene);
    co_await scene.env.delay(3);
    throw std::runtime_error("enough");
}

TEST_CASE("any_of and all_of accept a list of processes and rethrow their exceptions") {
    const std::string text = told([](Scene& s) {
        s.env.start([](Scene& scene) -> Process {
            std::vector<Process> sleepers;
            for (const double time : {3.0, 1.0, 2.0})
                sleepers.push_back(scene.env.start(sleeper(scene, time, "slept")));
            const auto first = co_await any_of(sleepers);
            scene.note(fmt::format("first {}", first));
            co_await all_of(sleepers);
            scene.note("all");
            co_await all_of(sleepers);  // returns at once
            std::vector<Process> others{scene.env.start(sleeper(scene, 1, "slept")),
                                        scene.env.start(thrower(scene))};
            try {
                co_await all_of(others);
            } catch (const std::runtime_error& error) {
                scene.note(error.what());
            }
        }(s));
    });
    CHECK(text == "1:slept 1:first 1 2:slept 3:slept 3:all 4:slept 6:enough ");
    CHECK(says(failure([](Scene& s) {
                   s.env.start([](Scene&) -> Process {
                       const std::vector<Process> nobody;
                       co_await all_of(nobody);
                   }(s));
               }),
               "an empty list"));
}

TEST_CASE("an outcome is given once and can be awaited before and after that") {
    const std::string text = told([](Scene& s) {
        s.env.start([](Scene& scene) -> Process {
            Outcome<std::string> word{scene.env};
            scene.env.start([](Scene& other, Outcome<std::string>& said) -> Process {
                co_await other.env.delay(2);
                said.give("yes");
            }(scene, word));
            const auto late = co_await (word | scene.env.delay(1));
            scene.note(std::to_string(late));
            scene.note(co_await word);
            scene.note(co_await word);
        }(s));
    });
    CHECK(text == "1:1 2:yes 2:yes ");
    CHECK(says(failure([](Scene& s) {
                   Outcome<int> number{s.env};
                   number.give(1);
                   number.give(2);
               }),
               "given twice"));
}

TEST_CASE("turn_on() and pulse() wake all waiting processes; a signal that is on does not block") {
    const std::string text = told([](Scene& s) {
        for (const double time : {0.0, 1.0, 3.0})
            s.env.start([](Scene& scene, double begin) -> Process {
                co_await scene.env.delay(begin);
                co_await scene.signal;
                scene.note(fmt::format("{}", begin));
            }(s, time));
        s.env.start([](Scene& scene) -> Process {
            co_await scene.env.delay(0.5);
            scene.signal.pulse();
            co_await scene.env.delay(1.5);
            scene.signal.turn_on();
            co_await scene.env.delay(2);
            scene.signal.turn_off();
            scene.note(scene.signal.is_on() ? "on" : "off");
        }(s));
    });
    CHECK(text == "0.5:0 2:1 3:3 4:off ");
}

// --- Resources -----------------------------------------------------------------------------------

Process user(Scene& scene, std::string word, double begin, int priority, double time) {
    co_await scene.env.delay(begin);
    auto turn = scene.desk.request(priority);
    co_await turn;
    scene.note(word);
    co_await scene.env.delay(time);
}

TEST_CASE(
    "a resource serves the smallest priority first and equal priorities in order of arrival") {
    const std::string text = told([](Scene& s) {
        s.env.start(user(s, "a", 0, 5, 10));
        s.env.start(user(s, "b", 1, 2, 10));
        s.env.start(user(s, "c", 2, 1, 10));
        s.env.start(user(s, "d", 3, 1, 10));
    });
    CHECK(text == "0:a 10:c 20:d 30:b ");
}

TEST_CASE("a timed-out process and an interrupted process leave the queue of a resource") {
    const std::string text = told([](Scene& s) {
        s.env.start(user(s, "a", 0, 0, 10));
        s.env.start([](Scene& scene) -> Process {
            co_await scene.env.delay(0);
            auto turn = scene.desk.request();
            const bool in_time = co_await turn.within(4);
            scene.note(fmt::format("{} {}", in_time, scene.desk.waiting()));
        }(s));
        const Process b = s.env.start(user(s, "b", 1, 0, 1));
        s.env.start(user(s, "c", 2, 0, 1));
        s.env.start([](Scene& scene, Process hurried) -> Process {
            co_await scene.env.delay(5);
            scene.note(fmt::format("{}", scene.desk.waiting()));
            hurried.interrupt();
            try {
                co_await hurried;
            } catch (const Interrupt&) {
                scene.note("thrown");
            }
            scene.note(fmt::format("{}", scene.desk.waiting()));
        }(s, b));
    });
    CHECK(text == "0:a 4:false 3 5:2 5:thrown 5:1 10:c ");
}

TEST_CASE(
    "preempt() takes the resource from the least urgent process and interrupts that process") {
    const std::string text = told([](Scene& s) {
        s.env.start([](Scene& scene) -> Process {
            co_await scene.env.delay(1);
            auto turn = scene.desk.request(2);
            co_await turn;
            const auto cut = co_await interruptible(scene.env.delay(10));
            const auto* preempted = cut ? cut->cause<Preempted>() : nullptr;
            scene.note(preempted && preempted->resource == &scene.desk && !turn
                           ? fmt::format("since {}", preempted->since)
                           : "not preempted");
        }(s));
        for (const int priority : {2, 1})
            s.env.start([](Scene& scene, int own) -> Process {
                co_await scene.env.delay(3);
                auto turn = scene.desk.preempt(own);
                co_await turn;
                scene.note(fmt::format("got it {}", own));
                co_await scene.env.delay(1);
            }(s, priority));
    });
    CHECK(text == "3:got it 1 3:since 1 4:got it 2 ");
}

TEST_CASE("a container serves in order and gets back the amount of an interrupted process") {
    const std::string text = told([](Scene& s) {
        const Process greedy = s.env.start([](Scene& scene) -> Process {
            co_await scene.tank.get(70);
            scene.note("greedy");
        }(s));
        s.env.start([](Scene& scene) -> Process {
            co_await scene.tank.get(10);
            scene.note(fmt::format("modest {}", scene.tank.level()));
        }(s));
        s.env.start([](Scene& scene, Process victim) -> Process {
            co_await scene.env.delay(2);
            co_await scene.tank.put(25);
            victim.interrupt();
            scene.note(fmt::format("put {}", scene.tank.level()));
            try {
                co_await victim;
            } catch (const Interrupt&) {
                scene.note(fmt::format("back {}", scene.tank.level()));
            }
            co_await scene.tank.put(40);
            scene.note("full");
        }(s, greedy));
        s.env.start([](Scene& scene) -> Process {
            co_await scene.env.delay(5);
            co_await scene.tank.get(5);
        }(s));
    });
    // The level is 50 + 25 - 70 = 5. The interrupt at the same instant returns the 70, so that the
    // level is 75. Then `modest` gets 10 of these 75.
    CHECK(text == "2:put 5 2:modest 65 2:back 65 5:full ");
    CHECK(says(failure([](Scene& s) { auto amount = s.tank.get(101); }), "from 0 to the capacity"));
}

TEST_CASE(
    "a store keeps its order and capacity; objects that no process takes return to the store") {
    const std::string text = told([](Scene& s) {
        s.env.start([](Scene& scene) -> Process {
            for (int i = 1; i <= 5; ++i) {
                co_await scene.shelf.put(std::make_unique<int>(i));
                scene.note(fmt::format("put {}", i));
            }
        }(s));
        s.env.start([](Scene& scene) -> Process {
            co_await scene.env.delay(1);
            const auto third = co_await scene.shelf.get([](const auto& i) { return *i == 3; });
            scene.note(fmt::format("got {}", *third));
        }(s));
        s.env.start([](Scene& scene) -> Process {
            co_await scene.env.delay(2);
            const auto first = co_await scene.shelf.get();
            scene.note(fmt::format("got {}", *first));
            {
                auto dropped = scene.shelf.get();
                co_await dropped;
                auto untaken = scene.shelf.get();
                co_await (untaken | scene.env.delay(1));
            }
            scene.note(fmt::format("front {}", *scene.shelf.objects().front()));
        }(s));
    });
    CHECK(text == "0:put 1 0:put 2 2:got 1 2:put 3 2:put 4 2:put 5 2:got 3 2:front 4 ");
}

// --- Processes -----------------------------------------------------------------------------------

TEST_CASE(
    "interrupt() ends the current wait of a process, or the next wait if the process does not "
    "wait") {
    const std::string text = told([](Scene& s) {
        const Process victim = s.env.start([](Scene& scene) -> Process {
            for (int i = 0; i < 4; ++i) {
                const auto cut = co_await interruptible(scene.env.delay(5));
                scene.note(cut ? fmt::format("cut {}", *cut->cause<int>()) : "slept");
            }
        }(s));
        victim.interrupt(0);  // before it has begun
        s.env.start([](Scene& scene, Process process) -> Process {
            co_await scene.env.delay(1);
            process.interrupt(1);
            process.interrupt(2);
            co_await process;
            scene.note(process.is_alive() ? "alive" : "ended");
        }(s, victim));
    });
    CHECK(text == "0:cut 0 1:cut 1 1:cut 2 6:slept 6:ended ");
}

TEST_CASE(
    "an exception of a process is rethrown in the process that waits for it; else the event "
    "fails") {
    const std::string text = told([](Scene& s) {
        s.env.start([](Scene& scene) -> Process {
            const Process process = scene.env.start(thrower(scene));
            try {
                co_await process;
            } catch (const std::runtime_error& error) {
                scene.note(error.what());
            }
        }(s));
    });
    CHECK(text == "3:enough ");
    const std::string words = failure([](Scene& s) { s.env.start(thrower(s)); });
    CHECK(says(words, "LP 0 at time 3"));
    CHECK(says(words, "enough"));
}

TEST_CASE(
    "variables and temporaries of a process are destroyed exactly once, however the process ends") {
    Stage stage(
        [](Scene& s) {
            s.env.start([](Scene& scene) -> Process {
                const Guest guest(scene);
                const Process one = scene.env.start(thrower(scene));
                try {
                    const Guest inner(scene);
                    co_await (one | scene.env.delay(9));
                    co_await one;
                } catch (const std::runtime_error&) {
                }
                scene.note(std::to_string(scene.notes().alive));
            }(s));
            s.env.start([](Scene& scene, std::shared_ptr<int> shared) -> Process {
                const std::weak_ptr<int> weak = shared;
                while (co_await any_of(scene.env.delay(*shared), scene.env.delay(100)) != 0)
                    continue;
                shared.reset();
                scene.note(weak.expired() ? "once" : "twice");
            }(s, std::make_shared<int>(7)));
        },
        0);
    run_model(stage, in_order());
    CHECK(std::string(stage.notes.text.data(), stage.notes.size) == "3:1 7:once 1000:end ");
    CHECK(stage.notes.alive == 0);
}

// As in SimPy (https://gitlab.com/team-simpy/simpy/-/issues/55): a more urgent request that is
// waiting is served first.
TEST_CASE("preempt() does not overtake a waiting request that is more urgent") {
    const std::string text = told([](Scene& s) {
        const auto user = [](Scene& scene, const char* name, double at, int priority,
                             bool preempts) -> Process {
            co_await scene.env.delay(at);
            auto turn = preempts ? scene.desk.preempt(priority) : scene.desk.request(priority);
            co_await turn;
            scene.note(name);
            try {
                co_await scene.env.delay(3);
            } catch (const Interrupt&) {
                scene.note("lost");
            }
        };
        s.env.start(user(s, "A", 0, 5, true), user(s, "B", 1, 0, false), user(s, "C", 1, 2, true));
    });
    CHECK(text.starts_with("0:A 3:B 6:C "));
}

// --- Messages ------------------------------------------------------------------------------------

struct Letter {
    int number;
};
struct Parcel {
    static constexpr EventType type = 7;
    double weight;
};

TEST_CASE("messages of each type wait separately until they are received") {
    const std::string text = told([](Scene& s) {
        for (int i = 1; i <= 3; ++i) s.env.send(s.env.self(), i, Letter{i});
        s.env.send(s.env.self(), 2, Parcel{0.5});
        s.env.start([](Scene& scene) -> Process {
            co_await scene.env.delay(1.5);
            const auto third = co_await scene.env.receive<Letter>(
                [](const Letter& letter) { return letter.number == 3; });
            const auto first = co_await scene.env.receive<Letter>();
            const auto parcel = co_await scene.env.receive<Parcel>();
            scene.note(fmt::format("{} {} {}", third.number, first.number, parcel.weight));
        }(s));
    });
    CHECK(text == "3:3 1 0.5 ");
    CHECK(says(failure([](Scene& s) {
                   auto letter = s.env.receive<Letter>();
                   auto number = s.env.receive<int>();
               }),
               "two kinds of messages have type 0"));
}

}  // namespace
}  // namespace nw::test
