// SPDX-License-Identifier: Apache-2.0
// Tests --output-format with each format that this build has. A run leaves the files of the chosen
// formats and no other files.
#include "results/formats/kept_tables.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "results/output/csv_tables.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

namespace fs = std::filesystem;

const std::vector<OutputTable> tables{{"cars", {"time", "name"}}, {"ends", {"why"}}};

std::vector<std::string> files_in(const std::string& folder) {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

std::string refusal(const std::vector<OutputTable>& of, const std::string& folder,
                    const FormatChoice& choice) {
    try {
        KeptTables{of, folder, choice}.check();
    } catch (const SetupError& error) {
        return error.what();
    }
    return "";
}

TEST_CASE("kept tables: a run leaves exactly the chosen formats") {
    for (const FormatChoice& choice : format_choices()) {
        INFO(choice.word);
        const test::TemporaryFolder folder;
        const std::string path = folder.path();
        CsvTables csv(tables, path);
        csv.finish();
        const KeptTables kept{tables, path, choice};
        kept.check();
        kept.make(csv.column_kinds(), {"model", 1, "digest"});
        std::vector<std::string> made = kept.files();
        std::sort(made.begin(), made.end());
        CHECK(files_in(path) == made);

        kept.remove_unwanted_csv();
        std::vector<std::string> wanted;
        for (const OutputTable& table : tables)
            for (const OutputFormat* format : choice.formats)
                wanted.push_back(table_file(path, table, format->ending));
        std::sort(wanted.begin(), wanted.end());
        CHECK(files_in(path) == wanted);
    }
}

TEST_CASE(
    "kept tables: a table that a format cannot store is refused with the option and its value") {
    const test::TemporaryFolder folder;
    const std::string path = folder.path();
    const std::vector<OutputTable> slash{{"cars", {"km/h"}}}, none{{".", {"a"}}};
    for (const FormatChoice& choice : format_choices()) {
        INFO(choice.word);
        CHECK(refusal(tables, path, choice).empty());
        const std::string option = "--output-format " + std::string(choice.word) + ": ";
        const bool is_csv = choice.word == "csv";
        CHECK(refusal(slash, path, choice) ==
              (is_csv ? ""
                      : option + "column \"km/h\" of table cars: HDF5 requires distinct names "
                                 "without /; allowed for this model: csv"));
        CHECK(refusal(none, path, choice) ==
              (is_csv ? ""
                      : option +
                            "the name of a table must not be \".\"; allowed for this model: csv"));
    }
}

}  // namespace
}  // namespace nw
