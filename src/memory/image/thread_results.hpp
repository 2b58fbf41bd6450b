// SPDX-License-Identifier: Apache-2.0
// The places of the results of gmtime(), getpwnam(), strerror() and other functions of libc. Each
// thread has one result of each function, and the next call on the same thread overwrites the
// result. If an LP keeps a pointer to a result after the event, it later reads data of other LPs.
// --check-model reports such a pointer.
//
// The interposer reports the buffers, and --check-model requests them. All data belong to the
// calling thread.
#pragma once

#include <vector>

#include "numa/os/os.hpp"

namespace nw {

// A buffer outside of the thread's thread-local storage. A buffer that grows gets another address.
// Lifetime: until the thread ends.
struct ThreadResultBuffer {
    void* data = nullptr;
    std::size_t bytes = 0;
    ThreadResultBuffer* next = nullptr;
};
void note_thread_result_buffer(ThreadResultBuffer& buffer) noexcept;

// Returns the buffers, and the thread-local storage of the program and its libraries. libc and the
// interposer keep results in this storage.
std::vector<AddressRange> thread_result_ranges();

}  // namespace nw
