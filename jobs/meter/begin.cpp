// Becomes the command that it is given, from which on the meter counts: what the guest did before is none
// of the command's.
//
// usage: meter_begin COMMAND...
#include <cstdio>

#include <unistd.h>

#include "base/meter_marks.hpp"

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    nw::meter_mark<nw::MeterMark::begin>();
    execvp(argv[1], argv + 1);
    std::perror(argv[1]);
    return 127;
}
