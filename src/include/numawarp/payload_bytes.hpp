// SPDX-License-Identifier: Apache-2.0
// The bytes of a payload as they are sent: the bytes of its members, and zeros in its padding.
// Padding that contains old data from the stack would give two equal events different digests.
//
// g++ has a builtin that clears padding. For an array of more than 64 bytes the builtin uses a loop
// and then continues at a wrong position: it clears members of the array instead of the bytes after
// the array (g++ 12). For larger payloads, and for compilers without the builtin (clang up to 20),
// the padding is therefore found at compile time. In a constant expression a byte of padding has no
// value, and a concept can detect that reading it is an error. This method works for all types
// except unions, bit-fields, pointers, and classes that cannot be used in a constant expression.
// Such types are refused if they can have padding.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace nw::detail {

template <class T>
using BytesOf = std::array<unsigned char, sizeof(T)>;

template <class T>
concept PaddingCanBeFound = requires {
    typename std::bool_constant<(
        __builtin_bit_cast(BytesOf<T>, __builtin_bit_cast(T, BytesOf<T>{})), true)>;
};

template <std::size_t begin, std::size_t end, std::size_t size>
constexpr bool read(const std::array<unsigned char, size>& bytes) {
    unsigned sum = 0;
    for (std::size_t at = begin; at < end; ++at) sum += bytes[at];
    return sum == 0;
}

template <class T, std::size_t begin, std::size_t end>
concept BytesHaveValues = requires {
    typename std::bool_constant<read<begin, end>(
        __builtin_bit_cast(BytesOf<T>, __builtin_bit_cast(T, BytesOf<T>{})))>;
};

template <class T, std::size_t begin, std::size_t end>
void clear_found_padding_between(BytesOf<T>& bytes) noexcept {
    if constexpr (BytesHaveValues<T, begin, end>) {
        return;
    } else if constexpr (end - begin == 1) {
        bytes[begin] = 0;
    } else {
        constexpr std::size_t middle = begin + (end - begin) / 2;
        clear_found_padding_between<T, begin, middle>(bytes);
        clear_found_padding_between<T, middle, end>(bytes);
    }
}

// Clears the padding as the builtin does. Public for the tests, which compare this function with
// the builtin.
template <class T>
void clear_found_padding(BytesOf<T>& bytes) noexcept {
    static_assert(PaddingCanBeFound<T>,
                  "this compiler cannot find the padding of a payload with a union, a bit-field or "
                  "a pointer in it, or without a constexpr constructor: give the payload plain "
                  "members that cover all of its bytes");
    clear_found_padding_between<T, 0, sizeof(T)>(bytes);
}

template <class T>
inline constexpr bool builtin_clears_padding =
#if __has_builtin(__builtin_clear_padding)
    sizeof(T) <= 64;
#else
    false;
#endif

template <class T>
BytesOf<T> payload_bytes(const T& payload) noexcept {
    BytesOf<T> bytes;
    if constexpr (builtin_clears_padding<T>) {
        T clean = payload;
#if __has_builtin(__builtin_clear_padding)
        __builtin_clear_padding(&clean);
#endif
        std::memcpy(bytes.data(), &clean, sizeof(T));
    } else {
        std::memcpy(bytes.data(), &payload, sizeof(T));
        if constexpr (!std::has_unique_object_representations_v<T>) clear_found_padding<T>(bytes);
    }
    return bytes;
}

}  // namespace nw::detail
