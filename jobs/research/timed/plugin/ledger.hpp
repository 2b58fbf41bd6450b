// SPDX-License-Identifier: Apache-2.0
// The bytes that a memory or a link between two nodes carries, by windows of modeled time.
//
// The modeled times of the vCPUs of a guest differ. With a queue, a vCPU that is behind would wait
// for transfers of vCPUs that are ahead. Therefore a transfer takes the first window with room. The
// search begins with the window of the transfer's own time.
//
// Thread: any.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>

namespace nw::timed {

using Picoseconds = std::int64_t;

class Ledger {
  public:
    static constexpr Picoseconds window = 1'000'000;  // a microsecond

    // Without a call of limit(), there is no limit. 0 means no limit, too. One MB/s is one byte per
    // window. Requires: no transfer has been entered.
    void limit(std::uint64_t megabytes_per_second) {
        capacity_ = megabytes_per_second;
        if (capacity_ != 0) windows_ = std::make_unique<Windows>();
    }

    // Enters a transfer that begins at `now`. Returns how long the transfer waits for room.
    Picoseconds enter(Picoseconds now, std::uint64_t bytes) {
        if (capacity_ == 0) return 0;
        const std::lock_guard lock(mutex_);
        auto number = static_cast<std::uint64_t>(now / window);
        while (is_full(number)) ++number;
        const std::uint64_t first = number;
        // A transfer that exceeds the free room of a window takes the rest from the following
        // windows. So the rate is exact even if the capacity of a window is not a multiple of the
        // size of a transfer.
        std::uint64_t left = bytes;
        for (; left != 0; ++number) {
            Window& part = at(number);
            const std::uint64_t free = capacity_ > part.used ? capacity_ - part.used : 0;
            const std::uint64_t taken = left < free ? left : free;
            part.used += taken;
            left -= taken;
        }
        const Picoseconds begin = static_cast<Picoseconds>(first) * window;
        return begin > now ? begin - now : 0;
    }

  private:
    struct Window {
        std::uint64_t number = 0;
        std::uint64_t used = 0;  // bytes
    };
    // Older windows are forgotten. The vCPUs differ by the skew, at most a millisecond, so no
    // transfer is older.
    using Windows = std::array<Window, 4096>;

    Window& at(std::uint64_t number) {
        Window& found = (*windows_)[number % windows_->size()];
        if (found.number < number) found = {number, 0};
        return found;
    }
    bool is_full(std::uint64_t number) {
        const Window& found = at(number);
        return found.number != number || found.used >= capacity_;
    }

    std::uint64_t capacity_ = 0;  // bytes per window
    std::unique_ptr<Windows> windows_;
    std::mutex mutex_;
};

}  // namespace nw::timed
