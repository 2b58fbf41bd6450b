// SPDX-License-Identifier: Apache-2.0
#include "memory/image/program_variables.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include <cxxabi.h>
#include <link.h>

namespace nw {
namespace {

constexpr std::string_view guard_words = "guard variable for ";

// The namespaces of the engine and of libraries that are compiled into programs.
constexpr std::array<std::string_view, 9> foreign_namespaces = {
    "nw::",       "std::", "fmt::",       "CLI::",       "toml::",
    "nlohmann::", "MPI::", "__gnu_cxx::", "__cxxabiv1::"};

// Names that compilers and the C library generate.
constexpr std::array<std::string_view, 8> foreign_beginnings = {
    "__",        "DW.ref.", "vtable for ", "VTT for ",
    "typeinfo ", "TLS ",    "completed.",  "construction vtable "};

// The source files of the interposer. Some of its variables are in functions of C, so a namespace
// does not identify them.
constexpr std::string_view interposer_files = NW_INTERPOSER_FILES;

bool is_interposers(std::string_view file) {
    const std::string quoted = ' ' + std::string(file) + ' ';
    return !file.empty() && interposer_files.find(quoted) != std::string_view::npos;
}

std::string demangled(const char* symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? text.get() : symbol;
}

// The demangled name of a static variable in a function template begins with the function's return
// type. Therefore only the last word before the first '(' or '<' is compared.
bool is_foreign(std::string_view name) {
    if (name.starts_with(guard_words)) name.remove_prefix(guard_words.size());
    for (const std::string_view beginning : foreign_beginnings)
        if (name.starts_with(beginning)) return true;
    const std::string_view scope = name.substr(0, name.find_first_of("(<"));
    const std::string_view last_word = scope.substr(scope.rfind(' ') + 1);
    return std::any_of(foreign_namespaces.begin(), foreign_namespaces.end(),
                       [&](std::string_view one) { return last_word.starts_with(one); });
}

bool is_of_the_system(std::string_view path) {
    return path.starts_with("/usr/") || path.starts_with("/lib") || path.starts_with("/opt/") ||
           path.find('/') == std::string_view::npos;  // the kernel's page for system calls
}

template <class T>
std::vector<T> read_at(std::ifstream& file, std::uint64_t offset, std::size_t count) {
    std::vector<T> items(count);
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char*>(items.data()),
              static_cast<std::streamsize>(count * sizeof(T)));
    if (!file) items.clear();
    return items;
}

struct SymbolTable {
    std::vector<ElfW(Sym)> symbols;
    std::vector<char> names;
};

SymbolTable read_symbols(const std::string& path) {
    SymbolTable table;
    std::ifstream file(path, std::ios::binary);
    const std::vector head = read_at<ElfW(Ehdr)>(file, 0, 1);
    if (head.empty()) return table;
    const std::vector sections = read_at<ElfW(Shdr)>(file, head[0].e_shoff, head[0].e_shnum);
    for (const auto& section : sections) {
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
        const auto& names = sections[section.sh_link];
        table.symbols =
            read_at<ElfW(Sym)>(file, section.sh_offset, section.sh_size / sizeof(ElfW(Sym)));
        table.names = read_at<char>(file, names.sh_offset, names.sh_size);
        // So every name ends with a zero byte, even if the file is broken.
        table.names.push_back('\0');
    }
    return table;
}

// The parts of a module's memory that a handler could write to.
struct Writable {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;  // begin, end
    std::pair<std::uint64_t, std::uint64_t> closed{0, 0};        // read-only after relocation

    explicit Writable(const dl_phdr_info& module) {
        for (unsigned i = 0; i < module.dlpi_phnum; ++i) {
            const auto& part = module.dlpi_phdr[i];
            const std::uint64_t begin = module.dlpi_addr + part.p_vaddr;
            if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0)
                parts.emplace_back(begin, begin + part.p_memsz);
            if (part.p_type == PT_GNU_RELRO) closed = {begin, begin + part.p_memsz};
        }
    }
    bool holds(std::uint64_t begin, std::uint64_t end) const {
        if (begin >= closed.first && end <= closed.second) return false;
        return std::any_of(parts.begin(), parts.end(), [&](const auto& part) {
            return begin >= part.first && end <= part.second;
        });
    }
};

}  // namespace

