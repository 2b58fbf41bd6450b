// SPDX-License-Identifier: Apache-2.0
// traffic --network FILE: a road network in TOML.
#include "models/traffic/network.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    nw::test::read_or_refuse(
        [&] { traffic::parse_network(nw::test::as_text(data, size), "roads.toml"); });
    return 0;
}
