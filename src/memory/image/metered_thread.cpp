// SPDX-License-Identifier: Apache-2.0
#include "memory/image/metered_thread.hpp"

#include <link.h>

#include "memory/image/outside_pointers.hpp"
#include "util/meter_marks.hpp"

namespace nw {

void announce_program() {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void*) {
            for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
                const auto& part = info->dlpi_phdr[i];
                if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
                const std::uint64_t begin = info->dlpi_addr + part.p_vaddr;
                meter_mark<MeterMark::memory, static_cast<std::uint8_t>(MeterKind::code)>(
                    begin, part.p_memsz);
            }
            return 0;
        },
        nullptr);
}

MeteredThread::MeteredThread() noexcept {
    const AddressRange stack = own_stack();
    meter_mark<MeterMark::stack>(stack.begin, stack.end - stack.begin);
    meter_phase<MeterPhase::set_up>();
}

MeteredThread::~MeteredThread() { meter_mark<MeterMark::end>(); }

}  // namespace nw
