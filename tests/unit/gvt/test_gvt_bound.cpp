// SPDX-License-Identifier: Apache-2.0
// Goal: GVT is never above a future event, never decreases, and reaches the end.
//
// Method: the workers of the ranks only count. They use EpochCounts and GvtRounds as the engine
// does, and the seeded in-process network for reductions. Messages between the workers are in a
// bag. The test takes the messages from the bag in any order. The true bound is computed from all
// pending events and all messages.
#include <algorithm>
#include <chrono>
#include <memory>
#include <queue>
#include <vector>

#include "gvt/epoch_counts.hpp"
#include "gvt/gvt_rounds.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/in_process_network.hpp"
#include "tests/support/random_cases.hpp"

namespace nw::test {
namespace {

class CountingRun {
  public:
    CountingRun(std::uint64_t seed, std::uint32_t ranks, std::uint32_t workers)
        : dice_(seed),
          network_(ranks, seed, {.delay_max = 15, .stall_probability = 0}),
          execute_share_(0.02 + 0.1 * static_cast<double>(dice_.below(6))),
          receive_share_(0.02 + 0.1 * static_cast<double>(dice_.below(6))) {
        for (std::uint32_t r = 0; r < ranks; ++r)
            rounds_.push_back(std::make_unique<GvtRounds>(network_.rank(r), workers, 0,
                                                          WindowControl::off(), false));
        for (std::uint32_t w = 0; w < ranks * workers; ++w) {
            workers_.push_back({.rounds = rounds_[w / workers].get(), .slot = w % workers});
            for (std::size_t n = dice_.below(4); n > 0; --n)
                workers_[w].pending.push({static_cast<double>(dice_.below(10))});
        }
    }

    void step() {
        Worker& worker = workers_[dice_.below(workers_.size())];
        if (dice_.chance(execute_share_)) execute(worker);
        if (dice_.chance(receive_share_)) receive();
        switch (dice_.below(3)) {
            case 0:
                learn(worker);
                break;
            case 1:
                cut(worker);
                break;
            default:
                network_.tick();
                for (auto& rounds : rounds_) rounds->step(GvtRounds::Clock::now());
        }
        for (const auto& rounds : rounds_) REQUIRE(!(true_bound() < bound_of(rounds->result())));
    }

    bool over() const {
        return true_bound().time == time_infinity &&
               std::all_of(rounds_.begin(), rounds_.end(), [](const auto& rounds) {
                   return rounds->result().gvt == time_infinity;
               });
    }
    std::int64_t balance() const {
        std::int64_t sum = 0;
        for (const Worker& worker : workers_) sum += worker.counts.balance();
        return sum;
    }
    std::size_t in_flight() const { return bag_.size(); }
    std::size_t received_ahead() const { return received_ahead_; }

  private:
    struct Later {
        bool operator()(const EventBound& a, const EventBound& b) const { return b < a; }
    };
    struct Worker {
        GvtRounds* rounds;
        std::uint32_t slot;
        EpochCounts counts{};
        std::priority_queue<EventBound, std::vector<EventBound>, Later> pending{};
        EventBound gvt{0};
    };
    struct Message {
        EventBound key;
        std::uint32_t stamp;
        std::size_t to;
    };

    static EventBound bound_of(const GvtResult& result) { return {result.gvt, result.generation}; }

    EventBound true_bound() const {
        EventBound bound;
        for (const Worker& worker : workers_)
            if (!worker.pending.empty()) bound = std::min(bound, worker.pending.top());
        for (const Message& message : bag_) bound = std::min(bound, message.key);
        return bound;
    }

    // Sends an effect of `cause`. If the delay is 0, the effect has the next generation.
    void send(Worker& from, const EventBound& cause) {
        const auto delay = static_cast<double>(dice_.below(4));
        const EventBound key{cause.time + delay, delay > 0 ? 0 : cause.generation + 1};
        if (key.time > 60 || key.generation > 9) return;
        put(from, key);
    }

    void put(Worker& from, const EventBound& key) {
        const std::size_t to = dice_.below(workers_.size());
        if (&workers_[to] == &from) {
            from.pending.push(key);
        } else {
            bag_.push_back({key, from.counts.send(key), to});
        }
    }

    void execute(Worker& worker) {
        if (worker.pending.empty()) return;
        const EventBound key = worker.pending.top();
        worker.pending.pop();
        REQUIRE(!(key < worker.gvt));
        for (std::size_t n = dice_.below(3); n > 0; --n) send(worker, key);
    }

