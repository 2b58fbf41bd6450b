// SPDX-License-Identifier: Apache-2.0
// Tests with which libraries a saved run may continue, and the messages if it may not continue.
#include <string>
#include <vector>

#include "engine/checkpoint/saved_modules.hpp"
#include "tests/support/catch.hpp"

using namespace nw;

namespace {

SavedRun saved_run() {
    SavedRun run;
    run.modules = {{"libone.so", "1111", 0x1000, 0x2000}, {"libtwo.so", "2222", 0x5000, 0x9000}};
    run.stray.to_module = {0, 7};
    return run;
}

// The message; empty if the run may continue.
std::string said_of(const SavedRun& saved, const std::vector<LoadedModule>& own) {
    try {
        check_modules(saved, own);
    } catch (const SetupError& error) {
        return error.what();
    }
    return {};
}

bool contains(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "saved modules: equal libraries at equal addresses are accepted, also with additional "
    "libraries") {
    const SavedRun saved = saved_run();
    auto own = saved.modules;
    CHECK(said_of(saved, own).empty());
    own.insert(own.begin(), {"libmore.so", "3333", 0x100, 0x200});
    CHECK(said_of(saved, own).empty());
}

TEST_CASE("saved modules: a message names a library that is missing or another build") {
    const SavedRun saved = saved_run();
    auto own = saved.modules;
    own[0].identity = "4444";
    CHECK(contains(said_of(saved, own), "libone.so is 4444 here and was 1111"));
    own.erase(own.begin());
    CHECK(contains(said_of(saved, own), "libone.so is not loaded here"));
}

TEST_CASE(
    "saved modules: if several libraries moved, the message names the one to which most words "
    "point") {
    SavedRun saved = saved_run();
    saved.stray.to_module = {1, 7};
    auto own = saved.modules;
    for (LoadedModule& module : own) module.begin += 0x1000;
    CHECK(contains(said_of(saved, own), "7 words in LPs point into the library libtwo.so"));
}

TEST_CASE("saved modules: a library at another address is an error only if LPs point into it") {
    const SavedRun saved = saved_run();
    auto own = saved.modules;
    own[0].begin += 0x1000;
    CHECK(said_of(saved, own).empty());
    own[1].begin += 0x1000;
    const std::string said = said_of(saved, own);
    CHECK(contains(said, "7 words in LPs point into the library libtwo.so"));
    CHECK(contains(said, "0x6000 here and was at 0x5000"));
}

TEST_CASE("saved modules: pointers into a library at several addresses are refused") {
    SavedRun saved = saved_run();
    const auto own = saved.modules;
    saved.modules[1].begin = 0;
    CHECK(contains(said_of(saved, own), "at several addresses"));
}

TEST_CASE("saved modules: an address belongs to the module that contains it") {
    const auto modules = saved_run().modules;
    CHECK(module_at(modules, 0xfff) == std::nullopt);
    CHECK(module_at(modules, 0x1000) == 0);
    CHECK(module_at(modules, 0x1fff) == 0);
    CHECK(module_at(modules, 0x2000) == std::nullopt);
    CHECK(module_at(modules, 0x8fff) == 1);
}
