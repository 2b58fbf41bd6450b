// SPDX-License-Identifier: Apache-2.0
#include "results/formats/output_format.hpp"

#include "results/formats/hdf5_table.hpp"
#include "results/output/csv_tables.hpp"

namespace nw {

namespace {

std::string any_names(const OutputTable&) { return {}; }

constexpr OutputFormat csv{csv_ending, any_names, nullptr};
constexpr OutputFormat hdf5{".h5", hdf5_refusal, write_hdf5_table};

}  // namespace

std::span<const FormatChoice> format_choices() {
    static const FormatChoice choices[] = {
        {"csv", {&csv}}, {"hdf5", {&hdf5}}, {"both", {&csv, &hdf5}}};
    return choices;
}

}  // namespace nw
