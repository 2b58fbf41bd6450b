#include "tests/bench/limit.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include <numawarp/random.hpp>

#include "event/pending_set.hpp"

namespace nw::bench {
namespace {

constexpr std::uint64_t seed = 1;

// Events ahead whose LP is brought into the cache.
constexpr std::size_t prefetch_distance = 4;

class Limit {
  public:
    explicit Limit(const Phold& model)
        : model_(model),
          lp_words_(1 + (model.state_bytes + 7) / 8),
          states_(std::size_t{model.lps} * lp_words_) {
        for (std::uint32_t lp = 0; lp < model.lps; ++lp)
            for (std::uint32_t i = 0; i < model.events_per_lp; ++i) send(lp, 0);
    }

    void run(std::uint64_t events) {
        for (std::uint64_t i = 0; i < events; ++i) {
            const PendingEntry* next = pending_.top();
            const std::uint32_t lp = next->target;
            const VirtualTime now = next->time;
            if (const PendingEntry* later = pending_.upcoming(prefetch_distance))
                __builtin_prefetch(state_of(later->target), 1);
            pending_.pop();
            send(lp, now);
        }
    }

  private:
    std::uint64_t* state_of(std::uint32_t lp) { return &states_[lp * lp_words_]; }

    // What the handler of PHOLD does: counts the event in the state, and schedules another.
    void send(std::uint32_t lp, VirtualTime now) {
        std::uint64_t* state = state_of(lp);
        Random random(seed, lp, state[0]);
        const std::uint32_t target =
            random.chance(model_.remote) ? static_cast<std::uint32_t>(random.below(model_.lps)) : lp;
        const VirtualTime delay = model_.lookahead + random.exponential(model_.mean);
        state[0] = random.counter();
        if (lp_words_ > 1) ++state[1];
        pending_.push({now + delay, 0, 0, 0, target, nullptr});
    }

    Phold model_;
    std::size_t lp_words_;  // of an LP: the counter of its random numbers, then its state
    std::vector<std::uint64_t> states_;
    PendingSet pending_;
};

}  // namespace

double limit_ns_per_event(const Phold& model, std::uint64_t events) {
    Limit limit(model);
    limit.run(std::max<std::uint64_t>(3 * std::uint64_t{model.lps} * model.events_per_lp, 100'000));
    const auto start = std::chrono::steady_clock::now();
    limit.run(events);
    const std::chrono::duration<double, std::nano> wall = std::chrono::steady_clock::now() - start;
    return wall.count() / static_cast<double>(events);
}

}  // namespace nw::bench
