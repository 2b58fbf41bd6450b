// What a bad address is, in words that are the same whichever engine runs a model and however its LPs
// are grouped: for the line about a handler that got SIGSEGV or SIGBUS there.
#pragma once

#include <cstddef>

namespace nw {

// Writes one line without an end into `line`, as what follows "SIGSEGV: ", if the address lies in
// memory of ours; false otherwise. Safe in a signal handler.
bool describe_bad_address(const void* address, char* line, std::size_t bytes) noexcept;

}  // namespace nw
