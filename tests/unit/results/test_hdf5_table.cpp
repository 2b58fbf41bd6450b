// SPDX-License-Identifier: Apache-2.0
// Tests the errors of the conversion from CSV to HDF5. tests/system/output_formats.py compares the
// values.
#include "results/formats/hdf5_table.hpp"

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "results/output/column_kinds.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

// A CSV file with the given text.
struct Csv {
    explicit Csv(const std::string& text) : path(folder.path() + "/t.csv") {
        std::ofstream(path, std::ios::binary) << text;
    }
    test::TemporaryFolder folder;
    const std::string path;
};

std::string trouble_with(const std::string& text, std::uint8_t kind, const std::string& to) {
    const Csv csv(text);
    try {
        write_hdf5_table(to.empty() ? csv.folder.path() + "/t.h5" : to,
                         {{"t", {"a"}}, csv.path, {kind}, {"model", 1, "digest"}});
    } catch (const MachineError& error) {
        return error.what();
    }
    return "";
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST_CASE("write_hdf5_table: an error names the file and the reason") {
    CHECK(trouble_with("a\n1\n", saw_integer, "").empty());
    CHECK(has(trouble_with("a\n1\n", saw_integer, "/nowhere/t.h5"),
              "writing /nowhere/t.h5 failed: No such file or directory"));
    CHECK(has(trouble_with("a\n1\n", saw_integer, "/dev/full"), "/dev/full failed: "));
}

TEST_CASE("write_hdf5_table: columns without negative numbers can contain numbers up to 2^64 - 1") {
    const std::string text = "a\n0\n18446744073709551615\n";
    CHECK(trouble_with(text, saw_integer | saw_large, "").empty());
    CHECK(has(trouble_with(text, saw_integer, ""), "\"18446744073709551615\" is not a number"));
    CHECK(has(trouble_with("a\n-1\n", saw_large, ""), "\"-1\" is not a number"));
}

TEST_CASE("write_hdf5_table: an invalid number is an error instead of zero") {
    CHECK(has(trouble_with("a\n1\n1.5\n", saw_integer, ""), "in column a"));
    CHECK(has(trouble_with("a\n\n", saw_integer, ""), "\"\" is not a number"));
    CHECK(has(trouble_with("a\n1e\n", saw_real, ""), "\"1e\" is not a number"));
}

}  // namespace
}  // namespace nw
