// The `main` of every test program; compiled once, since Catch2 2 brings its whole runner along.
#define CATCH_CONFIG_RUNNER
#include "tests/support/catch.hpp"

// AddressSanitizer's heap holds exceptions, which are the LP's own otherwise: one that was being handled
// when a handler crashed is lost there.
extern "C" const char* __lsan_default_suppressions() { return "leak:__cxa_allocate_exception"; }

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
