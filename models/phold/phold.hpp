// PHOLD, the yardstick of parallel simulation: every event goes to its own LP, or with a certain
// probability to one drawn uniformly from all, a constant plus an exponential time later (Fujimoto:
// "Performance of Time Warp under synthetic workloads", SCS Multiconference on Distributed
// Simulation, 1990). The number of events in flight never changes.
//
// It measures the engine and not itself: on_event allocates nothing and computes next to nothing.
// The LP's state flows into the type and payload of what it sends, so that a state restored wrongly
// shows in the run's digest.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <numawarp/model.hpp>

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
};

template <std::size_t Bytes>
struct State {
    static_assert(Bytes % sizeof(std::uint64_t) == 0);
    std::array<std::uint64_t, Bytes / sizeof(std::uint64_t)> words;
};
template <>
struct State<0> {};

template <std::size_t Bytes>
class Process final : public nw::PlainStateProcess<State<Bytes>> {
  public:
    Process(nw::LpId, const Parameters* parameters) : parameters_(parameters) {}

    void on_start(nw::Context& context) override {
        for (std::uint32_t i = 0; i < parameters_->events_per_lp; ++i)
            send(context, context.self());
    }

    void on_event(nw::Context& context, const nw::Event& event) override {
        if constexpr (Bytes > 0) {
            const std::uint64_t change = change_of(event);
            for (std::uint32_t i = 0; i < parameters_->touched_words; ++i)
                this->state.words[i] += change + i;
        }
        nw::LpId target = context.self();
        if (context.random().chance(parameters_->remote))
            target = nw::LpId(static_cast<std::uint32_t>(context.random().below(parameters_->lps)));
        send(context, target);
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

    void send(nw::Context& context, nw::LpId target) {
        std::uint64_t mark = 0;
        if constexpr (Bytes > 0) mark = this->state.words[0];
        const double delay =
            parameters_->lookahead + context.random().exponential(parameters_->mean);
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
    Parameters parameters_;
    std::uint32_t state_bytes_ = 0;
    std::uint32_t touch_bytes_ = 16;
};

}  // namespace phold
