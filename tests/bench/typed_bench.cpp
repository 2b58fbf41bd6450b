// SPDX-License-Identifier: Apache-2.0
// PHOLD with events as structs, in comparison with events as numbers and bytes. The difference is
// the cost of the dispatch of nw::Handles and of the counts by type. All variants have the same
// number of events with the same number of bytes. `./jobs/run bench` counts their instructions.
//
//     typed_bench --events untyped|one|four
#include <algorithm>
#include <array>
#include <string>

#include <numawarp/model.hpp>

namespace {

constexpr std::uint32_t lps = 1024, events_per_lp = 16;
constexpr double remote = 0.1, lookahead = 0.1, mean = 0.9;

struct Words {
    std::array<std::uint64_t, 2> words;
};
struct Cargo {
    std::uint64_t mark;
};

// The handler of all variants. `send` sends the next event.
template <class Send>
void on_cargo(nw::Context& context, Words& state, const Cargo& cargo, Send&& send) {
    state.words[0] += cargo.mark + 1;
    state.words[1] ^= state.words[0];
    nw::LpId target = context.self();
    if (context.random().chance(remote))
        target = nw::LpId{static_cast<std::uint32_t>(context.random().below(lps))};
    send(target, lookahead + context.random().exponential(mean), Cargo{state.words[0]});
}

class Untyped final : public nw::PlainStateProcess<Words> {
  public:
    explicit Untyped(nw::LpId) {}
    void on_start(nw::Context& c) override {
        for (std::uint32_t i = 0; i < events_per_lp; ++i)
            c.schedule(c.self(), c.random().exponential(mean), i % 4, Cargo{i});
    }
    void on_event(nw::Context& c, const nw::Event& event) override {
        on_cargo(c, state, event.payload<Cargo>(),
                 [&](nw::LpId to, double delay, const Cargo& cargo) {
                     c.schedule(to, delay, event.type(), cargo);
                 });
    }
};

template <nw::EventType number>
struct Hop : Cargo {
    static constexpr nw::EventType type = number;
};

template <class... Hops>
class Typed final : public nw::PlainStateProcess<Words, nw::Handles<Typed<Hops...>, Hops...>> {
  public:
    explicit Typed(nw::LpId) {}
    void on_start(nw::Context& c) override {
        for (std::uint32_t i = 0; i < events_per_lp; i += sizeof...(Hops))
            (..., this->send(c, c.self(), c.random().exponential(mean), Hops{{i}}));
    }
    template <class Event>
    void on(nw::Context& c, const Event& hop) {
        on_cargo(c, this->state, hop, [&](nw::LpId to, double delay, const Cargo& cargo) {
            this->send(c, to, delay, Event{cargo});
        });
    }
};

class Bench final : public nw::Model {
  public:
    Bench() : nw::Model("typed_bench", "PHOLD with and without types of events") {}
    void options(nw::Options& options) override {
        options.add_choice("events", events_, {"untyped", "one", "four"}, "types of events");
    }
    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = lps, setup.until = 20, setup.lookahead = lookahead;
        setup.payload_bytes_max = sizeof(Cargo);
        setup.preferred_rollback = nw::Rollback::copy;
        setup.process = events_ == "untyped" ? nw::process<Untyped>()
                        : events_ == "one"   ? nw::process<Typed<Hop<0>>>()
                                             : nw::process<Typed<Hop<0>, Hop<1>, Hop<2>, Hop<3>>>();
        return setup;
    }

  private:
    std::string events_ = "untyped";
};

}  // namespace

int main(int argc, char** argv) { return nw::run<Bench>(argc, argv); }
