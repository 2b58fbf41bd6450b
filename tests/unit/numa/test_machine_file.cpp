// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <string>

#include <numawarp/model.hpp>

#include "numa/decide/machine_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace nw;
using nw::test::TemporaryFolder;

namespace {

std::string refusal_of(const std::string& content, const std::string& name = "") {
    const TemporaryFolder folder;
    const std::string file = folder.path() + "/machine.json";
    std::ofstream(file) << content;
    try {
        read_machine_file(file + name);
    } catch (const SetupError& error) {
        const std::string text = error.what();
        REQUIRE(text.starts_with(file));
        CHECK(text.find('\n') == std::string::npos);
        return text.substr(file.size());
    }
    return "none";
}

}  // namespace

TEST_CASE(
    "machine file: bandwidths are given by CPU node and memory node for one or several machines") {
    const TemporaryFolder folder;
    const std::string file = folder.path() + "/machine.json";
    std::ofstream(file) << R"({"source": "a test", "bw": [[0, 2], [3, 9.5]]})";
    const MachineFile one = read_machine_file(file);
    CHECK(one.source == "a test");
    REQUIRE(one.bandwidth.nodes() == 2);
    CHECK(one.bandwidth.at(0, 0) == 0);
    CHECK(one.bandwidth.at(0, 1) == 2);
    CHECK(one.bandwidth.at(1, 0) == 3);
    CHECK(one.bandwidth.at(1, 1) == 9.5);
    std::ofstream(file) << R"({"small": {"bw": [[1]]}, "large": {"bw": [[0, 2], [3, 0]]}})";
    CHECK(read_machine_file(file + "#small").bandwidth.nodes() == 1);
    CHECK(read_machine_file(file + "#large").bandwidth.nodes() == 2);
}

TEST_CASE("machine file: a mistake is reported in one line with the allowed values") {
    CHECK(refusal_of(R"({"bw": [[0, 2], [3]]})") ==
          ": row 1 of bw has 1 numbers, but bw has 2 rows; allowed: as many numbers in each row as "
          "there are rows");
    CHECK(refusal_of(R"({"bw": [[0, 2]]})") ==
          ": row 0 of bw has 2 numbers, but bw has 1 rows; allowed: as many numbers in each row as "
          "there are rows");
    CHECK(refusal_of(R"({"bw": [[0, -2], [3, 0]]})") ==
          ": bw[0][1] is -2; allowed: MB/s above 0; on the diagonal also 0, for an unknown value");
    CHECK(refusal_of(R"({"bw": [[0, 2], [0, 0]]})") ==
          ": bw[1][0] is 0; allowed: MB/s above 0; on the diagonal also 0, for an unknown value");
    CHECK(refusal_of(R"({"bw": [[-1]]})") ==
          ": bw[0][0] is -1; allowed: MB/s above 0; on the diagonal also 0, for an unknown value");
    CHECK(refusal_of(R"({"bw": []})") == ": bw has 0 rows; allowed: one per node, 1 to 16");
    CHECK(refusal_of(R"({"bw": 7})") == ": bw is not an array; allowed: an array of rows");
    CHECK(refusal_of(R"({"bw": [7]})") ==
          ": row 0 of bw is not an array; allowed: an array of numbers");
    CHECK(refusal_of(R"({"bw": [["fast"]]})") == ": bw[0][0] is not a number; allowed: MB/s");
    CHECK(refusal_of("[]") ==
          ": \"bw\" is missing; allowed: an object with \"bw\", a row of MB/s for each node");
    CHECK(refusal_of("{") == ": not valid JSON from byte 2");
    CHECK(refusal_of("{}", "#mine") == ": no machine \"mine\" in it");
    try {
        read_machine_file("/nowhere/machine.json");
        FAIL("no error for a missing file");
    } catch (const SetupError& error) {
        CHECK(std::string(error.what()) == "/nowhere/machine.json: No such file or directory");
    }
}
