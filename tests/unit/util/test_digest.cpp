// SPDX-License-Identifier: Apache-2.0
// The digest after an event is the XXH3-128 hash of the digest before it and of the event's time,
// type, size and payload. A payload of more than 96 bytes enters as a hash. The expected values are
// computed with the xxHash library.
#include "util/digest.hpp"

#include <cstring>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"

using namespace nw;

namespace {

Digest by_library(const Digest& before, VirtualTime time, EventType type,
                  const std::vector<std::byte>& payload) {
    std::vector<std::uint64_t> words{before.high, before.low, 0,
                                     (std::uint64_t{payload.size()} << 16) | type};
    std::memcpy(&words[2], &time, sizeof time);
    std::vector<std::byte> message(32);
    std::memcpy(message.data(), words.data(), 32);
    if (payload.size() <= 96) {
        message.insert(message.end(), payload.begin(), payload.end());
    } else {
        const XXH128_hash_t inner = XXH3_128bits(payload.data(), payload.size());
        const std::uint64_t both[2] = {inner.high64, inner.low64};
        message.resize(48);
        std::memcpy(message.data() + 32, both, sizeof both);
    }
    const XXH128_hash_t hash = XXH3_128bits(message.data(), message.size());
    return {hash.high64, hash.low64};
}

}  // namespace

TEST_CASE("Digest: equals the library's XXH3-128 for payloads of every size") {
    for (const std::uint64_t seed : test::test_seeds(3)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        test::Dice dice(seed);
        Digest digest;
        Digest expected;
        for (std::size_t bytes = 0; bytes < 300; ++bytes) {
            INFO(bytes << " bytes");
            std::vector<std::byte> payload(bytes);
            for (std::byte& byte : payload) byte = static_cast<std::byte>(dice.below(256));
            const double time = static_cast<double>(dice.below(1'000'000)) / 1024;
            const auto type = static_cast<EventType>(dice.below(65536));
            digest.append(time, type, payload.data(), bytes);
            expected = by_library(expected, time, type, payload);
            REQUIRE(digest == expected);
        }
    }
}
