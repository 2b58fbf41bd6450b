// SPDX-License-Identifier: Apache-2.0
// Tests the path of rows to the tables. The rows are in the order of events, and a run that
// continues in another process writes the same files as a run in one process.
#include "results/output/output_writer.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "results/output/csv.hpp"
#include "results/output/csv_tables.hpp"
#include "results/output/output_merge.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

using test::TemporaryFolder;

const std::vector<OutputTable> tables{{"cars", {"time", "name", "count"}}, {"ends", {"why, if"}}};

OutputRow row(std::uint32_t table, VirtualTime time, const std::vector<OutputValue>& values) {
    OutputRow made{EventKey{time, 0, 1, 0}, table, {}};
    made.values.resize(encoded_row_bytes(tables, table, values));
    encode_row(values, made.values.data());
    return made;
}

// Returns the rows of an invented run, in order: one row per unit of time, and every five units
// also a row of the second table.
std::vector<OutputRow> rows_between(int from, int to) {
    std::vector<OutputRow> rows;
    for (int t = from; t < to; ++t) {
        const std::string name = t % 3 == 0 ? "a \"car\", red" : "car " + std::to_string(t);
        rows.push_back(row(0, t, {t + 0.25, std::string_view(name), t}));
        if (t % 5 == 0) rows.push_back(row(1, t, {"x\ny"}));
    }
    return rows;
}

// Tables, and the writer that orders the rows of two workers.
struct Output {
    template <class... From>
    explicit Output(const TemporaryFolder& folder, const From&... from)
        : csv(tables, folder.path(), from...) {}
    void finish() {
        writer.finish();
        csv.finish();
    }
    OutputPosition sync() {
        writer.finish();
        return csv.sync();
    }
    CsvTables csv;
    OutputWriter writer{&csv, 2};
};

void hand_over_all(OutputWriter& writer, int from, int to) {
    // The rows are not in order, as if they came from several workers.
    std::vector<OutputRow> late = rows_between((from + to) / 2, to);
    std::vector<OutputRow> early = rows_between(from, (from + to) / 2);
    writer.hand_over(1, late, to);
    writer.hand_over(0, early, to);
}

std::filesystem::path path_in(const TemporaryFolder& folder, const std::string& file) {
    return std::filesystem::path(folder.path()) / file;
}

// Returns the files that one process writes for the times [0, to).
std::vector<std::string> whole_run(int to) {
    const TemporaryFolder folder;
    Output output(folder);
    hand_over_all(output.writer, 0, to);
    output.finish();
    return {folder.read("cars.csv"), folder.read("ends.csv")};
}

std::string refusal(const TemporaryFolder& folder, const OutputPosition& from) {
    try {
        const CsvTables gone_on(tables, folder.path(), from);
    } catch (const SetupError& error) {
        return error.what();
    }
    return "";
}

TEST_CASE("OutputWriter: rows are in the order of events and have quotes where CSV requires them") {
    const TemporaryFolder folder;
    Output output(folder);
    hand_over_all(output.writer, 0, 4);
    output.finish();
    CHECK(folder.read("cars.csv") ==
          "time,name,count\n0.25,\"a \"\"car\"\", red\",0\n1.25,car 1,1\n2.25,car 2,2\n"
          "3.25,\"a \"\"car\"\", red\",3\n");
    CHECK(folder.read("ends.csv") == "\"why, if\"\n\"x\ny\"\n");
}

// Returns the line of CSV for the values, and the kinds of values that were found in each column.
std::pair<std::string, std::vector<std::uint8_t>> line_of(const std::vector<OutputValue>& values) {
    const std::vector<OutputTable> wide{{"wide", std::vector<std::string>(values.size(), "c")}};
    std::vector<std::byte> bytes(encoded_row_bytes(wide, 0, values));
    encode_row(values, bytes.data());
    std::string text;
    std::vector<std::uint8_t> kinds(values.size());
    append_csv(text, bytes, kinds);
    return {text, kinds};
}

