// SPDX-License-Identifier: Apache-2.0
// numawarp-reference: prints a page of docs/reference from the tables in the code.
//
//     numawarp-reference options > docs/reference/options.md
#include <string_view>

#include <fmt/format.h>

#include "app/options/options_reference.hpp"
#include "app/report/statistics.hpp"

int main(int argc, char** argv) {
    const std::string_view page = argc == 2 ? argv[1] : "";
    if (page == "options") {
        fmt::print("{}", nw::options_reference());
    } else if (page == "statistics") {
        fmt::print("{}", nw::statistics_reference());
    } else {
        fmt::print(stderr, "usage: numawarp-reference options|statistics\n");
        return 2;
    }
    return 0;
}
