// SPDX-License-Identifier: Apache-2.0
// The padding of a payload is sent as zeros. Some compilers have a builtin function that clears
// padding. With other compilers, the padding is found at compile time.
#include <numawarp/payload_bytes.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "tests/support/catch.hpp"

namespace {

struct Holes {
    char first;
    double second;
    std::int16_t third;
};
struct Nested {
    std::array<Holes, 2> holes;
    bool last;
};
struct Empty {};
enum class Word : std::uint8_t { yes = 1 };
struct WithEnum {
    Word word;
    float number;
};
class Private {
  public:
    explicit constexpr Private(std::int32_t value) : value_(value) {}
    char tag = 1;
    std::int32_t value() const { return value_; }

  private:
    std::int32_t value_;
};
// No constant expression can contain an object of this class. So the padding of the class cannot be
// found, and PaddingCanBeFound must be false.
class NeverConstant {
  public:
    explicit NeverConstant(std::int32_t value) : value_(value) {}
    char tag = 1;
    std::int32_t value() const { return value_; }

  private:
    std::int32_t value_;
};
static_assert(!nw::detail::PaddingCanBeFound<NeverConstant>);
struct Base {
    double number;
    char letter;
};
struct Derived : Base {
    char further;
};
struct Full {
    double a;
    float b;
    std::uint32_t c;
};

// An array of more than 64 bytes, with padding in the array and behind the array.
struct LongArray {
    std::array<Base, 8> bases;
    char letter;
    double number;
};

// Returns 'v' for each byte that is sent, and '.' for each byte that is cleared. All bits of the
// object are ones.
template <class T>
std::string travelling() {
    nw::detail::BytesOf<T> ones;
    ones.fill(0xff);
    T object = std::bit_cast<T>(ones);
    std::memset(static_cast<void*>(&object), 0xff, sizeof object);
    std::string mask;
    for (const unsigned char byte : nw::detail::payload_bytes(object)) {
        mask += byte == 0xff ? 'v' : byte == 0 ? '.' : '?';
    }
    return mask;
}

TEST_CASE("payload_bytes: members are copied and the padding between them is zero") {
    const std::string holes = "v.......vvvvvvvvvv......";
    CHECK(travelling<Holes>() == holes);
    CHECK(travelling<Nested>() == holes + holes + "v.......");
    CHECK(travelling<Empty>() == ".");
    CHECK(travelling<WithEnum>() == "v...vvvv");
    CHECK(travelling<Private>() == "v...vvvv");
    CHECK(travelling<Derived>() == "vvvvvvvvv.......v.......");
    CHECK(travelling<Full>() == std::string(16, 'v'));
    CHECK(travelling<double>() == std::string(8, 'v'));
    CHECK(travelling<std::array<std::uint8_t, 3>>() == "vvv");
}

TEST_CASE("payload_bytes: padding after an array with padding is zero and members are kept") {
    std::string mask;
    for (std::size_t i = 0; i < std::tuple_size_v<decltype(LongArray::bases)>; ++i)
        mask += "vvvvvvvvv.......";
    CHECK(travelling<LongArray>() == mask + "v.......vvvvvvvv");
}

TEST_CASE("payload_bytes: the bytes of members equal the bytes of the object") {
    Holes holes{'x', 1.5, -2};
    const auto bytes = nw::detail::payload_bytes(holes);
    CHECK(bytes[0] == 'x');
    double second;
    std::memcpy(&second, bytes.data() + offsetof(Holes, second), sizeof second);
    CHECK(second == 1.5);
    std::int16_t third;
    std::memcpy(&third, bytes.data() + offsetof(Holes, third), sizeof third);
    CHECK(third == -2);
}

}  // namespace
