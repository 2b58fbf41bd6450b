// SPDX-License-Identifier: Apache-2.0
// PHOLD, the standard benchmark of parallel discrete-event simulation (Fujimoto: "Performance of
// Time Warp under synthetic workloads", SCS Multiconference on Distributed Simulation, 1990). Each
// event schedules one event: for its own LP, or, with probability --remote, for an LP drawn
// uniformly from all. The delay is a constant plus an exponential time. So the number of events in
// flight is constant.
//
// The benchmark measures the engine and not the model: on_event() allocates no memory and, unless
// --work is set, computes almost nothing. The type and the payload of a sent event depend on the
// state of the LP, so that a wrongly restored state changes the digest of the run.
//
// With a hot spot, the load moves between LPs. A share of the events in flight is hot: these events
// stay in a moving window of LPs (hot_spot.hpp), and all other events stay outside of this window.
// If the target of a sent event would be on the wrong side of the window at the time of that event,
// the event is sent to an LP on the correct side instead. Runs without a hot spot use another
// class, so that the hot spot costs them nothing.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <numawarp/model.hpp>

#include "models/phold/hot_spot.hpp"

namespace phold {

// The maximum of --payload. It is bounded because a payload is built on the stack.
inline constexpr std::uint32_t payload_bytes_max = 4096;

// The parameters that all LPs share. They do not change after set-up.
struct Parameters {
    double remote = 0.25;
    double lookahead = 0.1;
    double mean = 0.9;
    std::uint32_t lps = 1024;
    std::uint32_t events_per_lp = 1;
    std::uint32_t payload_bytes = 0;
    std::uint32_t touched_words = 0;  // words that an event changes; at most all words of the state
    std::uint32_t work = 0;           // multiplications in each event
    double hot_share = 0;             // share of the events that are hot; 0: no hot spot
    HotSpot hot_spot;
};

// Returns whether event `number` is hot. The first n events contain ⌊share · n⌋ hot events, which
// are evenly spread.
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
    // Depends only on the event, so that on_reverse() can subtract the value that on_event() added.
    static std::uint64_t change_of(const nw::Event& event) noexcept {
        return std::bit_cast<std::uint64_t>(event.time());
    }

    // Each multiplication depends on the result of the one before, so multiplications cannot
    // overlap.
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

    // Schedules an event. `hot`: whether the event is hot. The lowest bit of an event's type is 1
    // if the event is hot.
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
    double hot_lps_ = 0.1;  // share of the LPs that are in the window
    double hot_period_ = 1000;
};

}  // namespace phold
