// Samples of a run of any length, in bounded memory: when it is full, every second one goes and the
// interval doubles. So a run of a second and one of a week have the same shape.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace nw {

// Sample: copyable, with the `seconds` at which it was taken.
template <class Sample>
class SampleHistory {
  public:
    static constexpr std::size_t samples_max = 1000;

    // Requires: interval_seconds > 0.
    explicit SampleHistory(double interval_seconds) : interval_seconds_(interval_seconds) {}

    // Where an earlier history left off.
    void resume(std::vector<Sample> samples, double interval_seconds) {
        samples_ = std::move(samples);
        interval_seconds_ = interval_seconds;
    }

    // Whether a sample at this time is wanted. Times never fall.
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
