// SPDX-License-Identifier: Apache-2.0
// Measures the cost of the transport between ranks, in microseconds, for the cost model. This
// program must be started on several ranks. The first rank prints one JSON object.
//
//   reduce_us       time of a reduction of one Contribution over all ranks by messages, as between
//                   hosts. Each rank polls without pause.
//   reduce_turn_us  like reduce_us, but between two polls a rank computes for the given time, like
//                   a worker in its turn: the reduction advances only in polls.
//   trip_us         time from send() to receive(), by number of bytes; between the first two ranks
//   send_us         time of the sender for one send() of one event
//   gap_us          time per event in a stream of single events, until the last one has arrived
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "gvt/contribution.hpp"
#include "mpi/session.hpp"
#include "net/counted_reduction.hpp"
#include "net/rank_group.hpp"

namespace nw::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t event_bytes = 40;  // an event of PHOLD, on the wire
constexpr int samples = 9;               // of each figure; the median is reported

double microseconds(Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
}

void work_for(double time_us) {
    for (const auto start = Clock::now(); microseconds(Clock::now() - start) < time_us;) {
    }
}

class TransportBench {
  public:
    explicit TransportBench(RankGroup& ranks)
        : ranks_(ranks),
          transport_(ranks.open_transport(event_bytes, false)),
          reduction_(*transport_, false) {}

    nlohmann::json run() {
        nlohmann::json found = {{"ranks", ranks_.ranks()},
                                {"contribution_bytes", sizeof(Contribution)},
                                {"batch_bytes", transport_->batch_bytes()}};
        found["reduce_us"] = median([this] { return reduce(300, 0); });
        for (const double turn_us : {5.0, 15.0, 50.0})
            found["reduce_turn_us"][fmt::format("{:.0f}", turn_us)] =
                median([&] { return reduce(60, turn_us); });
        for (const std::size_t bytes :
             {std::size_t{40}, std::size_t{1024}, std::size_t{2048}, transport_->batch_bytes()})
            found["trip_us"][std::to_string(bytes)] = median([&] { return trip(300, bytes); });
        found["send_us"] = median([this] { return send_alone(64); });
        found["gap_us"] = median([this] { return stream(1000); });
        return found;
    }

  private:
    double median(const std::function<double()>& measure) {
        std::vector<double> found;
        for (int i = 0; i < samples; ++i) {
            ranks_.share({});  // all ranks begin together
            found.push_back(measure());
        }
        std::nth_element(found.begin(), found.begin() + samples / 2, found.end());
        return found[samples / 2];
    }

    double reduce(int rounds, double turn_us) {
        const auto start = Clock::now();
        for (int round = 0; round < rounds; ++round) {
            reduction_.begin(std::array{reduction_.new_part()});
            while (!reduction_.poll(0)) work_for(turn_us);
        }
        return microseconds(Clock::now() - start) / rounds;
    }

    // Waits until `count` further batches have arrived.
    void wait_for(int count) {
        while (count > 0) transport_->receive(16, [&](std::span<const std::byte>) { --count; });
    }

    double trip(int rounds, std::size_t bytes) {
        const std::vector<std::byte> batch(bytes);
        const auto start = Clock::now();
        for (int round = 0; round < rounds; ++round) {
            if (me() == 0) transport_->send(RankId{1}, batch);
            if (me() <= 1) wait_for(1);
            if (me() == 1) transport_->send(RankId{0}, batch);
        }
        return microseconds(Clock::now() - start) / (2 * rounds);
    }

    double send_alone(int count) {
        const std::vector<std::byte> batch(event_bytes);
        const auto start = Clock::now();
        if (me() == 0)
            for (int i = 0; i < count; ++i) transport_->send(RankId{1}, batch);
        const double time_us = microseconds(Clock::now() - start) / count;
        if (me() == 1) wait_for(count);
        return time_us;
    }

    double stream(int count) {
        const std::vector<std::byte> batch(event_bytes);
        const auto start = Clock::now();
        if (me() == 0) {
            for (int i = 0; i < count; ++i) transport_->send(RankId{1}, batch);
            wait_for(1);
        } else if (me() == 1) {
            wait_for(count);
            transport_->send(RankId{0}, batch);
        }
        return microseconds(Clock::now() - start) / count;
    }

    std::uint32_t me() const { return index(ranks_.rank()); }

    RankGroup& ranks_;
    std::unique_ptr<Transport> transport_;
    CountedReduction<Contribution> reduction_;
};

}  // namespace
}  // namespace nw::bench

int main() {
    const auto ranks = nw::join_ranks();
    if (ranks->ranks() < 2) {
        fmt::print(stderr, "transport_bench: 1 rank; allowed: 2 or more, started by mpirun\n");
        return 2;
    }
    const nlohmann::json found = nw::bench::TransportBench(*ranks).run();
    if (ranks->is_first()) fmt::print("{}\n", found.dump());
    return 0;
}
