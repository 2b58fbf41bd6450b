// SPDX-License-Identifier: Apache-2.0
#include "lp/state_difference.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "memory/heap/lp_heap.hpp"

namespace nw {

namespace {

using Chunk = std::vector<std::byte>;
using Chunks = std::map<const std::byte*, Chunk>;  // by address

bool points_into(std::span<const AddressRange> ranges, const std::byte* place) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, place, sizeof word);
    return std::any_of(ranges.begin(), ranges.end(), [word](const AddressRange& range) {
        return word >= range.begin && word < range.end;
    });
}

// Finds the first byte at which two chunks differ. Skips a word that points into the stack of a
// handler in both chunks.
class Comparison {
  public:
    explicit Comparison(std::span<const AddressRange> stacks) : stacks_(stacks) {}

    // Returns the position of the first difference outside of skipped words, or the size of the
    // smaller chunk if there is no such difference.
    std::size_t first_difference(const Chunk& was, const Chunk& is) {
        std::size_t at = 0;
        for (;;) {
            const auto from = static_cast<std::ptrdiff_t>(at);
            at = static_cast<std::size_t>(
                std::mismatch(was.begin() + from, was.end(), is.begin() + from, is.end()).first -
                was.begin());
            const std::size_t word = at / word_bytes * word_bytes;
            if (word + word_bytes > std::min(was.size(), is.size()) ||
                !points_into(stacks_, &was[word]) || !points_into(stacks_, &is[word]))
                return at;
            has_passed_over_ = true;
            at = word + word_bytes;
        }
    }
    bool has_passed_over() const noexcept { return has_passed_over_; }

  private:
    static constexpr std::size_t word_bytes = sizeof(std::uint64_t);
    std::span<const AddressRange> stacks_;
    bool has_passed_over_ = false;  // words that point into stacks_ were skipped
};

std::string words_for(const std::string& what, std::size_t at, const Chunk& was, const Chunk& is) {
    return fmt::format("byte {} of {} was 0x{:02x} and is 0x{:02x}", at, what,
                       std::to_integer<unsigned>(was[at]), std::to_integer<unsigned>(is[at]));
}

// Returns the chunk that contains the address, or end().
Chunks::const_iterator holder_of(const Chunks& chunks, const std::byte* address) {
    auto found = chunks.upper_bound(address);
    if (found == chunks.begin()) return chunks.end();
    --found;
    return address < found->first + found->second.size() ? found : chunks.end();
}

}  // namespace

std::optional<std::string> describe_difference(const LpHeap& heap, const Snapshot& snapshot,
                                               const void* object, std::size_t object_bytes,
                                               std::span<const AddressRange> stacks) {
    Comparison comparison(stacks);
    Chunks before, now;
    heap.for_each_saved_chunk(
        snapshot, [&](const std::byte* address, std::size_t bytes, const std::byte* saved) {
            before[address].assign(saved, saved + bytes);
        });
    heap.for_each_chunk([&](const std::byte* address, std::size_t bytes) {
        now[address].assign(address, address + bytes);
    });

    const auto own = holder_of(before, static_cast<const std::byte*>(object));
    if (own != before.end() && now.count(own->first) != 0) {
        const Chunk& is = now[own->first];
        const std::size_t at = comparison.first_difference(own->second, is);
        if (at < own->second.size())
            return words_for(fmt::format("the LP's object ({} bytes)", object_bytes), at,
                             own->second, is);
    }
    for (const auto& [address, was] : before) {
        const auto is = now.find(address);
        if (is == now.end()) continue;
        const std::size_t at = comparison.first_difference(was, is->second);
        if (at < std::min(was.size(), is->second.size()))
            return words_for(fmt::format("an allocation of {} bytes", was.size()), at, was,
                             is->second);
        if (was.size() != is->second.size())
            return fmt::format("an allocation of {} bytes has {} bytes now", was.size(),
                               is->second.size());
    }
    for (const auto& [address, was] : before)
        if (now.count(address) == 0)
            return fmt::format("an allocation of {} bytes existed and does not exist now",
                               was.size());
    for (const auto& [address, is] : now)
        if (before.count(address) == 0)
            return fmt::format("an allocation of {} bytes exists now and did not exist before",
                               is.size());
    return comparison.has_passed_over() ? std::nullopt : std::optional<std::string>("");
}

}  // namespace nw
