// SPDX-License-Identifier: Apache-2.0
// --machine FILE: bandwidths between the nodes of a machine, in JSON.
#include "numa/decide/machine_file.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const nw::test::MemoryFile file;
    file.set(nw::test::as_text(data, size));
    nw::test::read_or_refuse([&] { nw::read_machine_file(file.path()); });
    nw::test::read_or_refuse([&] { nw::read_machine_file(file.path() + "#A"); });
    return 0;
}
