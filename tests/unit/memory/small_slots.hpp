// SPDX-License-Identifier: Apache-2.0
// A fake kernel whose address space suffices for two slots of 2 MiB. This is the minimum size of a
// slot.
#pragma once

#include "tests/support/fake_os.hpp"

namespace nw::test {

struct SmallSlots {
    static constexpr std::uint32_t groups = 2;

    SmallSlots() { os.set_reserve_bytes_max(std::size_t{8} << 20); }
    FakeOs os{1, 1};
};

}  // namespace nw::test
