// SPDX-License-Identifier: Apache-2.0
// Goal: nothing is lost while processes wait. An amount, an object or an exception may come at the
// instant at which its process continues for another reason. Even then, it is not lost. Waits that
// can never end, and waits for objects of other LPs, are refused.
//
// Method: scenes. Each scene is the shortest one in which something could be lost.
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <numawarp/process.hpp>

#include "tests/engine/process_scene.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Process fails_at(Scene& scene, double time) {
    co_await scene.env.delay(time);
    throw std::runtime_error("broken");
}
Process puts_at(Scene& scene, double time, double amount) {
    co_await scene.env.delay(time);
    co_await scene.tank.put(amount);
}

// --- Exceptions of processes ---------------------------------------------------------------------

TEST_CASE("an exception of a process reaches the waiting process through every condition") {
    const auto plays = {
        +[](Scene& s) -> Process {
            auto child = s.env.start(fails_at(s, 1));
            co_await any_of(child, s.env.delay(5));
        },
        +[](Scene& s) -> Process {
            auto child = s.env.start(fails_at(s, 1));
            co_await all_of(child, s.env.delay(5));
        },
        +[](Scene& s) -> Process {
            auto child = s.env.start(fails_at(s, 1));
            co_await interruptible(child);
        },
        +[](Scene& s) -> Process {
            const std::vector<Process> children{s.env.start(fails_at(s, 1))};
            co_await (all_of(children) | s.env.delay(3));
        },
        +[](Scene& s) -> Process {
            const std::vector<Process> children{s.env.start(fails_at(s, 1))};
            auto ends = any_of(children);
            co_await ends.within(1);
        },
    };
    for (const auto play : plays) {
        static Process (*now_playing)(Scene&);
        now_playing = play;
        CHECK(says(failure([](Scene& s) { s.env.start(now_playing(s)); }), "broken"));
    }
}

TEST_CASE(
    "if a process fails after another condition has ended the wait, the event does not fail") {
    const std::string text = told([](Scene& s) {
        s.env.start([](Scene& scene) -> Process {
            auto child = scene.env.start(fails_at(scene, 2));
            const auto first = co_await any_of(child, scene.env.delay(1));
            scene.note(first == 1 ? "delay" : "child");
            try {
                co_await child;
            } catch (const std::runtime_error&) {
                scene.note("caught");
            }
        }(s));
    });
    CHECK(text == "1:delay 2:caught ");
}

TEST_CASE("an exception of a process precedes an interrupt at the same time") {
    const std::string text = told([](Scene& s) {
        auto waiter = s.env.start([](Scene& scene) -> Process {
            auto child = scene.env.start(fails_at(scene, 1));
            try {
                co_await child;
            } catch (const std::runtime_error&) {
                scene.note("failure");
            }
            if (co_await interruptible(scene.env.delay(5))) scene.note("interrupt");
        }(s));
        s.env.start([](Scene& scene, Process victim) -> Process {
            co_await scene.env.delay(1);
            victim.interrupt();
        }(s, waiter));
    });
    CHECK(text == "1:failure 1:interrupt ");
}

// --- Amounts -------------------------------------------------------------------------------------

TEST_CASE("an amount that arrives exactly at the time limit is not lost") {
    const std::string text = told([](Scene& s) {
        s.env.start([](Scene& scene) -> Process {
            co_await scene.tank.get(50);
            scene.env.start(puts_at(scene, 3, 40));
            co_await scene.env.delay(0);  // so that puts_at() comes first at time 3
            auto fuel = scene.tank.get(40);
            scene.note(co_await fuel.within(3) ? "fuel" : "none");
            scene.note(fmt::format("level {}", scene.tank.level()));
        }(s));
    });
    CHECK(text == "3:fuel 3:level 0 ");
}

TEST_CASE(
    "if a condition does not report an amount, the container gets it back unless a variable holds "
    "it") {
    const std::string text = told([](Scene& s) {
        s.env.start([](Scene& scene) -> Process {
            co_await scene.tank.get(50);
            scene.env.start(puts_at(scene, 3, 40));
            co_await scene.env.delay(0);  // so that puts_at() comes first at time 3
            const auto first = co_await any_of(scene.env.delay(3), scene.tank.get(40));
            scene.note(fmt::format("{} level {}", first, scene.tank.level()));
            {
                auto fuel = scene.tank.get(40);
                co_await (scene.env.delay(0) | fuel);
                scene.note(fuel ? "fuel" : "none");
            }
            scene.note(fmt::format("level {}", scene.tank.level()));
            // The first part of the inner condition happens, and the second part does not.
            scene.env.start(puts_at(scene, 0, 40));
            co_await ((scene.tank.get(40) & scene.env.delay(9)) | scene.env.delay(1));
            scene.note(fmt::format("level {}", scene.tank.level()));
        }(s));
    });
    CHECK(text == "3:0 level 40 3:fuel 3:level 0 4:level 40 ");
}

