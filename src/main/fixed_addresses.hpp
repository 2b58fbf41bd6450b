// Runs that are saved or go on (--checkpoint, --restart) need their libraries where they were in the
// process before: LPs point into them. Linux deals out addresses anew for each process, unless it is
// told not to, and that it can be told only before a program is loaded. So a program whose command line
// asks for such a run begins once more, before its first line: same process, arguments, environment and
// open files, at addresses that are always the same.
//
// Before main(), because what main() reads or writes before nw::run must not happen twice.
#pragma once

#include <string>

namespace nw {

// Why libraries may be elsewhere in the next process of this program; empty if they will not be.
// Thread: any, from main() on.
std::string why_addresses_differ();

}  // namespace nw
