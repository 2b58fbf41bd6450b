// SPDX-License-Identifier: Apache-2.0
#include "engine/rank_batches.hpp"

#include <algorithm>
#include <utility>

#include "util/check.hpp"
#include "util/handoff.hpp"

namespace nw {

bool RankBatches::append(std::uint32_t rank, const WireEvent& wire, const std::byte* payload) {
    ++counters_[Counter::events_sent];
    if (rank >= to_.size()) to_.resize(rank + 1u);
    ToRank& to = to_[rank];
    if (to.mail.empty())
        open_.push_back(rank);
    else if (to.mail.size() + wire.bytes() > batch_bytes_)
        close(rank);
    const bool is_first = to.mail.empty();
    to.mail.append(wire, payload);
    ++to.messages;
    return is_first;
}

void RankBatches::close(std::uint32_t rank) {
    ToRank& to = to_[rank];
    to.in_closed_batches = to.messages;
    ++to.batches_since_take;
    ++counters_[Counter::batches_sent];
    counters_[Counter::bytes_sent] += to.mail.size();
    note_handoff(Handoff::batch_posted);
    exchange_->post(RankId{rank}, {to.mail.data(), to.mail.size()});
    to.mail.clear();
}

void RankBatches::take_batches_sent(std::span<std::uint32_t> sent) noexcept {
    for (std::size_t r = 0; r < sent.size(); ++r)
        sent[r] = r < to_.size() ? std::exchange(to_[r].batches_since_take, 0) : 0;
}

void RankBatches::add_sent_to(std::vector<std::uint64_t>& sums) const {
    for (std::size_t r = 0; r < to_.size(); ++r) sums[r] += to_[r].messages;
}

void RankBatches::validate_open() const {
    std::vector<std::uint32_t> waiting;
    for (std::uint32_t r = 0; r < to_.size(); ++r)
        if (!to_[r].mail.empty()) waiting.push_back(r);
    NW_CHECK(std::is_permutation(open_.begin(), open_.end(), waiting.begin(), waiting.end()));
}

}  // namespace nw