// --- Waits that can never end --------------------------------------------------------------------

TEST_CASE("awaiting one object twice and a process that awaits itself are refused") {
    CHECK(says(failure([](Scene& s) {
                   s.env.start([](Scene& scene) -> Process {
                       auto both = scene.env.delay(1);
                       co_await all_of(both, both);
                   }(s));
               }),
               "is awaited twice"));
    CHECK(says(failure([](Scene& s) {
                   s.env.start([](Scene& scene) -> Process {
                       auto shared = scene.env.delay(1);
                       scene.env.start([](Delay& delay) -> Process { co_await delay; }(shared));
                       co_await shared;
                   }(s));
               }),
               "is awaited twice"));
    CHECK(says(failure([](Scene& s) {
                   s.processes.push_back(s.env.start([](Scene& scene) -> Process {
                       co_await scene.env.delay(1);
                       co_await scene.processes.front();
                   }(s)));
               }),
               "its own end"));
}

TEST_CASE("several processes may await a condition that has already happened") {
    const std::string text = told([](Scene& s) {
        s.env.start([](Scene& scene) -> Process {
            auto past = scene.env.delay(1);
            co_await past;
            co_await all_of(past, past);
            co_await past;
            scene.note("on");
        }(s));
    });
    CHECK(text == "1:on ");
}

TEST_CASE("awaiting a released or lost request again is refused") {
    CHECK(says(failure([](Scene& s) {
                   s.env.start([](Scene& scene) -> Process {
                       auto turn = scene.desk.request();
                       co_await turn;
                       turn.release();
                       co_await turn;
                   }(s));
               }),
               "released or has lost the resource"));
}

TEST_CASE("a capacity of zero, an infinite amount and a value that is not given are refused") {
    CHECK(says(failure([](Scene& s) { const Resource none(s.env, 0); }), "the capacity is 0"));
    CHECK(says(failure([](Scene& s) { const Store<int> none(s.env, 0); }), "the capacity is 0"));
    CHECK(says(failure([](Scene& s) {
                   Container endless(s.env);
                   auto all = endless.put(infinity);
               }),
               "must be finite"));
    CHECK(says(failure([](Scene& s) {
                   Outcome<int> open(s.env);
                   static_cast<void>(open.value());
               }),
               "not given yet"));
    CHECK(says(failure([](Scene& s) {
                   s.env.start([](Scene& scene) -> Process {
                       co_await scene.env.delay(10);
                       co_await scene.env.delay(-1e-300);
                   }(s));
               }),
               "waits for a delay of -1e-300"));
}

// --- Other LPs -----------------------------------------------------------------------------------

// Two LPs. The second one uses objects of the first one.
class Neighbor final : public ProcessLp {
  public:
    using Crime = void (*)(Neighbor& victim, Neighbor& culprit);
    Neighbor(LpId id, Crime crime, std::vector<Neighbor*>* all) : crime_(crime), all_(all) {
        (*all)[index(id)] = this;
    }
    void start() override { env.start(life()); }
    Resource desk{env};
    Process process;

  private:
    Process life() {
        process = env.start([](Neighbor& self) -> Process { co_await self.env.delay(9); }(*this));
        co_await env.delay(1);
        if (index(env.self()) == 1) crime_(*all_->front(), *this);
        co_await env.delay(1);
    }
    Crime crime_;
    std::vector<Neighbor*>* all_;
};

class Neighbors final : public Model {
  public:
    explicit Neighbors(Neighbor::Crime crime)
        : Model("neighbors", "one reaches into another"), crime_(crime), all_(2) {}
    Setup setup() override {
        Setup setup;
        setup.lps = 2;
        setup.until = 10;
        setup.process = process<Neighbor>(crime_, &all_);
        return setup;
    }

  private:
    Neighbor::Crime crime_;
    std::vector<Neighbor*> all_;
};

TEST_CASE("processes and resources of another LP are refused") {
    const auto told_of = [](Neighbor::Crime crime) {
        Neighbors model(crime);
        return model_error_of(model, in_order());
    };
    CHECK(says(told_of([](Neighbor& victim, Neighbor&) { auto turn = victim.desk.request(); }),
               "or by another LP"));
    CHECK(says(told_of([](Neighbor& victim, Neighbor&) { victim.process.interrupt(); }),
               "or by another LP"));
    CHECK(says(told_of([](Neighbor& victim, Neighbor& culprit) {
                   culprit.env.start(
                       [](Process foreign) -> Process { co_await foreign; }(victim.process));
               }),
               "another LP"));
}

}  // namespace
}  // namespace nw::test
