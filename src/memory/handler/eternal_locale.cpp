// SPDX-License-Identifier: Apache-2.0
#include "memory/handler/eternal_locale.hpp"

#include <climits>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <sstream>

namespace nw {
namespace {

// The parts of libstdc++'s std::locale::_Impl and std::locale::facet that are used here. These
// parts belong to the binary interface of libstdc++, because functions in headers use them.
struct Facet {
    const void* virtual_functions;
    int references;
};
struct Implementation {
    int references;
    Facet** facets;
    std::size_t facet_count;
};

void count_up(int& references) noexcept {
    if (__atomic_load_n(&references, __ATOMIC_RELAXED) < INT_MAX / 4)
        __atomic_fetch_add(&references, INT_MAX / 2, __ATOMIC_RELAXED);
}

// Each locale caches the names and signs of numbers and money.
template <class Char>
void fill_caches(const std::locale& locale) {
    std::basic_stringstream<Char> text;
    text.imbue(locale);
    text << 1.5 << Char(' ') << 1234567 << Char(' ') << true;
    double number = 0;
    text >> number;
    for (const bool international : {false, true}) {
        if (std::has_facet<std::money_put<Char>>(locale))
            std::use_facet<std::money_put<Char>>(locale).put(std::ostreambuf_iterator<Char>(text),
                                                             international, text, Char(' '), 1.0L);
        if (!std::has_facet<std::money_get<Char>>(locale)) continue;
        std::basic_istringstream<Char> coins(std::basic_string<Char>(1, Char('1')));
        std::ios_base::iostate state{};
        long double amount = 0;
        std::use_facet<std::money_get<Char>>(locale).get(std::istreambuf_iterator<Char>(coins),
                                                         std::istreambuf_iterator<Char>(),
                                                         international, text, state, amount);
    }
}

}  // namespace

void make_eternal(const std::locale& locale) {
    fill_caches<char>(locale);
    fill_caches<wchar_t>(locale);
    static_assert(sizeof(std::locale) == sizeof(Implementation*));
    Implementation* implementation = nullptr;
    std::memcpy(&implementation, static_cast<const void*>(&locale), sizeof implementation);
    count_up(implementation->references);
    for (std::size_t i = 0; i < implementation->facet_count; ++i)
        if (implementation->facets[i] != nullptr) count_up(implementation->facets[i]->references);
}

}  // namespace nw
