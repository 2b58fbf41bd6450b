// PHOLD, the yardstick of parallel simulation: every event goes to its own LP, or with a certain
// probability to one drawn uniformly from all, a constant plus an exponential time later (Fujimoto:
// "Performance of Time Warp under synthetic workloads", SCS Multiconference on Distributed
// Simulation, 1990). The number of events in flight never changes.
//
// It measures the engine and not itself: on_event allocates nothing and computes next to nothing.
// The LP's state flows into the type and payload of what it sends, so that a state restored wrongly
// shows in the run's digest.
//
// With a hot spot, load shifts: a share of the events in flight, the hot ones, live in a window of LPs
// that wanders (hot_spot.hpp), the others outside of it. Whoever is on the wrong side of the window at
// its next time is sent to the right one; otherwise all is as ever. Processes with and without a hot
// spot are two classes, so that a run without one does not pay for it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <numawarp/model.hpp>

#include "models/phold/hot_spot.hpp"

namespace phold {

// The longest --payload: an event's payload is made on the stack.
inline constexpr std::uint32_t payload_bytes_max = 4096;

// What all LPs share; never changes after set-up.
struct Parameters {
    double remote = 0.25;
    double lookahead = 0.1;
    double mean = 0.9;
    std::uint32_t lps = 1024;
    std::uint32_t events_per_lp = 1;
    std::uint32_t payload_bytes = 0;
    std::uint32_t touched_words = 0;  // at most the state's
    std::uint32_t work = 0;           // multiplications in each event
    double hot_share = 0;             // of the events in flight; 0: there is no hot spot
    HotSpot hot_spot;
};

// Whether event `number` starts hot: ⌊share · n⌋ of n events in flight do, evenly spread.
inline bool starts_hot(double share, std::uint64_t number) noexcept {
    const auto n = static_cast<double>(number);
    return std::floor(share * (n + 1)) > std::floor(share * n);
}

template <std::size_t Bytes>
struct State {
    static_assert(Bytes % sizeof(std::uint64_t) == 0);
    std::array<std::uint64_t, Bytes / sizeof(std::uint64_t)> words;
};
template <>
struct State<0> {};

template <std::size_t Bytes, bool WithHotSpot>
class Process final : public nw::PlainStateProcess<State<Bytes>> {
  public:
    Process(nw::LpId, const Parameters* parameters) : parameters_(parameters) {}

    void on_start(nw::Context& context) override {
        for (std::uint32_t i = 0; i < parameters_->events_per_lp; ++i) {
            if constexpr (WithHotSpot) {
                const std::uint64_t events = parameters_->events_per_lp;
                const std::uint64_t number = nw::index(context.self()) * events + i;
                send_by_heat(context, starts_hot(parameters_->hot_share, number), false);
            } else {
                send(context, context.self(), draw_delay(context), mark());
            }
        }
    }

    void on_event(nw::Context& context, const nw::Event& event) override {
        if constexpr (Bytes > 0) {
            const std::uint64_t change = change_of(event);
            for (std::uint32_t i = 0; i < parameters_->touched_words; ++i)
                this->state.words[i] += change + i;
        }
        if (parameters_->work > 0) compute(event);
        const bool leaves = context.random().chance(parameters_->remote);
        if constexpr (WithHotSpot) {
            send_by_heat(context, (event.type() & 1) != 0, leaves);
        } else {
            nw::LpId target = context.self();
            if (leaves)
                target =
                    nw::LpId(static_cast<std::uint32_t>(context.random().below(parameters_->lps)));
            send(context, target, draw_delay(context), mark());
        }
    }

    void on_reverse(nw::Context&, const nw::Event& event) override {
        if constexpr (Bytes > 0) {
            const std::uint64_t change = change_of(event);
            for (std::uint32_t i = 0; i < parameters_->touched_words; ++i)
                this->state.words[i] -= change + i;
        }
    }

  private:
    // Follows from the event alone, so that on_reverse can subtract what on_event added.
    static std::uint64_t change_of(const nw::Event& event) noexcept {
        return std::bit_cast<std::uint64_t>(event.time());
    }

    // Each multiplication waits for the last one.
    [[gnu::noinline]] void compute(const nw::Event& event) const noexcept {
        std::uint64_t x = change_of(event);
        for (std::uint32_t i = 0; i < parameters_->work; ++i) {
            x = x * 6364136223846793005U + 1442695040888963407U;
            asm volatile("" : "+r"(x));
        }
    }

    std::uint64_t mark() const noexcept {
        if constexpr (Bytes > 0)
            return this->state.words[0];
        else
            return 0;
    }

    double draw_delay(nw::Context& context) const {
        return parameters_->lookahead + context.random().exponential(parameters_->mean);
    }

    // The lowest bit of the type says which events are hot.
    void send_by_heat(nw::Context& context, bool hot, bool leaves) {
        const HotSpot& spot = parameters_->hot_spot;
        const double delay = draw_delay(context);
        const nw::VirtualTime arrival = context.now() + delay;
        nw::LpId target = context.self();
        if (leaves || spot.contains(arrival, target) != hot)
            target = hot ? spot.draw_inside(arrival, context.random())
                         : spot.draw_outside(arrival, context.random());
        send(context, target, delay, mark() << 1 | (hot ? 1 : 0));
    }

    void send(nw::Context& context, nw::LpId target, double delay, std::uint64_t mark) {
        const auto type = static_cast<nw::EventType>(mark);
        if (parameters_->payload_bytes == 0)
            context.schedule(target, delay, type);
        else
            send_payload(context, target, delay, type, mark);
    }

    [[gnu::noinline]] void send_payload(nw::Context& context, nw::LpId target, double delay,
                                        nw::EventType type, std::uint64_t mark) {
        std::array<std::uint64_t, payload_bytes_max / sizeof(std::uint64_t)> words;
        const std::size_t bytes = parameters_->payload_bytes;
        for (std::size_t i = 0; i * sizeof(std::uint64_t) < bytes; ++i) words[i] = mark + i;
        context.schedule_bytes(target, delay, type, std::as_bytes(std::span(words)).first(bytes));
    }

    const Parameters* parameters_;
};

class Model final : public nw::Model {
  public:
    Model() : nw::Model("phold", "PHOLD, the synthetic benchmark of parallel simulators") {}

    void options(nw::Options& options) override;
    nw::Setup setup() override;

  private:
    void set_up_hot_spot();

    Parameters parameters_;
    std::uint32_t state_bytes_ = 0;
    std::uint32_t touch_bytes_ = 16;
    double hot_lps_ = 0.1;  // share of the LPs
    double hot_period_ = 1000;
};

}  // namespace phold
