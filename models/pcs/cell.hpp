// A cell of a mobile telephone network, and the portables (telephones) in it: the personal communication
// service with which rollback has been measured for thirty years, portable-initiated (Carothers,
// Perumalla, Fujimoto: "The effect of state-saving in optimistic simulation on a cache-coherent
// non-uniform memory access architecture", WSC 1999).
//
// A portable is an event. It carries its own state, and one event is under way for it at any time: the
// earliest of its next call, the end of its call and its move. The cell it comes to knows how many
// channels are in use, and counts.
//
// All that a cell keeps is a sum, in whole numbers, of what events add. So one function, account(), does an
// event and undoes it, and on_reverse needs one bit besides the event: whether it got a channel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include <numawarp/model.hpp>

namespace pcs {

enum : nw::EventType { next_call, completion, move_out, move_in };

// What all cells share; never changes after set-up. Times in seconds.
struct Parameters {
    std::uint32_t width = 120;
    std::uint32_t height = 120;
    std::uint32_t portables = 25;  // of a cell, at the beginning
    std::uint32_t channels = 10;   // of a cell
    double call_mean = 180;
    double next_call_mean = 360;
    double move_mean = 4500;
    double count_from = 0;  // counts begin here
    bool moves = true;
};

// The payload of every event.
struct Portable {
    double calls_at;                          // attempts its next call
    double completes_at = nw::time_infinity;  // its call ends; infinity: it has none
    double moves_at = nw::time_infinity;      // leaves its cell; infinity: never
    double began_at = 0;                      // its last call
    std::uint64_t number;

    bool in_call() const noexcept { return completes_at < nw::time_infinity; }
};
static_assert(sizeof(Portable) == 40);

// Whole milliseconds, since sums of them are exact; times beyond 10^15 s count as that.
inline std::uint64_t milliseconds(double seconds) noexcept {
    return static_cast<std::uint64_t>(std::min(seconds, 1e15) * 1000);
}

// The channels in use, as plain numbers. Of take() and give_back() each undoes the other.
struct PlainChannels {
    std::uint64_t taken = 0;
    std::uint64_t ms = 0;  // when channels were given back - when they were taken, summed up

    std::uint64_t count() const noexcept { return taken; }
    void take(std::uint64_t, double now) noexcept {
        ++taken;
        ms -= milliseconds(now);
    }
    void give_back(std::uint64_t, double now) noexcept {
        --taken;
        ms += milliseconds(now);
    }
    // For how long channels have been in use, in all.
    std::uint64_t ms_until(double now) const noexcept { return ms + taken * milliseconds(now); }
};

// The same, seen from outside, as a container: which portable took its channel when.
struct ListedChannels {
    std::map<std::uint64_t, double> taken_at;
    std::uint64_t ms = 0;  // of the channels that were given back

    std::uint64_t count() const noexcept { return taken_at.size(); }
    void take(std::uint64_t portable, double now) { taken_at.emplace(portable, now); }
    void give_back(std::uint64_t portable, double now) {
        // In a state that never was the portable may be missing: at() throws, and the event is undone.
        ms += milliseconds(now) - milliseconds(taken_at.at(portable));
        taken_at.erase(portable);
    }
    std::uint64_t ms_until(double now) const {
        std::uint64_t sum = ms;
        for (const auto& [portable, since] : taken_at)
            sum += milliseconds(now) - milliseconds(since);
        return sum;
    }
};

template <class Channels>
struct CellState {
    Channels channels;
    std::uint64_t portables = 0;  // in the cell now

    // Since --count-from, as the times of the channels. Attempts that got a channel, that got none, and of
    // portables that were in a call.
    std::uint64_t connected = 0, blocked = 0, busy_lines = 0;
    std::uint64_t completed = 0, completed_ms = 0;  // calls that came to their end; their durations
    std::uint64_t moves_in = 0, moves_out = 0;
    // Portables that moved during a call: it got a channel here, it got none and ended, it went.
    std::uint64_t hand_offs_in = 0, dropped = 0, hand_offs_out = 0;
};
static_assert(sizeof(CellState<PlainChannels>) == 104);

// The handlers, over a Process that has the state.
template <class Process>
class Cell : public Process {
  public:
    Cell(nw::LpId, const Parameters* parameters) : parameters_(parameters) {
        state.portables = parameters->portables;
    }

    void on_start(nw::Context& c) override {
        const std::uint64_t first = std::uint64_t{nw::index(c.self())} * parameters_->portables;
        for (std::uint32_t i = 0; i < parameters_->portables; ++i) {
            Portable portable{.calls_at = after(c, parameters_->next_call_mean),
                              .number = first + i};
            if (parameters_->moves) portable.moves_at = after(c, parameters_->move_mean);
            send_on(c, portable);
        }
    }

