// Which shared libraries this process has loaded, and where: what a run that goes on in another process
// compares before it trusts pointers into them (a stream's virtual functions, a locale's facets, the
// default memory resource).
//
// Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nw {

struct LoadedModule {
    std::string name;      // of its file, without folders
    std::string identity;  // its build-id; of one that has none, a hash of its file
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // behind the last of its segments
};

// In the order in which they were loaded; without the executable, and without what has no file (the
// kernel's page for system calls).
std::vector<LoadedModule> loaded_modules();

// Whether the program or a library refers to a variable of libm by that name. Libraries that write the
// variable for others do not count: libm, and libquadmath, which all Fortran programs load.
bool is_variable_used(const char* name);

}  // namespace nw
