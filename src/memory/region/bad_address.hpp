// SPDX-License-Identifier: Apache-2.0
// The description of a bad address, for the message about a handler whose access to this address
// caused SIGSEGV or SIGBUS. The text does not depend on the engine or on the grouping of LPs.
#pragma once

#include <cstddef>

namespace nw {

// If the address is in the region or in the shared arena, writes the text that follows "SIGSEGV: "
// to `line`, as one line without a line break, and returns true. Returns false otherwise.
// Async-signal-safe.
bool describe_bad_address(const void* address, char* line, std::size_t bytes) noexcept;

}  // namespace nw