ProgramVariables::ProgramVariables() {
    dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void* self) {
            static_cast<ProgramVariables*>(self)->find_in_module(module);
            return 0;
        },
        this);
    std::stable_partition(variables_.begin(), variables_.end(), [](const Variable& variable) {
        return variable.name.starts_with(guard_words);
    });
}

void ProgramVariables::find_in_module(const void* module) {
    const auto& info = *static_cast<const dl_phdr_info*>(module);
    const std::string path = info.dlpi_name;
    // The name of the executable is empty here.
    if (!path.empty() && is_of_the_system(path)) return;
    const SymbolTable table = read_symbols(path.empty() ? "/proc/self/exe" : path);
    if (path.empty()) has_symbols_ = !table.symbols.empty();
    const Writable writable(info);
    std::set<const std::byte*> known;  // one variable may have several names
    std::string_view source;           // source file of the local symbols that follow
    for (const auto& symbol : table.symbols) {
        if (symbol.st_name >= table.names.size()) continue;
        const char* const name = &table.names[symbol.st_name];
        const unsigned type = ELF64_ST_TYPE(symbol.st_info);
        if (type == STT_FILE) source = name;
        if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL) source = {};
        if ((type != STT_OBJECT && type != STT_TLS) || symbol.st_size == 0 ||
            symbol.st_shndx == SHN_UNDEF || is_interposers(source))
            continue;
        // A name such as "stdout@GLIBC_2.2.5" belongs to a variable of the C library. Only the
        // storage of this variable is in the program.
        if (std::strchr(name, '@') != nullptr) continue;
        const bool is_thread_local = type == STT_TLS;
        if (is_thread_local && info.dlpi_tls_data == nullptr) continue;
        const std::uint64_t base =
            is_thread_local ? reinterpret_cast<std::uint64_t>(info.dlpi_tls_data) : info.dlpi_addr;
        const std::uint64_t begin = base + symbol.st_value;
        if (!is_thread_local && !writable.holds(begin, begin + symbol.st_size)) continue;
        std::string words = demangled(name);
        if (is_foreign(words)) continue;
        auto* const address = reinterpret_cast<std::byte*>(begin);
        if (!known.insert(address).second) continue;
        variables_.push_back({std::move(words), address, symbol.st_size, is_thread_local});
        bytes_ += symbol.st_size;
    }
}

void ProgramVariables::add(std::string name, std::byte* address, std::size_t bytes) {
    variables_.push_back({std::move(name), address, bytes, false});
    bytes_ += bytes;
}

void ProgramVariables::remember() {
    before_.resize(bytes_);
    std::byte* to = before_.data();
    for (const Variable& variable : variables_) {
        std::memcpy(to, variable.address, variable.bytes);
        to += variable.bytes;
    }
}

std::vector<ChangedVariable> ProgramVariables::take_changed() {
    std::vector<ChangedVariable> changed;
    std::set<std::string_view> initialized;
    const std::byte* was = before_.data();
    std::vector<bool> is_done(variables_.size());
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        const Variable& variable = variables_[i];
        const std::byte* const old = std::exchange(was, was + variable.bytes);
        if (std::memcmp(old, variable.address, variable.bytes) == 0) continue;
        if (variable.name.starts_with(guard_words)) {
            initialized.insert(std::string_view(variable.name).substr(guard_words.size()));
            continue;
        }
        if (initialized.contains(variable.name)) continue;
        const std::byte* const end = old + variable.bytes;
        changed.push_back(
            {variable.name, variable.bytes,
             static_cast<std::size_t>(std::mismatch(old, end, variable.address).first - old),
             variable.is_thread_local});
        is_done[i] = true;
    }
    if (changed.empty()) return changed;
    std::vector<Variable> left;
    for (std::size_t i = 0; i < variables_.size(); ++i)
        if (is_done[i])
            bytes_ -= variables_[i].bytes;
        else
            left.push_back(std::move(variables_[i]));
    variables_ = std::move(left);
    return changed;
}

}  // namespace nw
