// SPDX-License-Identifier: Apache-2.0
// Goal: a handler fails if it writes to memory that all LPs share. With --check-heap, a handler
// also fails if it writes past the end of one of its blocks. If the handler was executed out of
// order, it is undone. In order, its failure ends the run, with the same message on every engine.
//
// Method: the model of gap_model.hpp, with memory from the arena of setup().
#include <optional>
#include <string>

#include "memory/region/shared_arena.hpp"
#include "tests/engine/engines.hpp"
#include "tests/engine/gap_model.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

// Allocates memory as setup() does. The memory is not in the arena if the interposer does not serve
// malloc.
int* make_shared_number() {
    const SharedArena::Filling filling(linux_os());
    int* volatile number = new int(5);
    return number;
}

Config config_for(EngineKind engine, Fault fault) {
    Config config = wild_config(engine);
    config.check_heap = fault == Fault::overflow;
    return config;
}

constexpr Fault faults[] = {Fault::shared_write, Fault::shared_free, Fault::overflow};

const char* words_for(Fault fault) {
    switch (fault) {
        case Fault::shared_write:
            return "SIGSEGV: a write to memory that setup() allocated and all LPs share";
        case Fault::shared_free:
            return "the handler freed or reallocated memory that setup() allocated and all LPs "
                   "share";
        default:
            return "the handler wrote past the end of a block of 24 bytes: the first byte changed "
                   "is "
                   "at offset 25";
    }
}

TEST_CASE(
    "every engine reports a forbidden write with the same message, which names LP and event") {
    int* const shared = make_shared_number();
    for (const Fault fault : faults) {
        if (fault != Fault::overflow && !SharedArena::contains(shared)) continue;
        for (const EngineKind engine : all_engines) {
            GapModel model({.fault = fault, .fault_at = 50, .shared = shared});
            const std::string error = model_error_of(model, config_for(engine, fault));
            INFO(name_of(engine) << ": " << error);
            CHECK(error.find("LP 7 at time 50.5, event of type 1 from LP 1: ") == 0);
            CHECK(error.find(words_for(fault)) != std::string::npos);
        }
    }
    CHECK(*shared == 5);
    delete shared;  // the memory is writable again
}

TEST_CASE("a forbidden write of a handler in a mis-speculated state is rolled back") {
    GapModel reference({});
    const std::string expected =
        run_model(reference, wild_config(EngineKind::sequential)).digest.hex();
    int* const shared = make_shared_number();
    for (const Fault fault : faults) {
        if (fault != Fault::overflow && !SharedArena::contains(shared)) continue;
        INFO(words_for(fault));
        std::uint64_t failed = 0;
        // How far the threads drift apart depends on the machine. Repeat until a handler failed.
        for (int attempt = 0; attempt < 50 && failed == 0; ++attempt) {
            GapModel model({.fault = fault, .slow_half = true, .shared = shared});
            const RunResult result = run_model(model, config_for(EngineKind::timewarp, fault));
            REQUIRE(result.digest.hex() == expected);
            failed += result.totals[Counter::failed_speculations];
        }
        CHECK(failed > 0);
    }
    CHECK(*shared == 5);
    delete shared;
}

TEST_CASE("--protect-shared off lets a handler write to shared memory") {
    int* const shared = make_shared_number();
    GapModel model({.fault = Fault::shared_write, .fault_at = 50, .shared = shared});
    Config config = wild_config(EngineKind::sequential);
    config.protect_shared = false;
    CHECK(model_error_of(model, config) == "no error");
    CHECK(*shared == 6);
    delete shared;
}

}  // namespace
}  // namespace nw::test
