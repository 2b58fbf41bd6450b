// SPDX-License-Identifier: Apache-2.0
// The tables of a run in the formats that the user chose: checks before the run, and conversion
// after it.
#pragma once

#include <string>
#include <vector>

#include <numawarp/model.hpp>

#include "results/formats/output_format.hpp"
#include "results/output/column_kinds.hpp"

namespace nw {

struct KeptTables {
    const std::vector<OutputTable>& tables;
    const std::string& directory;  // empty: no output
    const FormatChoice& choice;

    // All files that the run creates, including the CSV files from which other formats are made.
    std::vector<std::string> files() const;

    // Checks before the run whether the files can be created: the model's names, and the output
    // folder. Throws SetupError.
    void check() const;

    // Makes DIR/<table><ending> from each DIR/<table>.csv. A file is either complete or missing.
    // Throws MachineError.
    void make(const ColumnKinds& kinds, const TableOrigin& origin) const;

    // Removes the CSV files if the user chose only other formats. Requires: all other results are
    // on the disk, so that the run is recognizably over. A run that is killed earlier needs the CSV
    // files to continue from its checkpoint. Throws MachineError.
    void remove_unwanted_csv() const;
};

}  // namespace nw
