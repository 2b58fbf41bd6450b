// One output table as an HDF5 file, by columns: a group of the table's name, in it a dataset a column,
// all of one length. Readers load single columns, with their types, without a line of parsing.
//
//     roads.h5
//       /roads                 attributes: columns (their order), model, seed, digest, commit, version
//         /roads/hour          int64     integers; uint64 where one is beyond 2^63
//         /roads/density       float64   real numbers, integers among them, NaN where a cell is empty
//         /roads/motorway      UTF-8     texts of any length, and whatever else stands among them
//
// It is made of the CSV file when the run is over, and not while it goes on: HDF5 has no way to keep a
// file readable at every moment at which its writer may be killed, and a CSV file is just that. So the
// memory is some MiB whatever the table has, and the types are known before the first value.
#pragma once

#include <string>

#include "formats/output_format.hpp"

namespace nw {

// OutputFormat::refusal: why HDF5 cannot have the names of the table.
std::string hdf5_refusal(const OutputTable& table);

// As OutputFormat::write.
void write_hdf5_table(const std::string& path, const WholeTable& table);

}  // namespace nw
