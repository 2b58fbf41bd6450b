// SPDX-License-Identifier: Apache-2.0
// The `main` of every test program. It is compiled once, because Catch2 2 contains its whole runner
// in a header.
#define CATCH_CONFIG_RUNNER
#include "tests/support/catch.hpp"

// With AddressSanitizer, exceptions are in the sanitizer's heap instead of the LP's heap. If a
// handler crashes while an exception is being handled, the exception leaks.
extern "C" const char* __lsan_default_suppressions() { return "leak:__cxa_allocate_exception"; }

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
