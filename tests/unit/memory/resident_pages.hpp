// SPDX-License-Identifier: Apache-2.0
// Counts the pages that have memory, according to the kernel.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <span>
#include <vector>

#include "numa/os/os.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {

// Requires: the range consists of whole pages.
inline std::size_t resident_pages(std::span<std::byte> range) {
    std::vector<unsigned char> resident(range.size() / page_bytes);
    REQUIRE(::mincore(range.data(), range.size(), resident.data()) == 0);
    std::size_t count = 0;
    for (const unsigned char page : resident) count += page & 1U;
    return count;
}

}  // namespace nw::test
