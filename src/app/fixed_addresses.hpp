// SPDX-License-Identifier: Apache-2.0
// A run that is saved or restarted (--checkpoint, --restart) needs its libraries at the addresses
// that they had in the earlier process, because LPs contain pointers into them. Linux chooses these
// addresses at random for each process. This random choice can be switched off only before a
// program is loaded. Therefore a program whose command line requests such a run executes itself
// again: the process, arguments, environment and open files remain, and the addresses are the same
// in every process.
//
// The program executes itself again before main() runs, because input or output of main() before
// nw::run must not happen twice.
#pragma once

#include <string>

namespace nw {

// Returns why libraries may have other addresses in the next process of this program, or an empty
// string if their addresses are fixed. Thread: any, from main() on.
std::string why_addresses_differ();

}  // namespace nw
