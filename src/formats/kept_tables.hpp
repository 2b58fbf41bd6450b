// The tables of one run in the formats that the user chose, before the run and after it.
#pragma once

#include <string>
#include <vector>

#include <numawarp/model.hpp>

#include "formats/output_format.hpp"
#include "output/column_kinds.hpp"

namespace nw {

struct KeptTables {
    const std::vector<OutputTable>& tables;
    const std::string& directory;  // empty: no output
    const FormatChoice& choice;

    // All that the run makes, with CSV on the way to other formats.
    std::vector<std::string> files() const;

    // Finds out before the run whether the files can be made, by the model's names and the folder.
    // Throws SetupError.
    void check() const;

    // Makes DIR/<table><ending> of each DIR/<table>.csv, whole or not at all. Throws MachineError.
    void make(const ColumnKinds& kinds, const TableOrigin& origin) const;

    // Removes the CSV files where only others were asked for. A run that is killed before goes on from
    // its checkpoint with them, so they go when it can be seen to be over: after all else is on the
    // disk. Throws MachineError.
    void remove_unwanted_csv() const;
};

}  // namespace nw
