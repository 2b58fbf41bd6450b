// SPDX-License-Identifier: Apache-2.0
// Goal: the record of each option is complete. The test walks the table, so it also covers options
// that are added later.
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/options/option_table.hpp"
#include "app/options/option_values.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/app/toy_model.hpp"

namespace {

struct Table {
    nw::test::ToyModel model;
    nw::Settings settings;
    nw::OptionTable table{settings, model};
};

bool is_decided(const nw::OptionRole& role) {
    return role.engines != nw::Engines::undecided && role.on_ranks != nw::Equal::undecided &&
           role.at_restart != nw::Equal::undecided &&
           role.in_check_model != nw::InCheckModel::undecided;
}

// Gives the option another value than its default. Returns false if no value is found.
bool change(const nw::OptionSpec& spec) {
    std::vector<std::string> values{"on", "off", "0.25", "8", "7ev", "2@5", "64M", "text"};
    std::istringstream words(spec.values);
    for (std::string word; std::getline(words, word, '|');) values.push_back(word);
    const nlohmann::json before = spec.value();
    for (const std::string& value : values) {
        try {
            spec.set(value);
        } catch (const nw::InvalidValue&) {
            continue;
        }
        if (spec.value() != before) return true;
    }
    return false;
}

// The options that a text mentions: "output" and "stats" of "--output DIR or --stats FILE".
std::vector<std::string> options_in(const std::string& text) {
    std::vector<std::string> names;
    std::istringstream words(text);
    for (std::string word; words >> word;)
        if (word.starts_with("--")) names.push_back(word.substr(2, word.find(',') - 2));
    return names;
}

}  // namespace

TEST_CASE("option table: all decisions about each option have been made") {
    const Table all;
    CHECK_FALSE(is_decided({}));
    for (const nw::OptionSpec& spec : all.table.specs()) {
        INFO("--" << spec.name);
        const nw::OptionRole& role = spec.rules.role;
        CHECK(is_decided(role));
        // Ranks of one run must agree about everything that a saved run and its continuation share.
        if (role.at_restart != nw::Equal::none) CHECK(role.on_ranks == role.at_restart);
        CHECK_FALSE(spec.help.empty());
        CHECK_FALSE(spec.group.empty());
        for (const nw::OptionNeed& need : spec.rules.needs) {
            CHECK(need.is_met != nullptr);
            CHECK_FALSE(options_in(need.needed).empty());
            for (const std::string& name : options_in(need.needed))
                CHECK(all.table.find(name) != nullptr);
        }
        for (const nw::IdleCondition& condition : spec.rules.idle) {
            CHECK(condition.holds != nullptr);
            CHECK_FALSE(condition.name.empty());
            for (const std::string& name : options_in(condition.name))
                CHECK(all.table.find(name) != nullptr);
        }
    }
}

TEST_CASE("option table: each option accepts another value than its default and can be reset") {
    const Table all;
    for (const nw::OptionSpec& spec : all.table.specs()) {
        INFO("--" << spec.name);
        const nlohmann::json before = spec.value();
        CHECK(change(spec));
        spec.reset();
        CHECK(spec.value() == before);
    }
}

TEST_CASE("option table: --check-model reports each given option that has no effect on the check") {
    Table all;
    all.settings.check_model_events = 1;
    for (const nw::OptionSpec& spec : all.table.specs()) {
        if (!spec.is_setting()) continue;
        INFO("--" << spec.name);
        all.settings.given = {spec.name};
        REQUIRE(change(spec));
        const bool is_kept = spec.rules.role.in_check_model == nw::InCheckModel::kept;
        const bool is_reported = all.table.is_wanted(spec) && !is_kept;
        CHECK(all.table.idle_notices({}).size() == (is_reported ? 1 : 0));
        spec.reset();
    }
}
