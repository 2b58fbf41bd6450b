// SPDX-License-Identifier: Apache-2.0
// placement: computes decisions about the nodes of pages and threads, without a run.
//
//     placement decide FILE.json    answers the cases of a file (decide.hpp)
//     placement measure [FILE]      measures this machine (measure.hpp): ./jobs/run machine
#include <cstring>
#include <new>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "jobs/research/placement/decide.hpp"
#include "jobs/research/placement/measure.hpp"
#include "util/check.hpp"
#include "util/exit_codes.hpp"

int main(int argc, char** argv) {
    using namespace nw;
    const auto is_command = [&](const char* name, int arguments_min, int arguments_max) {
        return argc >= 2 && std::strcmp(argv[1], name) == 0 && argc - 2 >= arguments_min &&
               argc - 2 <= arguments_max;
    };
    try {
        if (is_command("decide", 1, 1)) {
            fmt::print("{}", decide_cases(argv[2]));
            return exit_done;
        }
        if (is_command("measure", 0, 1)) {
            fmt::print("{}", measure_and_keep(argc > 2 ? argv[2] : ""));
            return exit_done;
        }
        fmt::print(stderr,
                   "usage: placement decide FILE.json\n"
                   "       placement measure [FILE]\n");
    } catch (const SetupError& error) {
        fmt::print(stderr, "placement: {}\n", error.what());
    } catch (const MachineError& error) {
        fmt::print(stderr, "placement: {}\n", error.what());
        return exit_machine_error;
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "placement: out of memory\n");
        return exit_machine_error;
    }
    return exit_wrong_setup;
}
