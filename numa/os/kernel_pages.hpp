// The size of this kernel's pages. All else here takes it to be page_bytes (numa/os/os.hpp); a kernel that has
// other ones must be refused.
#pragma once

#include <cstddef>

namespace nw {

std::size_t kernel_page_bytes() noexcept;

}  // namespace nw
