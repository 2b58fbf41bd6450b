#include "numa/os/kernel_pages.hpp"

#include <unistd.h>

namespace nw {

std::size_t kernel_page_bytes() noexcept {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace nw
