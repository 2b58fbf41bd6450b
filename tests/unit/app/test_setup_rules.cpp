// SPDX-License-Identifier: Apache-2.0
// A Setup that breaks a rule is refused. The message names the model.
#include <limits>
#include <string>
#include <vector>

#include "app/options/command_line.hpp"
#include "app/options/setup_rules.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/app/toy_model.hpp"

namespace {

using nw::test::ToyModel;

// The message for the toy model after `spoil` has changed its setup or the configuration; empty if
// they are accepted.
template <class Spoil>
std::string complaint(Spoil spoil, const std::vector<std::string>& arguments = {},
                      std::uint32_t ranks = 1) {
    ToyModel model;
    nw::Settings settings;
    const nw::OptionTable table(settings, model);
    nw::read_command_line(arguments, table, settings);
    spoil(model.spoiled, settings.config);
    try {
        nw::check_setup(model, model.spoiled, table, ranks);
    } catch (const nw::SetupError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("setup rules: a correct setup is accepted") {
    CHECK(complaint([](nw::Setup&, nw::Config&) {}) == "");
}

TEST_CASE("setup rules: a mistake in the model is reported with the name of the model") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(complaint([](nw::Setup& s, nw::Config&) { s.lps = 0; }) ==
          "model toy: lps 0: must be at least 1");
    CHECK(complaint([](nw::Setup& s, nw::Config&) { s.until = -1; }) ==
          "model toy: until -1: must be above 0");
    CHECK(complaint([](nw::Setup& s, nw::Config&) { s.until = nan; }) ==
          "model toy: until nan: must be above 0");
    CHECK(complaint([](nw::Setup& s, nw::Config&) { s.lookahead = -0.5; }) ==
          "model toy: lookahead -0.5: must be 0 or more, and finite");
    CHECK(complaint([](nw::Setup& s, nw::Config&) { s.payload_bytes_max = 65'536; }) ==
          "model toy: payload_bytes_max 65536: must be at most 65535");
    CHECK(complaint([](nw::Setup& s, nw::Config&) { s.process = {}; }) ==
          "model toy: process: must be set, with nw::process<Lp>()");
    CHECK(complaint([](nw::Setup& s, nw::Config&) { s.preferred_rollback = nw::Rollback::copy; }) ==
          "model toy: preferred_rollback copy: needs LPs derived from nw::PlainStateProcess");
    CHECK(complaint([](nw::Setup& s, nw::Config&) {
              s.links = {{nw::LpId{0}, nw::LpId{4}}};
          }) == "model toy: link of LPs 0 and 4: LP numbers must be below lps = 4");
    CHECK(complaint([](nw::Setup& s, nw::Config&) {
              s.outputs = {{"a/b", {"x"}}};
          }) == "model toy: output table \"a/b\": must have a name that is possible for a file");
    CHECK(complaint([](nw::Setup& s, nw::Config&) {
              s.outputs = {{"a", {"x"}}, {"a", {"x"}}};
          }) == "model toy: output table a: must not be declared twice");
    CHECK(complaint([](nw::Setup& s, nw::Config&) {
              s.outputs = {{"a", {}}};
          }) == "model toy: output table a: must have at least one column");
    CHECK(complaint([](nw::Setup& s, nw::Config&) {
              s.outputs = {{"caf\xe9", {"x"}}};
          }) == "model toy: output table \"caf\ufffd\": its name must be UTF-8");
    CHECK(complaint([](nw::Setup& s, nw::Config&) {
              s.outputs = {{"a", {"x", "\xff"}}};
          }) == "model toy: output table a: column \"\ufffd\" must be UTF-8 without zero bytes");
    const auto tables = [](int count) {
        return complaint([&](nw::Setup& s, nw::Config&) {
            for (int t = 0; t < count; ++t) s.outputs.push_back({std::to_string(t), {"x"}});
        });
    };
    CHECK(tables(65'536) == "");
    CHECK(tables(65'537) == "model toy: 65537 output tables: must be at most 65536");
}

TEST_CASE("setup rules: names of measures and kinds and events must fit on one line") {
    const auto of_measure = [](const std::string& name) {
        return complaint([&](nw::Setup& s, nw::Config&) { s.measures = {{name, nullptr}}; });
    };
    const std::string how = ": must have a name in UTF-8 without control characters";
    CHECK(of_measure("a\nb") == "model toy: measure \"a b\"" + how);
    CHECK(of_measure("caf\xe9") == "model toy: measure \"caf\ufffd\"" + how);
    CHECK(of_measure("") == "model toy: measure \"\"" + how);
    CHECK(of_measure(std::string(201, 'x')) ==
          "model toy: measure with a name of 201 bytes: must have a name of at most 200 bytes");
    // These names are valid. The message is about another error.
    for (const std::string& name : {std::string("caf\u00e9 1"), std::string(200, 'x')})
        CHECK(of_measure(name) ==
              "model toy: measure " + name + ": must be created with nw::measure()");

    const auto of_kind = [](const std::string& name) {
        return complaint([&](nw::Setup& s, nw::Config&) {
            s.lps =
                nw::Kinds(std::vector<nw::Kind>{{.name = name, .count = 4, .process = s.process}});
            s.process = {};
        });
    };
    CHECK(of_kind("a desk") == "");
    CHECK(of_kind("a\tdesk") == "model toy: kind \"a desk\"" + how);
    CHECK(of_kind("d\xff") == "model toy: kind \"d\ufffd\"" + how);
    CHECK(of_kind(std::string(5000, 'k')) ==
          "model toy: kind with a name of 5000 bytes: must have a name of at most 200 bytes");

    const auto of_event = [](const std::string& name) {
        return complaint([&](nw::Setup& s, nw::Config&) { s.process.events = {{0, 0, name}}; });
    };
    CHECK(of_event("Pair<int>") == "");
    CHECK(of_event("a\nb") == "model toy: event \"a b\"" + how);
    CHECK(of_event("\x80") == "model toy: event \"\ufffd\"" + how);
}

TEST_CASE(
    "setup rules: an option that the model does not support is refused with the supported values") {
    CHECK(complaint([](nw::Setup&, nw::Config& c) { c.rollback = nw::Rollback::copy; }) ==
          "--rollback copy: must be snapshot with model toy");
    CHECK(complaint([](nw::Setup& s, nw::Config& c) {
              s.process.has_reverse = true;
              c.rollback = nw::Rollback::copy;
          }) == "--rollback copy: must be snapshot or reverse with model toy");
    CHECK(complaint([](nw::Setup&, nw::Config& c) { c.engine = nw::EngineKind::conservative; }) ==
          "--engine conservative: must be sequential, timewarp or auto with model toy, which "
          "declares no lookahead");
    CHECK(
        complaint([](nw::Setup& s, nw::Config& c) {
            s.lookahead = 1;
            s.process.has_end_condition = true;
            c.engine = nw::EngineKind::conservative;
        }) ==
        "--engine conservative: must be sequential, timewarp or auto with model toy, which ends by "
        "can_end(): a lookahead window could run past this end");
}

TEST_CASE("setup rules: an option that needs another option is refused with its name") {
    const auto refusal = [](const std::vector<std::string>& arguments) {
        return complaint([](nw::Setup&, nw::Config&) {}, arguments);
    };
    const std::string time_warp = ": needs --engine timewarp; must be left out here";
    CHECK(refusal({"--trace", "t.json"}) == "");
    CHECK(refusal({"--trace", "t.json", "--engine", "sequential"}) == "--trace t.json" + time_warp);
    CHECK(refusal({"--restart", "saved"}) == "");
    CHECK(refusal({"--restart", "saved", "--engine", "sequential"}) == "");
    CHECK(refusal({"--restart", "saved", "--memory", "libc"}) ==
          "--restart saved: needs --memory numa; must be left out here");
    // A file or folder may be named "off": this value does not switch the option off.
    CHECK(refusal({"--restart", "off", "--memory", "libc"}) ==
          "--restart off: needs --memory numa; must be left out here");
    CHECK(refusal({"--checkpoint", "saved", "--checkpoint-period", "600"}) == "");
    CHECK(refusal({"--checkpoint", "saved", "--engine", "sequential"}) == "");
    CHECK(refusal({"--checkpoint-period", "600"}) ==
          "--checkpoint-period 600: needs --checkpoint DIR; must be left out here");
    CHECK(refusal({"--output-format", "both"}) ==
          "--output-format both: needs --output DIR; must be left out here");
    CHECK(refusal({"--check-rollback", "0.5"}) == "");
    CHECK(refusal({"--check-rollback", "0.5", "--engine", "sequential"}) ==
          "--check-rollback 0.5" + time_warp);
    CHECK(refusal({"--check-rollback", "0", "--engine", "sequential"}) == "");
    CHECK(refusal({"--check-rebind", "0.5"}) == "");
    CHECK(refusal({"--check-rebind", "0.5", "--rebind", "off"}) ==
          "--check-rebind 0.5: needs --rebind SECONDS; must be left out here");
    CHECK(refusal({"--place", "strict"}) == "");
    CHECK(refusal({"--place", "strict", "--pin", "off"}) ==
          "--place strict: needs --pin on; must be left out here");
    CHECK(refusal({"--place", "local", "--pin", "off"}) == "");
    CHECK(refusal({"--place", "strict", "--memory", "libc"}) ==
          "--place strict: needs --memory numa; must be left out here");
}

TEST_CASE("setup rules: the sequential engine has only one rank") {
    const auto sequential = [](nw::Setup&, nw::Config& c) {
        c.engine = nw::EngineKind::sequential;
    };
    CHECK(complaint(sequential) == "");
    CHECK(complaint(sequential, {}, 2) ==
          "--engine sequential: must be conservative, timewarp or auto on 2 ranks");
    CHECK(complaint([](nw::Setup&, nw::Config&) {}, {}, 2) == "");
    const auto conservative = [](nw::Setup& setup, nw::Config& c) {
        setup.lookahead = 1;
        c.engine = nw::EngineKind::conservative;
    };
    CHECK(complaint(conservative, {}, 2) == "");
}

TEST_CASE("setup rules: a run must have an end") {
    const std::string message =
        "--until: must be given with model toy, which has neither an end time nor can_end()";
    const auto endless = [](nw::Setup& s, nw::Config&) { s.until = nw::time_infinity; };
    CHECK(complaint(endless) == message);
    CHECK(complaint([](nw::Setup& s, nw::Config& c) {
              s.until = nw::time_infinity;
              c.until = 5;
          }) == "");
    CHECK(complaint([](nw::Setup& s, nw::Config&) {
              s.until = nw::time_infinity;
              s.process.has_end_condition = true;
          }) == "");
}

TEST_CASE("setup rules: --place auto needs one rank and --machine needs an option that uses it") {
    const auto refusal = [](const std::vector<std::string>& arguments, std::uint32_t ranks = 1) {
        return complaint([](nw::Setup&, nw::Config&) {}, arguments, ranks);
    };
    CHECK(refusal({"--place", "auto", "--machine", "m.json"}) == "");
    CHECK(refusal({"--place", "auto"}, 2) ==
          "--place auto: must be local, strict, interleave, weighted or asymsched on 2 ranks");
    CHECK(refusal({"--place", "asymsched", "--machine", "m.json"}, 2) == "");
    CHECK(refusal({"--place", "asymsched", "--pin", "off"}) ==
          "--place asymsched: needs --pin on; must be left out here");
    CHECK(refusal({"--place", "weighted", "--pin", "off"}) == "");
    CHECK(refusal({"--place", "interleave", "--machine", "m.json"}) ==
          "--machine m.json: needs --place weighted, asymsched or auto; must be left out here");
    CHECK(refusal({"--place", "weighted", "--proximity", "0.5"}) == "");
    CHECK(refusal({"--place", "auto", "--proximity", "0.5"}) ==
          "--proximity 0.5: needs --place weighted; must be left out here");
}
