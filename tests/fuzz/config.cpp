// SPDX-License-Identifier: Apache-2.0
// --config FILE: a TOML file with options.
#include <set>

#include "app/options/config_file.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/unit/app/toy_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const nw::test::MemoryFile file;
    file.set(nw::test::as_text(data, size));
    nw::test::ToyModel model;
    nw::Settings settings;
    const nw::OptionTable table(settings, model);
    std::set<std::string, std::less<>> given;
    nw::test::read_or_refuse([&] { nw::apply_config_file(file.path(), table, given); });
    return 0;
}
