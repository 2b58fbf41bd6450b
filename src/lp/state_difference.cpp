#include "lp/state_difference.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "numa/heap/lp_heap.hpp"

namespace nw {

namespace {

struct Chunk {
    std::size_t bytes = 0;
    const std::byte* content = nullptr;
};
using Chunks = std::map<const std::byte*, Chunk>;  // by address

// The byte at which they differ, or the end. Requires: a chunk of one size never gets another.
std::size_t first_difference(const Chunk& was, const Chunk& is) {
    const std::size_t bytes = std::min(was.bytes, is.bytes);
    return static_cast<std::size_t>(
        std::mismatch(was.content, was.content + bytes, is.content).first - was.content);
}

std::string words_for(const std::string& what, std::size_t at, const Chunk& was, const Chunk& is) {
    return fmt::format("byte {} of {} was 0x{:02x} and is 0x{:02x}", at, what,
                       std::to_integer<unsigned>(was.content[at]),
                       std::to_integer<unsigned>(is.content[at]));
}

// The chunk that holds the address.
Chunks::const_iterator holder_of(const Chunks& chunks, const std::byte* address) {
    auto found = chunks.upper_bound(address);
    if (found == chunks.begin()) return chunks.end();
    --found;
    return address < found->first + found->second.bytes ? found : chunks.end();
}

}  // namespace

std::string describe_difference(const LpHeap& heap, const Snapshot& snapshot, const void* object,
                                std::size_t object_bytes) {
    Chunks before, now;
    heap.for_each_saved_chunk(
        snapshot, [&](const std::byte* address, std::size_t bytes, const std::byte* saved) {
            before[address] = {bytes, saved};
        });
    heap.for_each_chunk([&](const std::byte* address, std::size_t bytes) {
        now[address] = {bytes, address};
    });

    const auto own = holder_of(before, static_cast<const std::byte*>(object));
    if (own != before.end() && now.count(own->first) != 0) {
        const Chunk& is = now[own->first];
        const std::size_t at = first_difference(own->second, is);
        if (at < own->second.bytes)
            return words_for(fmt::format("the LP's object ({} bytes)", object_bytes), at,
                             own->second, is);
    }
    for (const auto& [address, was] : before) {
        const auto is = now.find(address);
        if (is == now.end()) continue;
        const std::size_t at = first_difference(was, is->second);
        if (at < std::min(was.bytes, is->second.bytes))
            return words_for(fmt::format("an allocation of {} bytes", was.bytes), at, was,
                             is->second);
        if (was.bytes != is->second.bytes)
            return fmt::format("an allocation of {} bytes has {} bytes now", was.bytes,
                               is->second.bytes);
    }
    for (const auto& [address, was] : before)
        if (now.count(address) == 0)
            return fmt::format("an allocation of {} bytes was there and is not there now",
                               was.bytes);
    for (const auto& [address, is] : now)
        if (before.count(address) == 0)
            return fmt::format("an allocation of {} bytes is there now and was not", is.bytes);
    return {};
}

}  // namespace nw
