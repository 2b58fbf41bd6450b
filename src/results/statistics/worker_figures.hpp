// SPDX-License-Identifier: Apache-2.0
// Figures that each worker counts, in addition to Counters, and that are combined over all workers.
// A figure consists of a member, an entry in visit_worker_figures(), and a line where it is
// counted.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "results/statistics/figure.hpp"

namespace nw {

// Rollbacks by the number of events that each has undone: 1, 2, 3–4, 5–8, … (bucket b: more than
// 2^(b-1), at most 2^b).
class RollbackLengths {
  public:
    static constexpr std::size_t bucket_count = 33;

    // Requires: events > 0 and events < 2^32, which holds for every history.
    void count(std::uint64_t events) noexcept {
        ++rollbacks_[static_cast<std::size_t>(std::bit_width(events - 1))];
    }
    RollbackLengths& operator+=(const RollbackLengths& other) noexcept {
        for (std::size_t b = 0; b < bucket_count; ++b) rollbacks_[b] += other.rollbacks_[b];
        return *this;
    }

    // A bucket in the statistics.
    struct Row {
        std::uint64_t events_max = 0;
        std::uint64_t rollbacks = 0;

        template <class Visitor>
        void visit(Visitor&& member) const {
            member("events_max", events_max);
            member("rollbacks", rollbacks);
        }
    };
    // Returns the buckets up to the last one that is not empty.
    std::vector<Row> rows() const {
        std::vector<Row> rows;
        for (std::size_t b = 0; b < bucket_count; ++b)
            rows.push_back({std::uint64_t{1} << b, rollbacks_[b]});
        while (!rows.empty() && rows.back().rollbacks == 0) rows.pop_back();
        return rows;
    }

  private:
    std::array<std::uint64_t, bucket_count> rollbacks_{};
};

// Figures of events of one type at LPs of one kind.
struct EventFigures {
    std::uint64_t committed = 0;
    std::uint64_t rolled_back = 0;
    std::uint64_t timed = 0;        // number of timed executions
    std::uint64_t nanoseconds = 0;  // their total time

    void count_time(std::chrono::nanoseconds taken) noexcept {
        ++timed;
        nanoseconds += static_cast<std::uint64_t>(taken.count());
    }
    EventFigures& operator+=(const EventFigures& other) noexcept {
        committed += other.committed;
        rolled_back += other.rolled_back;
        timed += other.timed;
        nanoseconds += other.nanoseconds;
        return *this;
    }
};

inline std::vector<EventFigures>& operator+=(std::vector<EventFigures>& sum,
                                             const std::vector<EventFigures>& more) {
    if (sum.size() < more.size()) sum.resize(more.size());
    for (std::size_t slot = 0; slot < more.size(); ++slot) sum[slot] += more[slot];
    return sum;
}

// Of this number of executions, one is timed. Timing reads the clock twice and takes about 40 ns.
inline constexpr std::uint32_t events_between_timed = 61;

struct WorkerFigures {
    RollbackLengths rollback_lengths;
    std::vector<EventFigures> events;  // indexed by LpKinds::slot(); empty: not counted

    WorkerFigures& operator+=(const WorkerFigures& other);
};

// Visits each figure of one or more WorkerFigures: visit(FigureInfo, how workers and ranks combine
// it, the figure in each of them).
template <class Visitor, class... Figures>
void visit_worker_figures(Visitor&& visit, Figures&... figures) {
    visit(
        FigureInfo{"rollback_lengths", "array", "",
                   "rollbacks by the number of events that each undid, in powers of two: rollbacks "
                   "of at most events_max events, and of more events than in the previous entry"},
        combine::Sum{}, figures.rollback_lengths...);
    visit(Unlisted{}, combine::Sum{}, figures.events...);
}

inline WorkerFigures& WorkerFigures::operator+=(const WorkerFigures& other) {
    visit_worker_figures(
        [](const auto&, combine::Sum, auto& sum, const auto& more) { sum += more; }, *this, other);
    return *this;
}

}  // namespace nw
