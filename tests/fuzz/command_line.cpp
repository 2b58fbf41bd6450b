// SPDX-License-Identifier: Apache-2.0
// The input is the words of a command line, separated by zero bytes. The target reads the options,
// and checks that they agree with each other and with the model.
#include <nlohmann/json.hpp>

#include "app/options/command_line.hpp"
#include "app/options/setup_rules.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/unit/app/toy_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::string> words(1);
    for (const char c : nw::test::as_text(data, size)) {
        if (c == '\0')
            words.emplace_back();
        else
            words.back() += c;
    }
    // The target does not read files of this machine.
    for (const std::string& word : words)
        if (word.starts_with("--config")) return 0;
    nw::test::ToyModel model;
    nw::Settings settings;
    const nw::OptionTable table(settings, model);
    nw::test::read_or_refuse([&] {
        nw::read_command_line(words, table, settings);
        nw::check_setup(model, model.setup(), table, 1);
        table.idle_notices({});
        for (const nw::OptionSpec& spec : table.specs()) spec.value();
    });
    return 0;
}
