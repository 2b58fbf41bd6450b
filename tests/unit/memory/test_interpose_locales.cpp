// SPDX-License-Identifier: Apache-2.0
// Locales that handlers make, copy and destroy. libstdc++ counts the references of locales and of
// their facets, and a rollback restores only the counts in the LP's heap.
//
// The tests are empty under a sanitizer, because the sanitizer replaces malloc.
#include <cstring>
#include <iomanip>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/unit/memory/guarded_lp.hpp"

using namespace nw;
using namespace nw::test;

TEST_CASE("interposer: a locale in an LP's state is rolled back with the state") {
    if (!malloc_is_interposed) return;
    GuardedLp lp;
    struct State {
        std::locale locale{"C.UTF-8"};
        std::vector<std::locale> copies;
        std::ostringstream text;
    };
    State* state = nullptr;
    REQUIRE(lp.handle([&] {
        state = new State;
        state->copies.assign(3, state->locale);
        state->text.imbue(state->locale);
        state->text << 1.5;
    }) == "");
    Snapshot* const snapshot = lp.heap.take(lp.group.platform());
    for (int again = 0; again < 5; ++again) {
        CHECK(lp.handle([&] {
            state->copies.clear();
            state->locale = std::locale::classic();
            state->text.imbue(std::locale());
        }) == "");
        lp.heap.restore(*snapshot);
        std::string text;
        CHECK(lp.handle([&] {
            state->text << text_of(state->copies.back());
            if (!state->text) throw std::runtime_error("no text");
        }) == "");
        lp.heap.restore(*snapshot);
    }
    LpHeap::drop(snapshot, lp.group.platform());
    CHECK(lp.handle([&] { delete state; }) == "");
    CHECK(lp.heap.used_bytes() == 0);
}

TEST_CASE("interposer: handlers may release a global locale any number of times") {
    if (!malloc_is_interposed) return;
    GuardedLp lp;
    const std::locale outer = std::locale::global(std::locale("C.UTF-8"));
    Snapshot* const before = lp.heap.take(lp.group.platform());
    std::ostringstream* text = nullptr;
    REQUIRE(lp.handle([&] { text = new std::ostringstream; }) == "");
    Snapshot* const with_stream = lp.heap.take(lp.group.platform());
    for (int again = 0; again < 100; ++again) {
        CHECK(lp.handle([&] { delete text; }) == "");
        CHECK(lp.heap.equals(*before));  // the locale's caches are not in the LP's heap
        lp.heap.restore(*with_stream);
    }
    CHECK(lp.handle([&] {
        *text << 1234567.5 << std::put_money(5.0L);
        delete text;
    }) == "");
    CHECK(text_of(std::locale()) == text_of(std::locale("C.UTF-8")));
    LpHeap::drop(before, lp.group.platform());
    LpHeap::drop(with_stream, lp.group.platform());
    std::locale::global(outer);
}

TEST_CASE("interposer: handlers may release facets of the classic locale") {
    if (!malloc_is_interposed) return;
    struct Thousands final : std::numpunct<char> {
        char do_thousands_sep() const override { return '_'; }
        std::string do_grouping() const override { return "\3"; }
    };
    GuardedLp lp;
    std::locale* locale = nullptr;
    REQUIRE(lp.handle([&] { locale = new std::locale(std::locale::classic(), new Thousands); }) ==
            "");
    Snapshot* const snapshot = lp.heap.take(lp.group.platform());
    for (int again = 0; again < 10; ++again) {
        CHECK(lp.handle([&] { delete locale; }) == "");
        lp.heap.restore(*snapshot);
    }
    char text[100] = {};
    CHECK(lp.handle([&] { std::strncpy(text, text_of(*locale).c_str(), sizeof text - 1); }) == "");
    CHECK(std::string(text).find("1_234_567") == 0);
    CHECK(text_of(std::locale::classic()).find('_') == std::string::npos);
    LpHeap::drop(snapshot, lp.group.platform());
}
