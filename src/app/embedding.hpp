// SPDX-License-Identifier: Apache-2.0
// The functions of the engine that a layer for models of another simulator (src/compat) uses
// besides the public headers. This header is not installed for users.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <numawarp/event.hpp>

namespace nw {
class LpHeap;
}

namespace nw::embedding {

// True if this thread runs a handler, or another function of the model that may fail.
bool in_handler() noexcept;

// While an object exists, malloc() on this thread takes memory of libc, also in a handler. Objects
// must be destroyed in the reverse order of their construction.
class LibcMemory {
  public:
    LibcMemory() noexcept;
    ~LibcMemory();
    LibcMemory(const LibcMemory&) = delete;
    LibcMemory& operator=(const LibcMemory&) = delete;

  private:
    LpHeap* outer_;
};

// The payload of an event. Only the on_event() that executes the event may change it. on_reverse()
// and on_commit() of the same execution receive the changed bytes, and the digest contains them. So
// an equal state and an equal event must give equal bytes. If the event is executed again after a
// rollback, the handler receives the bytes as the last execution left them. Therefore the handler
// must write every byte that it changes before it reads the byte.
std::span<std::byte> writable_payload(const Event& event) noexcept;

inline constexpr std::size_t page_bytes = 4096;

// Returns a range of addresses without access: if a handler accesses it, the handler crashes.
// Throws std::bad_alloc.
std::byte* reserve_pages(std::size_t bytes);
// Makes whole pages of a reserved range readable and writable. Throws std::bad_alloc.
void open_pages(std::byte* base, std::size_t bytes);
// Requires: reserve_pages() returned `base` for the same number of bytes.
void release_pages(std::byte* base, std::size_t bytes) noexcept;

// Registers a function that is called after a crash at `address`. The function writes the message
// for the user into `line` and returns true. If it returns false, the user gets the general message
// about a crash. At most two functions can be registered. Thread: any, before the first handler.
void describe_addresses_by(bool (*describe)(const void* address, char* line,
                                            std::size_t bytes) noexcept);

// Whether the command line of numawarp has an option `name` (without the dashes).
enum class OptionForm { unknown, flag, with_value };
OptionForm form_of_option(std::string_view name);

}  // namespace nw::embedding
