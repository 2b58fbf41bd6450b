// The bytes of a payload as they travel: those of its members, with zeros where it has padding. What
// the stack left in there would make two equal events different ones to the digest.
//
// g++ has a builtin that clears padding. It goes over an array of more than 64 bytes by a loop, and then
// loses its place: it clears members of the array instead of what comes behind it (g++ 12 does). So for
// larger payloads, and for a compiler without the builtin (clang up to 20), the padding is found at
// compile time: in a constant expression a byte of padding has no value, and reading it is an error that
// a concept can ask for. That sees through everything but unions, bit-fields and pointers, and classes
// that no constant expression can hold, which are refused where they are not of the kind that cannot
// have any padding.
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

// As the builtin would leave them. Public to the tests, which compare the two.
template <class T>
void clear_found_padding(BytesOf<T>& bytes) noexcept {
    static_assert(PaddingCanBeFound<T>,
                  "this compiler cannot find the padding of a payload with a union, a bit-field or "
                  "a pointer in it, or without a constexpr constructor: give the payload plain "
                  "members, with names for all its bytes");
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
