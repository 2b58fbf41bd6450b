// SPDX-License-Identifier: Apache-2.0
#include "app/embedding.hpp"

#include <new>

#include "app/options/option_table.hpp"
#include "memory/handler/fault_guard.hpp"
#include "memory/handler/heap_scope.hpp"
#include "numa/os/os.hpp"

namespace nw::embedding {

static_assert(embedding::page_bytes == nw::page_bytes);

bool in_handler() noexcept { return nw::in_handler(); }

LibcMemory::LibcMemory() noexcept : outer_(current_heap) { set_current_heap(nullptr); }
LibcMemory::~LibcMemory() { set_current_heap(outer_); }

std::span<std::byte> writable_payload(const Event& event) noexcept {
    const std::span<const std::byte> bytes = event.bytes();
    return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

std::byte* reserve_pages(std::size_t bytes) {
    void* pages = nullptr;
    if (linux_os().reserve(nullptr, bytes, pages) != 0) throw std::bad_alloc();
    return static_cast<std::byte*>(pages);
}

void open_pages(std::byte* base, std::size_t bytes) {
    if (linux_os().set_access(base, bytes, Access::write) != 0) throw std::bad_alloc();
}

void release_pages(std::byte* base, std::size_t bytes) noexcept {
    linux_os().unreserve(base, bytes);
}

void describe_addresses_by(bool (*describe)(const void*, char*, std::size_t) noexcept) {
    FaultGuard::describe_addresses_by(describe);
}

OptionForm form_of_option(std::string_view name) {
    static Settings settings;
    static const OptionTable table(settings);
    const OptionSpec* const option = table.find(name);
    if (option == nullptr) return OptionForm::unknown;
    return option->is_flag() ? OptionForm::flag : OptionForm::with_value;
}

}  // namespace nw::embedding
