// SPDX-License-Identifier: Apache-2.0
// An output table as an HDF5 file, by columns. A group has the name of the table and contains one
// dataset for each column, all of the same length. Readers load single columns, with their types,
// without parsing.
//
//     roads.h5
//       /roads             attributes: columns (their order), model, seed, digest, commit, version
//         /roads/hour      int64     integers; uint64 if one is at least 2^63
//         /roads/density   float64   real numbers, also mixed with integers; NaN for an empty cell
//         /roads/motorway  UTF-8     texts of any length, also mixed with other values
//
// The file is made from the CSV file after the run, not during the run: a CSV file is readable at
// whatever moment its writer is killed, but an HDF5 file is not. In addition, the conversion takes
// only some MiB of memory for a table of any size, and the types are known before the first value
// is written.
#pragma once

#include <string>

#include "results/formats/output_format.hpp"

namespace nw {

// OutputFormat::refusal: the reason why HDF5 cannot store the names of the table.
std::string hdf5_refusal(const OutputTable& table);

// OutputFormat::write.
void write_hdf5_table(const std::string& path, const WholeTable& table);

}  // namespace nw
