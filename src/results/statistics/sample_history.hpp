// SPDX-License-Identifier: Apache-2.0
// Samples of a run of any length in bounded memory. When the memory is full, every second sample is
// removed and the interval is doubled. So the samples are evenly spaced over a run of any length.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace nw {

// Sample: copyable, with a member `seconds`, the time of the sample.
template <class Sample>
class SampleHistory {
  public:
    static constexpr std::size_t samples_max = 1000;

    // Requires: interval_seconds > 0.
    explicit SampleHistory(double interval_seconds) : interval_seconds_(interval_seconds) {}

    // Continues an earlier history.
    void resume(std::vector<Sample> samples, double interval_seconds) {
        samples_ = std::move(samples);
        interval_seconds_ = interval_seconds;
    }

    // True if a sample is due at this time. Requires: times do not decrease.
    bool is_due(double seconds) const noexcept { return seconds >= next_seconds_; }

    void add(const Sample& sample) {
        if (samples_.size() == samples_max) thin_out();
        samples_.push_back(sample);
        next_seconds_ = sample.seconds + interval_seconds_;
    }

    const std::vector<Sample>& samples() const noexcept { return samples_; }
    double interval_seconds() const noexcept { return interval_seconds_; }

  private:
    void thin_out() {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < samples_.size(); i += 2) samples_[kept++] = samples_[i];
        samples_.resize(kept);
        interval_seconds_ *= 2;
    }

    double interval_seconds_;
    double next_seconds_ = 0;
    std::vector<Sample> samples_;
};

}  // namespace nw
