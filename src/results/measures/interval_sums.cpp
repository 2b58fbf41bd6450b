// SPDX-License-Identifier: Apache-2.0
#include "results/measures/interval_sums.hpp"

#include "memory/handler/heap_scope.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

using detail::FigureView;
using detail::Moments;

// The header of a reading (interval_sums.hpp). The sizes of all parts are multiples of eight bytes.
struct SampleHeader {
    std::uint32_t first, end;  // numbers of intervals
};

// The header of a figure in a reading. The figure's buckets (keys, then counts), bins and moments
// follow. A figure that depends on the time has moments for each interval; other figures have them
// once.
struct ViewHeader {
    std::uint64_t count = 0;
    double low = 0, high = 0;
    std::uint32_t buckets = 0;
    std::uint32_t bins = 0;
    std::uint32_t level = 0;
    FigureKind kind = FigureKind::tally;
    bool is_there = false;
};
static_assert(sizeof(ViewHeader) % 8 == 0 && sizeof(Moments) % 8 == 0);

bool depends_on_time(FigureKind kind) noexcept { return kind == FigureKind::time_average; }

class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T>
    std::span<const T> next(std::size_t count) {
        const auto part = bytes_.first(count * sizeof(T));
        bytes_ = bytes_.subspan(count * sizeof(T));
        return {reinterpret_cast<const T*>(part.data()), count};
    }
    bool is_empty() const noexcept { return bytes_.empty(); }

  private:
    std::span<const std::byte> bytes_;
};

}  // namespace

template <class T>
void IntervalSums::put(std::span<const T> values) {
    sample_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

void IntervalSums::put_view(const FigureView& view) {
    const ViewHeader header{.count = view.count,
                            .low = view.low,
                            .high = view.high,
                            .buckets = static_cast<std::uint32_t>(view.keys.size()),
                            .bins = static_cast<std::uint32_t>(view.bins.size()),
                            .level = view.level,
                            .kind = view.kind,
                            .is_there = true};
    put(std::span(&header, 1));
    put(view.keys);
    put(view.counts);
    put(view.bins);
    put(std::span<const Moments>(&view.moments, 1));
}

void IntervalSums::sample(const LogicalProcess& lp, std::uint32_t first, std::uint32_t end) {
    const SampleHeader intervals{first, end};
    {
        const PlatformScope platform;
        sample_.clear();
        put(std::span(&intervals, 1));
    }
    for (const Measure& measure : *measures_) {
        FigureView view;
        const bool is_there = measure.sample(lp, times_.end_of(first), view);
        {
            const PlatformScope platform;
            if (is_there) {
                put_view(view);
            } else {
                const ViewHeader none{};
                put(std::span(&none, 1));
            }
        }
        if (!is_there || !depends_on_time(view.kind)) continue;
        for (std::uint32_t i = first + 1; i < end; ++i) {
            measure.sample(lp, times_.end_of(i), view);
            const PlatformScope platform;
            put(std::span<const Moments>(&view.moments, 1));
        }
    }
}

std::uint32_t IntervalSums::first_of(std::span<const std::byte> sample) noexcept {
    return Reader(sample).next<SampleHeader>(1).front().first;
}

void IntervalSums::add(std::span<const std::byte> sample) {
    Reader reader(sample);
    const SampleHeader intervals = reader.next<SampleHeader>(1).front();
    if (ends_.size() < intervals.end)
        ends_.resize(intervals.end, std::vector<MeasureSum>(measures_->size()));
    for (std::size_t m = 0; m < measures_->size(); ++m) {
        const ViewHeader header = reader.next<ViewHeader>(1).front();
        if (!header.is_there) continue;
        FigureView view{.kind = header.kind,
                        .count = header.count,
                        .moments = {},
                        .keys = reader.next<std::int32_t>(header.buckets),
                        .counts = reader.next<std::uint32_t>(header.buckets),
                        .level = header.level,
                        .bins = reader.next<std::uint64_t>(header.bins),
                        .low = header.low,
                        .high = header.high};
        const auto moments = reader.next<Moments>(
            depends_on_time(header.kind) ? intervals.end - intervals.first : 1);
        for (std::uint32_t i = intervals.first; i < intervals.end; ++i) {
            view.moments = moments[depends_on_time(header.kind) ? i - intervals.first : 0];
            ends_[i][m].add((*measures_)[m].name, view);
        }
    }
    NW_CHECK(reader.is_empty());
}

IntervalSums& IntervalSums::operator+=(const IntervalSums& other) {
    if (ends_.size() < other.ends_.size()) ends_.resize(other.ends_.size());
    for (std::size_t i = 0; i < other.ends_.size(); ++i) {
        ends_[i].resize(other.ends_[i].size());
        for (std::size_t m = 0; m < ends_[i].size(); ++m) ends_[i][m] += other.ends_[i][m];
    }
    return *this;
}

}  // namespace nw
