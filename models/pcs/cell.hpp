// SPDX-License-Identifier: Apache-2.0
// A cell of a mobile telephone network, and the portables (telephones) in it. Since the 1990s, this
// model of a personal communication service has been used to measure rollback. The form here is
// portable-initiated (Carothers, Perumalla, Fujimoto: "The effect of state-saving in optimistic
// simulation on a cache-coherent non-uniform memory access architecture", WSC 1999).
//
// A portable is an event whose payload is the portable's state. Each portable has one event in
// flight at any time: the earliest of its next call attempt, the end of its call and its move. The
// cell stores the number of channels in use, and counts calls and moves.
//
// The state of a cell consists of sums of integers, to which events add. So one function,
// account(), applies an event to the state and also undoes the event. on_reverse needs only the
// event and one bit: whether the event took a channel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include <numawarp/model.hpp>

namespace pcs {

enum : nw::EventType { next_call, completion, move_out, move_in };

// The parameters that all cells share. They do not change after set-up. Times are in seconds.
struct Parameters {
    std::uint32_t width = 120;
    std::uint32_t height = 120;
    std::uint32_t portables = 25;  // in each cell at the beginning
    std::uint32_t channels = 10;   // of each cell
    double call_mean = 180;
    double next_call_mean = 360;
    double move_mean = 4500;
    double count_from = 0;  // time at which counting begins
    bool moves = true;      // portables move from cell to cell
};

// The payload of every event.
struct Portable {
    double calls_at;                          // time of the next call attempt
    double completes_at = nw::time_infinity;  // time at which the call ends; infinity: no call
    double moves_at = nw::time_infinity;      // time at which the portable leaves; infinity: never
    double began_at = 0;                      // time at which the last call began
    std::uint64_t number;

    bool in_call() const noexcept { return completes_at < nw::time_infinity; }
};
static_assert(sizeof(Portable) == 40);

// Times are added as whole milliseconds, because integer sums are exact: an addition can be undone.
// A time beyond 10^15 s counts as 10^15 s.
inline std::uint64_t milliseconds(double seconds) noexcept {
    return static_cast<std::uint64_t>(std::min(seconds, 1e15) * 1000);
}

// The channels in use, as plain numbers. take() and give_back() undo each other.
struct PlainChannels {
    std::uint64_t taken = 0;
    std::uint64_t ms = 0;  // sum of the times of give_back() - sum of the times of take(), mod 2^64

    std::uint64_t count() const noexcept { return taken; }
    void take(std::uint64_t, double now) noexcept {
        ++taken;
        ms -= milliseconds(now);
    }
    void give_back(std::uint64_t, double now) noexcept {
        --taken;
        ms += milliseconds(now);
    }
    // Returns the total time for which channels were in use, up to `now`.
    std::uint64_t ms_until(double now) const noexcept { return ms + taken * milliseconds(now); }
};

// The channels in use, as a container. It has the same interface as PlainChannels.
struct ListedChannels {
    std::map<std::uint64_t, double> taken_at;  // time of take(), by portable
    std::uint64_t ms = 0;                      // total use of the channels that were given back

    std::uint64_t count() const noexcept { return taken_at.size(); }
    void take(std::uint64_t portable, double now) { taken_at.emplace(portable, now); }
    void give_back(std::uint64_t portable, double now) {
        // Speculation can reach a state that no correct run has, and in which the portable is
        // missing. at() then throws; the engine rolls the event back later.
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

    // The counts below, and the times of `channels`, begin at --count-from.
    // Call attempts. connected: a channel was free. blocked: no channel was free. busy_lines: the
    // portable was already in a call.
    std::uint64_t connected = 0, blocked = 0, busy_lines = 0;
    std::uint64_t completed = 0, completed_ms = 0;  // completed calls and their total duration
    std::uint64_t moves_in = 0, moves_out = 0;
    // Portables that moved during a call. In: the call got a channel here. Dropped: no channel was
    // free here, and the call ended. Out: the portable left this cell.
    std::uint64_t hand_offs_in = 0, dropped = 0, hand_offs_out = 0;
};
static_assert(sizeof(CellState<PlainChannels>) == 104);

// The handlers. The base class Process defines the state, and so the possible kinds of rollback.
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
                c.schedule(neighbor(c), 0, move_in, portable);
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
    // Applies an event to the state of the cell, or undoes the event. `granted`: the event took a
    // channel.
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
        // An event's time is now + delay and is rounded, so `time` may be slightly before now().
        c.schedule(c.self(), std::max(time - c.now(), 0.0), type, portable);
    }

    // Returns one of the cell's four neighbors on the torus, drawn uniformly.
    nw::LpId neighbor(nw::Context& c) const {
        const std::uint32_t width = parameters_->width, height = parameters_->height;
        const std::uint32_t x = nw::index(c.self()) % width, y = nw::index(c.self()) / width;
        const std::uint32_t steps[4][2] = {{1, 0}, {width - 1, 0}, {0, 1}, {0, height - 1}};
        const auto& [right, down] = steps[c.random().below(4)];
        return nw::LpId{(y + down) % height * width + (x + right) % width};
    }

    const Parameters* parameters_;
};

// A cell whose state is 104 plain bytes. It supports all kinds of rollback.
class PlainCell final : public Cell<nw::PlainStateProcess<CellState<PlainChannels>>> {
  public:
    using Cell::Cell;

    void on_reverse(nw::Context& c, const nw::Event& event) override {
        account(event, c.control() != 0, true);
    }
};

// A cell whose state contains a std::map. It supports rollback by snapshot only.
struct ListedState : nw::LogicalProcess {
    CellState<ListedChannels> state;
};
using ListedCell = Cell<ListedState>;

}  // namespace pcs