TEST_CASE("output rows: signed and unsigned integers are written exactly") {
    const auto least = std::numeric_limits<std::int64_t>::min();
    const auto most = std::numeric_limits<std::int64_t>::max();
    const auto [text, kinds] =
        line_of({least, -1, 0, most, 0u, std::uint64_t{1} << 63, ~std::uint64_t{0}, true, false,
                 std::uint8_t{200}, std::int8_t{-5}, 3.5f});
    CHECK(text ==
          "-9223372036854775808,-1,0,9223372036854775807,0,9223372036854775808,"
          "18446744073709551615,1,0,200,-5,3.5\n");
    CHECK(kinds == std::vector<std::uint8_t>{saw_negative, saw_negative, saw_integer, saw_integer,
                                             saw_integer, saw_large, saw_large, saw_integer,
                                             saw_integer, saw_integer, saw_negative, saw_real});
}

TEST_CASE("output rows: a char is text and invalid UTF-8 is replaced") {
    const std::string zero("a\0b", 3);
    const auto [text, kinds] = line_of(
        {'x', '"', '\xe9', "caf\xe9, \"\xff\"", "Stra\u00dfe", std::string_view(zero), "", '\0'});
    CHECK(text == "x,\"\"\"\",\ufffd,\"caf\ufffd, \"\"\ufffd\"\"\",Stra\u00dfe,a\ufffdb,,\ufffd\n");
    CHECK(kinds == std::vector<std::uint8_t>{saw_text, saw_text, saw_text, saw_text, saw_text,
                                             saw_text, saw_blank, saw_text});
}

TEST_CASE("CsvRows: reads the rows that the engine has written") {
    const std::vector<std::vector<std::string>> rows{
        {"1", "", "a,b"}, {"", "", ""}, {"\"", "line\nline\r", "\"\""}, {"x", "y z", ","}};
    std::string text;
    for (const auto& row : rows) append_csv_header(text, row);
    const TemporaryFolder folder;
    std::ofstream(path_in(folder, "t.csv"), std::ios::binary) << text;
    CsvRows reader(path_in(folder, "t.csv"));
    std::vector<std::string> cells(3);
    for (const auto& row : rows) {
        REQUIRE(reader.next(cells));
        CHECK(cells == row);
    }
    CHECK(!reader.next(cells));
}

TEST_CASE("CsvRows: a line with a wrong number of cells or without an end is an error") {
    for (const char* text : {"1\n", "1,2,3\n", "1,2", "1,\"2\n", "1,\"2\"x\n"}) {
        INFO(text);
        const TemporaryFolder folder;
        std::ofstream(path_in(folder, "t.csv"), std::ios::binary) << text;
        std::vector<std::string> cells(2);
        CHECK_THROWS_AS(CsvRows(path_in(folder, "t.csv")).next(cells), MachineError);
    }
    CHECK_THROWS_AS(CsvRows("/nowhere/t.csv"), MachineError);
}

TEST_CASE(
    "column_type: a column has the narrowest type for all its values, or text if there is none") {
    CHECK(column_type(saw_integer) == ColumnType::integer);
    CHECK(column_type(saw_integer | saw_negative) == ColumnType::integer);
    CHECK(column_type(saw_negative) == ColumnType::integer);
    CHECK(column_type(saw_large) == ColumnType::natural);
    CHECK(column_type(saw_integer | saw_large) == ColumnType::natural);
    CHECK(column_type(saw_negative | saw_large) == ColumnType::text);
    CHECK(column_type(saw_real | saw_large) == ColumnType::real);
    CHECK(column_type(saw_blank | saw_negative) == ColumnType::real);
    CHECK(column_type(saw_large | saw_text) == ColumnType::text);
    CHECK(column_type(saw_blank) == ColumnType::text);
    CHECK(column_type(0) == ColumnType::text);
}

