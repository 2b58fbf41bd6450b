// Which memory of a program's set-up is what all LPs share (shared_arena.hpp), and which is libc's.
#include <link.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "numa/interpose/allocate.hpp"
#include "numa/interpose/decide.hpp"

namespace nw::interpose {
namespace {

// The code of libc and of the loader: what they allocate for themselves, they write to later.
class LibcCode {
  public:
    LibcCode() noexcept { ::dl_iterate_phdr(&add_library, this); }

    bool contains(const void* code) const noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(code);
        for (std::size_t i = 0; i < count_; ++i)
            if (address >= ranges_[i].begin && address < ranges_[i].end) return true;
        return false;
    }

  private:
    struct Range {
        std::uintptr_t begin;
        std::uintptr_t end;
    };

    static int add_library(dl_phdr_info* library, std::size_t, void* self) noexcept {
        std::string_view name = library->dlpi_name;
        name.remove_prefix(name.rfind('/') + 1);
        if (!name.starts_with("libc.so") && !name.starts_with("ld-linux")) return 0;
        auto& code = *static_cast<LibcCode*>(self);
        for (std::size_t i = 0; i < library->dlpi_phnum; ++i) {
            const auto& segment = library->dlpi_phdr[i];
            if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
            if (code.count_ == code.ranges_.size()) break;
            const std::uintptr_t begin = library->dlpi_addr + segment.p_vaddr;
            code.ranges_[code.count_++] = {begin, begin + segment.p_memsz};
        }
        return 0;
    }

    std::array<Range, 8> ranges_{};
    std::size_t count_ = 0;
};

// Asked while setup() runs, long after the program's start.
const LibcCode libc_code;

}  // namespace

bool is_for_setup(const void* caller) noexcept {
    return SharedArena::fills() && !initialises_static() && !libc_code.contains(caller);
}

}  // namespace nw::interpose
