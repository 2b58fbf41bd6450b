// SPDX-License-Identifier: Apache-2.0
// The variables of a model outside of LPs, in the program and in the model's libraries: globals,
// statics of classes and functions, thread_local variables. A rollback does not restore them, so a
// handler must not change them. This class finds the variables that a handler has changed.
//
// The variables are found in the symbol tables of the files. Variables that do not belong to the
// model are excluded: variables of the engine and of its libraries by name, variables of the
// interposer by source file, and system libraries as a whole. If a program has no symbol table
// (`strip`), none of its variables are found, and has_symbols() is false.
//
// Thread: one. Only the thread_local variables of this thread are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nw {

struct ChangedVariable {
    std::string name;
    std::size_t bytes = 0;
    std::size_t offset = 0;  // of the first byte that changed
    bool is_thread_local = false;
};

class ProgramVariables {
  public:
    ProgramVariables();

    // Adds some bytes as a variable with this name.
    void add(std::string name, std::byte* address, std::size_t bytes);
    bool has_symbols() const noexcept { return has_symbols_; }
    std::size_t bytes() const noexcept { return bytes_; }

    void remember();
    // Returns the variables that have changed since remember(). A function-local static is not
    // returned if its guard variable shows that it was initialized since then. Each variable is
    // returned once, and is not compared later. Requires: remember() was called before, and again
    // after each call that returned a variable.
    // Cost: compares bytes() bytes.
    std::vector<ChangedVariable> take_changed();

  private:
    struct Variable {
        std::string name;
        std::byte* address;
        std::size_t bytes;
        bool is_thread_local;
    };
    void find_in_module(const void* module);  // a dl_phdr_info

    std::vector<Variable> variables_;  // guard variables first
    std::vector<std::byte> before_;
    std::size_t bytes_ = 0;
    bool has_symbols_ = false;
};

}  // namespace nw
