// SPDX-License-Identifier: Apache-2.0
#include "util/digest.hpp"

#include <bit>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"

using namespace nw;

namespace {

using Payload = std::vector<std::byte>;

struct Appended {
    VirtualTime time;
    EventType type;
    Payload payload;
};

Payload counting_bytes(std::size_t count) {
    Payload payload;
    for (std::size_t i = 0; i < count; ++i) payload.push_back(static_cast<std::byte>(i));
    return payload;
}

Digest digest_of(const std::vector<Appended>& events) {
    Digest digest;
    for (const Appended& event : events)
        digest.append(event.time, event.type, event.payload.data(), event.payload.size());
    return digest;
}

std::pair<std::uint64_t, std::uint64_t> words_of(const Digest& digest) {
    return {digest.high, digest.low};
}

// The step of the description in digest.hpp.
void append_pair(Digest& digest, std::uint64_t first, std::uint64_t second) {
    __extension__ using Wide = unsigned __int128;
    const Wide product =
        Wide{digest.low ^ first ^ 0x6a09e667f3bcc908} * (digest.high ^ second ^ 0xbb67ae8584caa73b);
    digest = {.high = digest.low ^ static_cast<std::uint64_t>(product >> 64),
              .low = digest.high ^ static_cast<std::uint64_t>(product)};
}

int differing_bits(const Digest& a, const Digest& b) {
    return std::popcount(a.high ^ b.high) + std::popcount(a.low ^ b.low);
}

template <class T>
T with_bit_changed(const T& value, int bit) {
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    word ^= std::uint64_t{1} << bit;
    T changed;
    std::memcpy(&changed, &word, sizeof changed);
    return changed;
}

Appended random_event(test::Dice& dice, std::size_t payload_bytes) {
    Appended event{static_cast<double>(dice.below(1'000'000)) / 1024,
                   static_cast<EventType>(dice.below(65536)), Payload(payload_bytes)};
    for (std::byte& byte : event.payload) byte = static_cast<std::byte>(dice.below(256));
    return event;
}

}  // namespace

// The expected values are computed with Python's integers of unlimited size, from the description
// in digest.hpp.
TEST_CASE("Digest: the values are those of the function that digest.hpp describes") {
    const std::pair<std::size_t, Digest> chain[] = {
        {0, {0x4da02d93ab9e5f5b, 0xf93975bc13f68cd8}},
        {1, {0x008415d4cd6367ca, 0xf1ba3c9098f76c91}},
        {8, {0x1d1760d6962507be, 0x20f7262dfda09f99}},
        {15, {0x47c6d0f735e35a82, 0x639ec67cce158a7a}},
        {16, {0x0a2cd4f8376fc4eb, 0x517385ef5dac0234}},
        {17, {0x5d30fabda5c3eeda, 0xce73f12c2e640c59}},
        {40, {0x7a35375da9889655, 0x9f3385646f346609}},
        {96, {0x3eb52d9cae79dec4, 0x7c688250874ddd13}},
    };
    Digest digest;
    for (const auto& [bytes, expected] : chain) {
        INFO(bytes << " bytes");
        const Payload payload = counting_bytes(bytes);
        digest.append(static_cast<double>(bytes) / 4, static_cast<EventType>(bytes), payload.data(),
                      bytes);
        REQUIRE(words_of(digest) == words_of(expected));
    }
}

TEST_CASE("Digest: the XXH3-128 hash replaces a payload of more than 96 bytes") {
    for (const std::size_t bytes : {97, 128, 464, 5000}) {
        INFO(bytes << " bytes");
        const Payload payload = counting_bytes(bytes);
        const XXH128_hash_t hash = XXH3_128bits(payload.data(), bytes);
        Digest digest = digest_of({{1, 2, counting_bytes(3)}});
        Digest expected = digest;
        digest.append(2.5, 7, payload.data(), bytes);
        append_pair(expected, std::bit_cast<std::uint64_t>(2.5), (bytes << 16) | 7);
        append_pair(expected, hash.low64, hash.high64);
        CHECK(digest == expected);
    }
}

TEST_CASE(
    "Digest: each bit of an event changes about half of the digest's bits after one more event") {
    for (const std::uint64_t seed : test::test_seeds(3)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        test::Dice dice(seed);
        for (const std::size_t bytes : {0, 8, 12, 16, 40, 96, 200}) {
            INFO(bytes << " bytes");
            std::vector<Appended> events;
            for (int i = 0; i < 3; ++i) events.push_back(random_event(dice, bytes));
            const Digest whole = digest_of(events);
            std::set<std::pair<std::uint64_t, std::uint64_t>> different{words_of(whole)};
            double bits_changed = 0;
            const auto add = [&](const Appended& changed) {
                std::vector<Appended> others = events;
                others[1] = changed;
                const Digest digest = digest_of(others);
                different.insert(words_of(digest));
                bits_changed += differing_bits(whole, digest);
            };
            for (int bit = 0; bit < 64; ++bit) {
                Appended changed = events[1];
                changed.time = with_bit_changed(changed.time, bit);
                add(changed);
            }
            for (int bit = 0; bit < 16; ++bit) {
                Appended changed = events[1];
                changed.type = with_bit_changed(changed.type, bit);
                add(changed);
            }
            for (std::size_t byte = 0; byte < bytes; ++byte)
                for (int bit = 0; bit < 8; ++bit) {
                    Appended changed = events[1];
                    changed.payload[byte] = with_bit_changed(changed.payload[byte], bit);
                    add(changed);
                }
            const std::size_t changes = 80 + 8 * bytes;
            CHECK(different.size() == changes + 1);
            CHECK(bits_changed / static_cast<double>(changes) > 56);
            CHECK(bits_changed / static_cast<double>(changes) < 72);
        }
    }
}

TEST_CASE("Digest: all short histories of simple events have different digests") {
    std::vector<Appended> alphabet;
    for (const double time : {0.0, 1.0, 2.0})
        for (const EventType type : {EventType{0}, EventType{1}})
            for (const std::size_t bytes : {0, 1, 8, 16})
                alphabet.push_back({time, type, Payload(bytes)});
    std::set<std::pair<std::uint64_t, std::uint64_t>> digests;
    std::size_t histories = 0;
    const auto add_longer = [&](const auto& self, Digest digest, int events_left) -> void {
        digests.insert(words_of(digest));
        ++histories;
        if (events_left == 0) return;
        for (const Appended& event : alphabet) {
            Digest longer = digest;
            longer.append(event.time, event.type, event.payload.data(), event.payload.size());
            self(self, longer, events_left - 1);
        }
    };
    add_longer(add_longer, Digest(), 3);
    CHECK(histories == 1 + 24 + 24 * 24 + 24 * 24 * 24);
    CHECK(digests.size() == histories);
}

TEST_CASE(
    "Digest: the sum over the LPs depends on the LP of each history, not on the order of the LPs") {
    const Digest a = digest_of({{1, 0, {}}});
    const Digest b = digest_of({{2, 0, {}}});
    const auto sum = [](std::initializer_list<Digest> terms) {
        Digest total;
        for (const Digest& term : terms) total += term;
        return total;
    };
    CHECK(sum({a.term(LpId{0}), b.term(LpId{1})}) == sum({b.term(LpId{1}), a.term(LpId{0})}));
    CHECK(sum({a.term(LpId{0}), b.term(LpId{1})}) != sum({b.term(LpId{0}), a.term(LpId{1})}));
}
