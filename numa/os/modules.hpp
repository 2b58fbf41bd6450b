// SPDX-License-Identifier: Apache-2.0
// The shared libraries that this process has loaded, and their addresses. A saved run that
// continues in another process compares them before it uses pointers into libraries (virtual
// functions of a stream, facets of a locale, the default memory resource).
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

// In the order in which they were loaded. Without the executable, and without modules that have no
// file (the kernel's page for system calls).
std::vector<LoadedModule> loaded_modules();

// Whether the program or a library refers to a variable of libm by that name. Libraries that write
// the variable for other code do not count: libm, and libquadmath, which all Fortran programs load.
bool is_variable_used(const char* name);

}  // namespace nw
