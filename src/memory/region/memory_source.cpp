// SPDX-License-Identifier: Apache-2.0
#include "memory/region/memory_source.hpp"

#include <cstring>

namespace nw {
MemorySource::MemorySource(Os& os, MemoryMode mode, std::uint32_t groups, HugePages huge_pages)
    : os_(os), huge_pages_(huge_pages) {
    if (mode == MemoryMode::libc) {
        libc_segments_.emplace(os);
        return;
    }
    region_.emplace(os, groups);
    notices_ = region_->notices();
    const Status status = os.advise_huge(reinterpret_cast<void*>(region_->base()), region_->bytes(),
                                         huge_pages == HugePages::on);
    if (status != 0 && huge_pages == HugePages::on)
        notices_.push_back(std::string("huge pages: the kernel refuses them (") +
                           std::strerror(status) + "); small pages are used");
}

void MemorySource::set_short() noexcept {
    if (short_.exchange(true, std::memory_order_relaxed) || !region_) return;
    os_.advise_huge(reinterpret_cast<void*>(region_->base()), region_->bytes(), false);
}

}  // namespace nw
