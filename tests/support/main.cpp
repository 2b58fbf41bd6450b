// The `main` of every test program; compiled once, since Catch2 2 brings its whole runner along.
#define CATCH_CONFIG_RUNNER
#include "tests/support/catch.hpp"

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
