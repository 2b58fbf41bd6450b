// SPDX-License-Identifier: Apache-2.0
// The `main` of every test program, compiled once, because Catch2 2 contains its whole runner in a
// header.
#define CATCH_CONFIG_RUNNER
#include "tests/support/catch.hpp"

// Under AddressSanitizer exceptions are allocated in its heap instead of the LP's heap. An
// exception that was being handled when a handler crashed leaks there.
extern "C" const char* __lsan_default_suppressions() { return "leak:__cxa_allocate_exception"; }

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