    void on_event(nw::Context& c, const nw::Event& event) override {
        auto portable = event.payload<Portable>();
        const bool asks = (event.type() == next_call && !portable.in_call()) ||
                          (event.type() == move_in && portable.in_call());
        const bool granted = asks && state.channels.count() < parameters_->channels;
        c.control() = granted;
        account(event, granted, false);

        switch (event.type()) {
            case next_call:
                if (granted) {
                    portable.began_at = c.now();
                    portable.completes_at = after(c, parameters_->call_mean);
                }
                portable.calls_at = after(c, parameters_->next_call_mean);
                break;
            case completion:
                portable.completes_at = nw::time_infinity;
                break;
            case move_out:
                c.schedule(neighbour(c), 0, move_in, portable);
                return;
            case move_in:
                if (!granted) portable.completes_at = nw::time_infinity;
                portable.moves_at = after(c, parameters_->move_mean);
                break;
        }
        send_on(c, portable);
    }

    void on_end(nw::Context& c) override {
        const auto& s = state;
        const double seconds = c.now() - parameters_->count_from;
        const auto busy_ms = static_cast<double>(s.channels.ms_until(counted_time(c.now())));
        const auto completed_ms = static_cast<double>(s.completed_ms);
        c.output(0, nw::index(c.self()) % parameters_->width,
                 nw::index(c.self()) / parameters_->width, s.portables, s.channels.count(),
                 s.connected, s.blocked, s.busy_lines, s.completed, s.moves_in, s.moves_out,
                 s.hand_offs_in, s.hand_offs_out, s.dropped,
                 seconds > 0 ? busy_ms / 1000 / seconds : 0,
                 s.completed > 0 ? completed_ms / 1000 / static_cast<double>(s.completed) : 0);
    }

    using Process::state;

  protected:
    // Does to the cell what an event does, or undoes it.
    void account(const nw::Event& event, bool granted, bool undo) {
        const auto portable = event.payload<Portable>();
        const bool in_call = portable.in_call();
        const bool gives_back = in_call && (event.type() == completion || event.type() == move_out);
        if (undo ? gives_back : granted)
            state.channels.take(portable.number, counted_time(event.time()));
        if (undo ? granted : gives_back)
            state.channels.give_back(portable.number, counted_time(event.time()));

        const std::uint64_t one = undo ? -std::uint64_t{1} : 1;  // modulo 2^64
        const std::uint64_t counted = event.time() >= parameters_->count_from ? one : 0;
        switch (event.type()) {
            case next_call:
                (in_call ? state.busy_lines : granted ? state.connected : state.blocked) += counted;
                break;
            case completion:
                state.completed += counted;
                state.completed_ms += counted * milliseconds(event.time() - portable.began_at);
                break;
            case move_out:
                state.portables -= one;
                state.moves_out += counted;
                if (in_call) state.hand_offs_out += counted;
                break;
            case move_in:
                state.portables += one;
                state.moves_in += counted;
                if (in_call) (granted ? state.hand_offs_in : state.dropped) += counted;
                break;
        }
    }

  private:
    double counted_time(double time) const noexcept {
        return std::max(time, parameters_->count_from);
    }

    static double after(nw::Context& c, double mean) {
        return c.now() + c.random().exponential(mean);
    }

    static void send_on(nw::Context& c, const Portable& portable) {
        double time = portable.calls_at;
        nw::EventType type = next_call;
        if (portable.completes_at < time) time = portable.completes_at, type = completion;
        if (portable.moves_at < time) time = portable.moves_at, type = move_out;
        // now + (time - now) is rounded: two times that are next to each other may change places.
        c.schedule(c.self(), std::max(time - c.now(), 0.0), type, portable);
    }

    // One of four, drawn uniformly, on a torus.
    nw::LpId neighbour(nw::Context& c) const {
        const std::uint32_t width = parameters_->width, height = parameters_->height;
        const std::uint32_t x = nw::index(c.self()) % width, y = nw::index(c.self()) / width;
        const std::uint32_t steps[4][2] = {{1, 0}, {width - 1, 0}, {0, 1}, {0, height - 1}};
        const auto& [right, down] = steps[c.random().below(4)];
        return nw::LpId{(y + down) % height * width + (x + right) % width};
    }

    const Parameters* parameters_;
};

// 104 bytes, for all ways of rollback.
class PlainCell final : public Cell<nw::PlainStateProcess<CellState<PlainChannels>>> {
  public:
    using Cell::Cell;

    void on_reverse(nw::Context& c, const nw::Event& event) override {
        account(event, c.control() != 0, true);
    }
};

// With a container, for rollback by snapshot only.
struct ListedState : nw::LogicalProcess {
    CellState<ListedChannels> state;
};
using ListedCell = Cell<ListedState>;

}  // namespace pcs
