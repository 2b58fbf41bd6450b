// SPDX-License-Identifier: Apache-2.0
#include "memory/image/thread_results.hpp"

#include <link.h>

namespace nw {
namespace {

constinit thread_local ThreadResultBuffer* buffers = nullptr;

AddressRange range_of(const void* begin, std::size_t bytes) noexcept {
    const auto address = reinterpret_cast<std::uint64_t>(begin);
    return {address, address + bytes};
}

}  // namespace

void note_thread_result_buffer(ThreadResultBuffer& buffer) noexcept {
    buffer.next = buffers;
    buffers = &buffer;
}

std::vector<AddressRange> thread_result_ranges() {
    std::vector<AddressRange> ranges;
    dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void* data) {
            for (unsigned i = 0; i < module->dlpi_phnum; ++i)
                if (module->dlpi_phdr[i].p_type == PT_TLS && module->dlpi_tls_data != nullptr)
                    static_cast<std::vector<AddressRange>*>(data)->push_back(
                        range_of(module->dlpi_tls_data, module->dlpi_phdr[i].p_memsz));
            return 0;
        },
        &ranges);
    for (const ThreadResultBuffer* buffer = buffers; buffer != nullptr; buffer = buffer->next)
        if (buffer->bytes > 0) ranges.push_back(range_of(buffer->data, buffer->bytes));
    return ranges;
}

}  // namespace nw
