// Catch2 in the two versions that live distributions carry: 2.13 (Debian 12, Ubuntu 22.04) and 3.
// Tests use what both have: TEST_CASE, SECTION, REQUIRE, CHECK, INFO, REQUIRE_THROWS_AS, GENERATE.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as version 2 has it
#else
#include <catch2/catch.hpp>
#endif