    // A received message may immediately cause a send, as an anti-message does.
    void receive() {
        if (bag_.empty()) return;
        // Mostly takes the newest message, so that some messages are in flight for many rounds.
        if (dice_.chance(0.2)) std::swap(bag_[dice_.below(bag_.size())], bag_.back());
        const Message message = bag_.back();
        bag_.pop_back();
        Worker& worker = workers_[message.to];
        REQUIRE(!(message.key < worker.gvt));
        if (message.stamp == worker.counts.epoch() + 1) ++received_ahead_;
        worker.counts.receive(message.stamp);
        if (dice_.chance(0.3)) {
            send(worker, message.key);
        } else {
            worker.pending.push(message.key);
        }
    }

    void learn(Worker& worker) {
        if (worker.counts.seen() == worker.rounds->done()) return;
        const GvtResult& result = worker.rounds->result();
        worker.counts.learn(result.sums);
        REQUIRE(!(bound_of(result) < worker.gvt));
        worker.gvt = bound_of(result);
    }

    void cut(Worker& worker) {
        const bool open = worker.rounds->opened() != worker.counts.epoch();
        if (!open || worker.counts.epoch() != worker.counts.seen()) return;
        Contribution& slot = worker.rounds->slot(worker.slot).sums;
        slot = {};
        worker.counts.cut(worker.pending.empty() ? EventBound() : worker.pending.top(), slot);
        worker.rounds->arrive(worker.slot);
    }

    Dice dice_;
    InProcessNetwork network_;
    double execute_share_;  // probability per step; drawn for each run
    double receive_share_;
    std::vector<std::unique_ptr<GvtRounds>> rounds_;
    std::vector<Worker> workers_;
    std::vector<Message> bag_;
    std::size_t received_ahead_ = 0;
};

TEST_CASE("GVT is never above a future event, never decreases and reaches the end") {
    std::size_t received_ahead = 0;
    for (const std::uint64_t seed : test_seeds(150)) {
        INFO("replay with NUMAWARP_TEST_SEED=" << seed);
        Dice dice(seed);
        const auto ranks = static_cast<std::uint32_t>(1 + dice.below(3));
        const auto workers = static_cast<std::uint32_t>(1 + dice.below(3));
        CountingRun run(seed, ranks, workers);
        for (int steps = 0; !run.over(); ++steps) {
            REQUIRE(steps < 2'000'000);
            run.step();
            REQUIRE(run.balance() == static_cast<std::int64_t>(run.in_flight()));
        }
        CHECK(run.balance() == 0);
        received_ahead += run.received_ahead();
    }
    // Some messages came from one epoch ahead of their receiver.
    if (!seed_to_replay()) CHECK(received_ahead > 0);
}

TEST_CASE("a message with a stamp two epochs ahead is refused") {
    EpochCounts counts;
    CHECK_NOTHROW(counts.receive(first_round + 1));
    CHECK_THROWS_AS(counts.receive(first_round + 2), InternalError);
}

TEST_CASE("a worker does not cut twice before it has received the result") {
    EpochCounts counts;
    Contribution out;
    counts.cut(1, out);
    CHECK_THROWS_AS(counts.cut(1, out), InternalError);
    counts.learn(out);
    CHECK_NOTHROW(counts.cut(1, out));
}

// Each of two workers sends one message per epoch. The other worker receives the message `journey`
// epochs later.
TEST_CASE("GVT advances although some messages are always in flight") {
    constexpr std::uint32_t rounds = 1000, journey = 5;
    static_assert(first_round + rounds < rounds, "epochs wrap on the way");
    EpochCounts workers[2];
    VirtualTime gvt = 0;
    for (std::uint32_t now = 0; now < rounds; ++now) {
        Contribution sums;
        for (EpochCounts& worker : workers) {
            worker.send(now);
            if (now >= journey) worker.receive(first_round + now - journey);
            Contribution own;
            worker.cut(now + 1, own);
            sums.combine(own);
        }
        for (EpochCounts& worker : workers) worker.learn(sums);
        CHECK(sums.in_flight() == 2 * std::min(now, journey - 1));
        CHECK(sums.gvt().time >= gvt);
        gvt = sums.gvt().time;
        CHECK(gvt <= now);
        CHECK(gvt + 2 * journey >= now);
    }
}

TEST_CASE("an overdue round reports once which workers have not cut") {
    InProcessNetwork network(1, 1);
    GvtRounds rounds(network.rank(0), 3, 0, WindowControl::off(), true);
    const auto now = GvtRounds::Clock::now();
    rounds.step(now);
    rounds.arrive(1);
    CHECK(rounds.overdue(now + std::chrono::seconds(5), std::chrono::seconds(60)).empty());
    CHECK(rounds.overdue(now + std::chrono::seconds(61), std::chrono::seconds(60)) ==
          "GVT round 1 is not complete after 60 s: a handler is still running on worker 0, 2");
    CHECK(rounds.overdue(now + std::chrono::seconds(62), std::chrono::seconds(60)).empty());
}

}  // namespace
}  // namespace nw::test
