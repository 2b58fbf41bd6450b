// SPDX-License-Identifier: Apache-2.0
#include "engine/inorder/window_rounds.hpp"

#include <fmt/format.h>

#include "util/handoff.hpp"

namespace nw {

WindowRounds::WindowRounds(Transport& transport, std::uint32_t workers, std::uint32_t first_window)
    : transport_(transport), done_(first_window), reduction_(transport, true) {
    slots_.assign(workers, {reduction_.new_part()});
}

bool WindowRounds::step() {
    if (!reduction_.is_under_way()) {
        if (arrived_.load(std::memory_order_acquire) != workers()) return false;
        arrived_.store(0, std::memory_order_relaxed);
        reduction_.begin(slots_);
    }
    const std::uint32_t window = done_.load(std::memory_order_relaxed);
    if (!reduction_.poll(window)) return false;
    result_ = reduction_.result();
    note_handoff(Handoff::result_made);
    done_.store(window + 1);
    return true;
}

std::string WindowRounds::waiting_for() const {
    if (!reduction_.is_under_way())
        return fmt::format("{} of {} workers have reached its end",
                           arrived_.load(std::memory_order_relaxed), workers());
    if (!reduction_.is_receiving())
        return fmt::format(
            "other ranks have not contributed; {} batches of this rank have not been received",
            transport_.sends_under_way());
    return fmt::format("{} of {} batches from other ranks have arrived",
                       reduction_.received(done_.load(std::memory_order_relaxed)),
                       reduction_.expected());
}

}  // namespace nw
