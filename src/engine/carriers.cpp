// SPDX-License-Identifier: Apache-2.0
#include "engine/carriers.hpp"

#include "util/check.hpp"

namespace nw {

Carriers::Carriers(std::uint32_t workers) : loans_(workers) {
    NW_CHECK(workers <= thread_mask);
    for (std::uint32_t w = 0; w < workers; ++w) loans_[w].state.store(w);
}

void Carriers::offer(std::uint32_t w, std::uint32_t carrier) noexcept {
    loans_[w].is_recalled.store(false, std::memory_order_relaxed);
    loans_[w].state.store(carrier | offered);
    loans_[carrier].offers.fetch_add(1);
}

bool Carriers::recall(std::uint32_t w) noexcept {
    std::uint32_t state = loans_[w].state.load();
    if ((state & offered) != 0 && loans_[w].state.compare_exchange_strong(state, w)) return true;
    loans_[w].is_recalled.store(true);
    return false;
}

bool Carriers::await(std::uint32_t w, std::chrono::nanoseconds longest) {
    loans_[w].given_back.sleep(longest, [&] { return loans_[w].state.load() == w; });
    return is_back(w);
}

bool Carriers::take(std::uint32_t w, std::uint32_t carrier) noexcept {
    std::uint32_t state = carrier | offered;
    return loans_[w].state.load(std::memory_order_relaxed) == state &&
           loans_[w].state.compare_exchange_strong(state, carrier | taken);
}

void Carriers::give_back(std::uint32_t w) noexcept {
    loans_[w].state.store(w);
    loans_[w].given_back.raise();
}

}  // namespace nw
