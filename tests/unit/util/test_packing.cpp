// SPDX-License-Identifier: Apache-2.0
#include "util/packing.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "util/checksum.hpp"

using namespace nw;

namespace {

struct Parts {
    std::uint32_t number = 0;
    double real = 0;
    std::string text;
    std::vector<std::pair<std::string, std::uint8_t>> pairs;
    std::vector<std::vector<std::string>> nested;

    friend bool operator==(const Parts&, const Parts&) = default;
};

template <class Part, class Subject>
void visit_parts(Part& part, Subject& parts) {
    part(parts.number);
    part(parts.real);
    part(parts.text);
    part(parts.pairs);
    part(parts.nested);
}

const Parts some{7, -0.5, std::string("a\0b", 3), {{"x", 1}, {"", 2}}, {{}, {"one", "", "two"}}};

std::string packed(const Parts& parts) {
    Packer part;
    visit_parts(part, parts);
    return part.take();
}

}  // namespace

TEST_CASE("Packer: unpacking returns the packed values") {
    for (const Parts& parts : {Parts{}, some}) {
        const std::string bytes = packed(parts);
        Parts unpacked{99, 99, "before", {{"before", 9}}, {{"before"}}};
        Unpacker part(bytes);
        visit_parts(part, unpacked);
        CHECK((unpacked == parts));
    }
}

TEST_CASE("Unpacker: every truncation of the bytes is an error") {
    const std::string bytes = packed(some);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        Parts unpacked;
        Unpacker part(std::string_view(bytes).substr(0, length));
        CHECK_THROWS_AS(visit_parts(part, unpacked), InternalError);
    }
}

TEST_CASE("Checksum: depends on the bytes and not on their division into pieces") {
    const std::string bytes = packed(some);
    Checksum whole, pieces;
    whole.append(bytes.data(), bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) pieces.append(&bytes[i], 1);
    CHECK(whole.value() == pieces.value());
    CHECK(whole.value().hex().size() == 32);

    std::string damaged = bytes;
    damaged[damaged.size() / 2] ^= 1;
    whole.restart();
    whole.append(damaged.data(), damaged.size());
    CHECK_FALSE(whole.value() == pieces.value());
    whole.restart();
    whole.append(bytes.data(), bytes.size());
    CHECK(whole.value() == pieces.value());
}