TEST_CASE("output rows: a text that is too long is refused before it is read") {
    const OutputValue good[] = {std::string_view(), 1, 2};
    CHECK_NOTHROW(encoded_row_bytes(tables, 0, good));
    const OutputValue wild[] = {std::string_view("x", output_text_bytes_max + 1), 1, 2};
    CHECK_THROWS_AS(encoded_row_bytes(tables, 0, wild), ModelError);
    const std::string long_text(output_text_bytes_max, 'x');
    const OutputValue longest[] = {std::string_view(long_text), 1, 2};
    CHECK(encoded_row_bytes(tables, 0, longest) == output_text_bytes_max + 27);
}

TEST_CASE("output rows: a model cannot write to the engine's own tables") {
    std::vector<OutputTable> all = tables;
    all.push_back({"measures", {"measure", "mean"}, true});
    const OutputValue row[] = {std::string_view("waiting"), 1.5};
    CHECK_THROWS_WITH(
        encoded_row_bytes(all, all.size() - 1, row),
        fmt::format("output() to table {}; the number of tables that the model declares is {}",
                    tables.size(), tables.size()));
    CHECK(encoded_row_bytes(all.back(), row) > 0);
}

TEST_CASE("OutputWriter: writes exactly the rows below the bounds of all workers") {
    const TemporaryFolder folder;
    Output output(folder);
    std::vector<OutputRow> rows = rows_between(0, 6'000);
    output.writer.promise(1, 5'000);
    output.writer.hand_over(0, rows, 6'000);
    CHECK(rows.empty());
    const OutputPosition position = output.csv.sync();
    CHECK(folder.read("cars.csv") == whole_run(5'000)[0]);
    CHECK(position.table_bytes[0] == std::filesystem::file_size(path_in(folder, "cars.csv")));
    CHECK(position.column_kinds == ColumnKinds{{saw_real, saw_text, saw_integer}, {saw_text}});
    output.finish();
    CHECK(folder.read("cars.csv") == whole_run(6'000)[0]);
}

TEST_CASE("OutputWriter: without a sink all rows are dropped") {
    OutputWriter writer(nullptr, 2);
    CHECK(!writer.wanted());
    std::vector<OutputRow> rows = rows_between(0, 10);
    writer.hand_over(0, rows, 10);
    CHECK(rows.empty());
    writer.write(row(1, 1, {"x"}));
    writer.finish();
}

TEST_CASE(
    "CsvTables: a run that is killed and continued writes the same files as an uninterrupted run") {
    const std::vector<std::string> whole = whole_run(10'000);
    // The run is killed at once, after some buffered rows, or after many written rows.
    for (const int killed_at : {6'000, 6'003, 9'999}) {
        const TemporaryFolder folder;
        OutputPosition position;
        {
            Output output(folder);
            hand_over_all(output.writer, 0, 6'000);
            position = output.sync();
            hand_over_all(output.writer, 6'000, killed_at);
            output.finish();
        }
        Output output(folder, position);
        CHECK(std::filesystem::file_size(path_in(folder, "cars.csv")) >= position.table_bytes[0]);
        output.csv.begin();
        CHECK(std::filesystem::file_size(path_in(folder, "cars.csv")) == position.table_bytes[0]);
        hand_over_all(output.writer, 6'000, 10'000);
        output.finish();
        CHECK(folder.read("cars.csv") == whole[0]);
        CHECK(folder.read("ends.csv") == whole[1]);
        CHECK(output.csv.column_kinds() == position.column_kinds);
    }
}

TEST_CASE("CsvTables: the same process can continue writing after sync()") {
    const TemporaryFolder folder;
    Output output(folder);
    for (int t = 0; t < 10'000; t += 1'000) {
        hand_over_all(output.writer, t, t + 1'000);
        output.sync();
    }
    output.finish();
    CHECK(folder.read("cars.csv") == whole_run(10'000)[0]);
}

TEST_CASE("CsvTables: a restart refuses files that do not belong to the saved run") {
    const TemporaryFolder folder;
    OutputPosition position;
    {
        Output output(folder);
        hand_over_all(output.writer, 0, 100);
        position = output.sync();
        hand_over_all(output.writer, 100, 200);
        output.finish();
    }
    const std::string cars = folder.read("cars.csv");

    SECTION("a file is missing") {
        std::filesystem::remove(path_in(folder, "ends.csv"));
        CHECK(refusal(folder, position).find("ends.csv: No such file") != std::string::npos);
    }
    SECTION("a file is shorter") {
        std::filesystem::resize_file(path_in(folder, "ends.csv"), position.table_bytes[1] - 1);
        CHECK(refusal(folder, position).find("ends.csv has ") != std::string::npos);
    }
    SECTION("a file belongs to another run") {
        std::ofstream(path_in(folder, "ends.csv")) << std::string(2 * position.table_bytes[1], 'x');
        CHECK(refusal(folder, position).find("ends.csv is not the file") != std::string::npos);
    }
    CHECK(folder.read("cars.csv") == cars);
}

TEST_CASE("CsvTables: a full disk is a MachineError") {
    const TemporaryFolder folder;
    std::filesystem::create_symlink("/dev/full", path_in(folder, "cars.csv"));
    CHECK_THROWS_AS(CsvTables(tables, folder.path()), MachineError);
}

TEST_CASE("RowSpool: a merge empties the spool for later rows, and no file is left at the end") {
    const TemporaryFolder folder;
    SingleProcess alone;
    {
        RowSpool spool(folder.path(), 0);
        OutputWriter writer(&spool, 2);
        CsvTables merged(tables, folder.path());
        OutputPosition position;
        for (int t = 0; t < 9'000; t += 3'000) {
            hand_over_all(writer, t, t + 3'000);
            writer.finish();
            merge_output(alone, spool, &merged);
            position = merged.sync();
            CHECK(position.table_bytes[0] ==
                  std::filesystem::file_size(path_in(folder, "cars.csv")));
        }
        // The file has a name, because some file systems cannot truncate or extend a file without a
        // name.
        CHECK(std::filesystem::exists(path_in(folder, ".rows-of-rank-0")));
    }
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
    CHECK(folder.read("cars.csv") == whole_run(9'000)[0]);
    CHECK(folder.read("ends.csv") == whole_run(9'000)[1]);
}

TEST_CASE("RowSpool: files of a killed run are removed") {
    const TemporaryFolder folder;
    const auto left_by = [&](int rank) {
        return path_in(folder, fmt::format(".rows-of-rank-{}", rank));
    };
    for (const int rank : {0, 1, 2, 5}) std::ofstream(left_by(rank)) << "half a row";
    {
        RowSpool spool(folder.path(), 1);
        spool.finish();
        CHECK(spool.read_some(100).empty());
        RowSpool::remove_left_over(folder.path(), 2);
        CHECK(std::filesystem::exists(left_by(1)));
    }
    CHECK(std::filesystem::exists(left_by(0)));
    for (const int rank : {1, 2, 5}) CHECK_FALSE(std::filesystem::exists(left_by(rank)));
}

TEST_CASE("RowSpool: returns rows that are larger than one read") {
    const TemporaryFolder folder;
    RowSpool spool(folder.path(), 3);
    const std::string large(1000, 'x');
    for (int i = 0; i < 3; ++i) spool.write(row(1, i, {std::string_view(large)}));
    spool.finish();
    for (int i = 0; i < 3; ++i) {
        RowReader reader(spool.read_some(100));
        REQUIRE(!reader.empty());
        CHECK(reader.next().key.time == i);
        CHECK(reader.empty());
    }
    CHECK(spool.read_some(100).empty());
}

TEST_CASE("column_type: mixed kinds of values give a type that can store all of them") {
    CHECK(column_type(saw_integer) == ColumnType::integer);
    CHECK(column_type(saw_integer | saw_real) == ColumnType::real);
    CHECK(column_type(saw_integer | saw_blank) == ColumnType::real);
    CHECK(column_type(saw_real | saw_blank) == ColumnType::real);
    CHECK(column_type(saw_integer | saw_text) == ColumnType::text);
    CHECK(column_type(saw_blank) == ColumnType::text);
    CHECK(column_type(0) == ColumnType::text);
}

}  // namespace
}  // namespace nw
