// SPDX-License-Identifier: Apache-2.0
// Starts the counts of the meter, or the modeled time of the modeled guest, then replaces itself
// with the given command. So the counts do not contain earlier activities of the guest.
//
// usage: meter_begin COMMAND...
#include <cstdio>

#include <unistd.h>

#include "util/meter_marks.hpp"

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    nw::meter_mark<nw::MeterMark::begin>();
    execvp(argv[1], argv + 1);
    std::perror(argv[1]);
    return 127;
}
