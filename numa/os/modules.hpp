// SPDX-License-Identifier: Apache-2.0
// The shared libraries that this process has loaded, and their addresses. A process that continues
// a saved run compares its libraries with the libraries of the saving process before it uses
// pointers into libraries (virtual functions of a stream, facets of a locale, the default memory
// resource).
//
// Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nw {

struct LoadedModule {
    std::string name;      // name of its file, without folders
    std::string identity;  // its build-id; without a build-id, a hash of its file
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // behind its last segment
};

// Returns the modules in the order in which they were loaded. The result contains neither the
// executable nor modules without a file (the kernel's page for system calls).
std::vector<LoadedModule> loaded_modules();

// Whether the program or a library refers to the variable `name` of libm. References from libm and
// from libquadmath (which all Fortran programs load) are ignored, because these libraries write the
// variable for other code.
bool is_variable_used(const char* name);

}  // namespace nw
