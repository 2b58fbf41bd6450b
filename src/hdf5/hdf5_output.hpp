// --output-format: the tables of a run that has ended, in HDF5 beside or instead of CSV.
#pragma once

#include <string>

#include <numawarp/model.hpp>

#include "hdf5/hdf5_table.hpp"
#include "options/option_table.hpp"
#include "output/column_kinds.hpp"

namespace nw {

// Of the model's names and the folder, whether the files can be made: found out before the run. Throws
// SetupError.
void check_hdf5_output(const Setup& setup, const Settings& settings);

// Makes DIR/<table>.h5 of each DIR/<table>.csv, whole or not at all. Throws MachineError.
void write_hdf5_output(const Setup& setup, const Settings& settings, const ColumnKinds& kinds,
                       const TableOrigin& origin);

// Removes the CSV files where only HDF5 was asked for. A run that is killed before goes on from its
// checkpoint with them, so they go when it can be seen to be over: after all else is on the disk. Throws
// MachineError.
void remove_unwanted_csv(const Setup& setup, const Settings& settings);

}  // namespace nw
