// The variables that a model keeps in the program and in libraries of its own, outside of LPs: globals, statics
// of classes and functions, thread_local ones. A rollback does not reach them, so a handler that changes one
// breaks a rule; here it is named.
//
// They are found in the symbol tables of the files. What is not the model's is left out: the engine's and what
// it is made of by name and, for the interposer's, by source file; libraries of the system whole. A program
// without a symbol table (`strip`) shows nothing, and says so.
//
// Thread: one, whose thread_local variables are looked at.
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

    // Some bytes more, by that name.
    void add(std::string name, std::byte* address, std::size_t bytes);
    bool has_symbols() const noexcept { return has_symbols_; }
    std::size_t bytes() const noexcept { return bytes_; }

    void remember();
    // Since remember(). What is initialised at its first use, and whose guard says that this was just now, has
    // not changed. A variable is named once, and not looked at again. Cost: a look at bytes().
    std::vector<ChangedVariable> take_changed();

  private:
    struct Variable {
        std::string name;
        std::byte* address;
        std::size_t bytes;
        bool is_thread_local;
    };
    void find_in_module(const void* module);  // a dl_phdr_info

    std::vector<Variable> variables_;  // those that guard others first
    std::vector<std::byte> before_;
    std::size_t bytes_ = 0;
    bool has_symbols_ = false;
};

}  // namespace nw
