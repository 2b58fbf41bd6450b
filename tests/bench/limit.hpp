// The yardstick of the benchmarks: what PHOLD costs when there is no engine.
//
// One loop, one thread: pop the earliest event, draw, push the next. The LPs, draws and times are
// those of models/phold (without payload, and with seed 1), and the pending set is the engines'; but
// there is no handler behind a pointer, no record of an event beside its entry, no digest, no order
// among equal times, nothing that could be undone. Engines are measured as ratios to it, in the same
// run of the same program, so that a busy or slow machine does not decide.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nw::bench {

// As the options of models/phold. Of the state each event changes 16 B, that model's --touch.
struct Phold {
    std::uint32_t lps = 1024;
    std::uint32_t events_per_lp = 1;
    double remote = 0.1;
    double lookahead = 0.1;
    double mean = 0.9;
    std::size_t state_bytes = 16;
};

// Wall time of `events` events, by the event, after as many events as fill every bucket and cache
// have been run without a clock.
double limit_ns_per_event(const Phold& model, std::uint64_t events);

}  // namespace nw::bench
