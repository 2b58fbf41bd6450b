// SPDX-License-Identifier: Apache-2.0
#include "numa/os/modules.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <link.h>

#include "util/checksum.hpp"

namespace nw {
namespace {

std::string hex(const unsigned char* bytes, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
    return text;
}

// The build-id among the notes of a segment; empty if there is none.
std::string build_id_in(const unsigned char* notes, std::size_t bytes, std::size_t alignment) {
    const auto padded = [&](std::size_t size) { return (size + alignment - 1) & ~(alignment - 1); };
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) header;
        std::memcpy(&header, notes, sizeof header);
        const std::size_t name_end = sizeof header + header.n_namesz;
        const std::size_t text = padded(name_end);
        const std::size_t end = padded(text + header.n_descsz);
        if (text + header.n_descsz > bytes) return {};
        constexpr std::string_view gnu("GNU", 4);  // including the terminating zero
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == gnu.size() &&
            std::memcmp(notes + sizeof header, gnu.data(), gnu.size()) == 0)
            return hex(notes + text, header.n_descsz);
        if (end >= bytes) return {};
        notes += end;
        bytes -= end;
    }
    return {};
}

std::string file_hash(const char* path) {
    std::ifstream file(path, std::ios::binary);
    Checksum checksum;
    std::vector<char> piece(std::size_t{1} << 16);
    while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0)
        checksum.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    return checksum.value().hex();
}

LoadedModule describe(const dl_phdr_info& info, std::string_view path) {
    LoadedModule module;
    module.name = path.substr(path.rfind('/') + 1);
    module.begin = UINT64_MAX;
    for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
        const auto& part = info.dlpi_phdr[i];
        const std::uint64_t begin = info.dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD) {
            module.begin = std::min(module.begin, begin);
            module.end = std::max(module.end, begin + part.p_memsz);
        } else if (part.p_type == PT_NOTE && module.identity.empty()) {
            module.identity = build_id_in(reinterpret_cast<const unsigned char*>(begin),
                                          part.p_memsz, part.p_align == 8 ? 8 : 4);
        }
    }
    if (module.identity.empty()) module.identity = file_hash(info.dlpi_name);
    return module;
}

// Whether the module has a reference to `symbol` that the loader had to resolve.
bool refers_to(const dl_phdr_info& module, std::string_view symbol) {
    const ElfW(Dyn)* entry = nullptr;
    for (unsigned i = 0; i < module.dlpi_phnum; ++i)
        if (module.dlpi_phdr[i].p_type == PT_DYNAMIC)
            entry =
                reinterpret_cast<const ElfW(Dyn)*>(module.dlpi_addr + module.dlpi_phdr[i].p_vaddr);
    const ElfW(Sym)* symbols = nullptr;
    const char* names = nullptr;
    const ElfW(Rela)* relocations = nullptr;
    std::size_t bytes = 0;
    for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
        // The loader has added the module's load address to d_ptr, except in the kernel's own
        // module.
        const auto address = entry->d_un.d_ptr;
        if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(address);
        if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(address);
        if (entry->d_tag == DT_RELA) relocations = reinterpret_cast<const ElfW(Rela)*>(address);
        if (entry->d_tag == DT_RELASZ) bytes = entry->d_un.d_val;
    }
    if (symbols == nullptr || names == nullptr || relocations == nullptr) return false;
    return std::any_of(relocations, relocations + bytes / sizeof *relocations,
                       [&](const ElfW(Rela) & relocation) {
                           return symbol == names + symbols[ELF64_R_SYM(relocation.r_info)].st_name;
                       });
}

}  // namespace

bool is_variable_used(const char* name) {
    return dl_iterate_phdr(
               [](dl_phdr_info* info, std::size_t, void* data) -> int {
                   const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
                   const auto is = [&](const char* file) { return path.find(file) != path.npos; };
                   return !is("/libm.so") && !is("/libquadmath.so") &&
                          refers_to(*info, static_cast<const char*>(data));
               },
               const_cast<char*>(name)) != 0;
}

std::vector<LoadedModule> loaded_modules() {
    std::vector<LoadedModule> modules;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
            if (path.find('/') != std::string_view::npos)
                static_cast<std::vector<LoadedModule>*>(data)->push_back(describe(*info, path));
            return 0;
        },
        &modules);
    return modules;
}

}  // namespace nw
