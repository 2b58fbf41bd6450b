#include "tests/bench/limit.hpp"

#include <algorithm>
#include <bit>
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
          state_words_(model.state_bytes / sizeof(std::uint64_t)),
          lp_words_(1 + state_words_),
          touched_words_(std::min<std::size_t>(state_words_, 2)),
          lps_(std::size_t{model.lps} * lp_words_) {
        for (std::uint32_t lp = 0; lp < model.lps; ++lp) {
            Random random(seed, lp, 0);
            for (std::uint32_t i = 0; i < model.events_per_lp; ++i) send(random, lp, 0);
            *lp_at(lp) = random.counter();
        }
    }

    void run(std::uint64_t events) {
        for (std::uint64_t i = 0; i < events; ++i) {
            const PendingEntry* next = pending_.top();
            const std::uint32_t lp = next->target;
            const VirtualTime now = next->time;
            pending_.pop();
            if (const PendingEntry* soon = pending_.upcoming(prefetch_distance))
                __builtin_prefetch(lp_at(soon->target), 1);
            execute(lp, now);
        }
    }

  private:
    // An LP is the counter of its random numbers, then its state.
    std::uint64_t* lp_at(std::uint32_t lp) { return &lps_[lp * lp_words_]; }

    void execute(std::uint32_t lp, VirtualTime now) {
        std::uint64_t* words = lp_at(lp);
        const auto change = std::bit_cast<std::uint64_t>(now);
        for (std::size_t i = 0; i < touched_words_; ++i) words[1 + i] += change + i;

        Random random(seed, lp, words[0]);
        std::uint32_t target = lp;
        if (random.chance(model_.remote))
            target = static_cast<std::uint32_t>(random.below(model_.lps));
        send(random, target, now);
        words[0] = random.counter();
    }

    void send(Random& random, std::uint32_t target, VirtualTime now) {
        const VirtualTime delay = model_.lookahead + random.exponential(model_.mean);
        pending_.push({now + delay, 0, 0, 0, target, nullptr});
    }

    Phold model_;
    std::size_t state_words_;
    std::size_t lp_words_;
    std::size_t touched_words_;
    std::vector<std::uint64_t> lps_;
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
