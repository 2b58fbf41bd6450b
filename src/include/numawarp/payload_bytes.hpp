// The bytes of a payload as they travel: those of its members, with zeros where it has padding. What
// the stack left in there would make two equal events different ones to the digest.
//
// g++ has a builtin that clears padding. For a compiler without it (clang up to 20) the padding is
// found at compile time: in a constant expression a byte of padding has no value, and reading it is
// an error that a concept can ask for. That sees through everything but unions, bit-fields and
// pointers, and classes that no constant expression can hold, which are refused where they are not of
// the kind that cannot have any padding.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace nw::detail {

template <class T>
using BytesOf = std::array<unsigned char, sizeof(T)>;

template <class T>
concept PaddingCanBeFound = requires {
    typename std::bool_constant<(
        __builtin_bit_cast(BytesOf<T>, __builtin_bit_cast(T, BytesOf<T>{})), true)>;
};

template <class T, std::size_t index>
concept ByteHasValue = requires {
    typename std::bool_constant<__builtin_bit_cast(
                                    BytesOf<T>, __builtin_bit_cast(T, BytesOf<T>{}))[index] == 0>;
};

// As the builtin would leave them. Public to the tests, which compare the two.
template <class T>
void clear_found_padding(BytesOf<T>& bytes) noexcept {
    static_assert(PaddingCanBeFound<T>,
                  "this compiler cannot find the padding of a payload with a union, a bit-field or "
                  "a pointer in it, or without a constexpr constructor: give the payload plain "
                  "members, with names for all its bytes");
    [&]<std::size_t... index>(std::index_sequence<index...>) {
        (..., (ByteHasValue<T, index> ? void() : void(bytes[index] = 0)));
    }
    (std::make_index_sequence<sizeof(T)>());
}

template <class T>
BytesOf<T> payload_bytes(const T& payload) noexcept {
    BytesOf<T> bytes;
#if __has_builtin(__builtin_clear_padding)
    T clean = payload;
    __builtin_clear_padding(&clean);
    std::memcpy(bytes.data(), &clean, sizeof(T));
#else
    std::memcpy(bytes.data(), &payload, sizeof(T));
    if constexpr (!std::has_unique_object_representations_v<T>) clear_found_padding<T>(bytes);
#endif
    return bytes;
}

}  // namespace nw::detail
