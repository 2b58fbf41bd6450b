// SPDX-License-Identifier: Apache-2.0
#include "numa/os/libc_code.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <link.h>

namespace nw {

constinit CodeRange loader_code;

namespace {

class LibcCode {
  public:
    LibcCode() noexcept { ::dl_iterate_phdr(&add_library, this); }

    bool contains(std::uintptr_t address) const noexcept {
        return std::any_of(ranges_.begin(), ranges_.begin() + count_, [&](const Range& range) {
            return address >= range.begin && address < range.end;
        });
    }

  private:
    struct Range {
        std::uintptr_t begin;
        std::uintptr_t end;
    };

    static int add_library(dl_phdr_info* library, std::size_t, void* self) noexcept {
        std::string_view name = library->dlpi_name;
        name.remove_prefix(name.rfind('/') + 1);
        const bool is_libc = name.starts_with("libc.so") || name.starts_with("ld-linux") ||
                             name.starts_with("libpthread.so");
        auto& code = *static_cast<LibcCode*>(self);
        for (std::size_t i = 0; is_libc && i < library->dlpi_phnum; ++i) {
            const auto& segment = library->dlpi_phdr[i];
            if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
            if (code.count_ == std::ssize(code.ranges_)) break;
            const std::uintptr_t begin = library->dlpi_addr + segment.p_vaddr;
            code.ranges_[static_cast<std::size_t>(code.count_++)] = {begin,
                                                                     begin + segment.p_memsz};
            if (name.starts_with("ld-linux")) loader_code = {begin, segment.p_memsz};
        }
        return 0;
    }

    std::array<Range, 16> ranges_{};
    std::ptrdiff_t count_ = 0;
};

const LibcCode libc_code;

}  // namespace

bool is_libc_code(const void* code) noexcept {
    return libc_code.contains(reinterpret_cast<std::uintptr_t>(code));
}

}  // namespace nw
