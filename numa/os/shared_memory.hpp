// SPDX-License-Identifier: Apache-2.0
// Memory that processes of one host share, to exchange figures while they run. The memory has no
// name in any folder. The address of the memory has two parts: the number of the process that made
// the memory, and the file descriptor of the memory in this process. The kernel frees the memory
// when no process holds it any more.
#pragma once

#include <cstddef>
#include <string>

#include "numa/os/os.hpp"

namespace nw {

class SharedMemory {
  public:
    SharedMemory() = default;
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    // Makes memory that is filled with zeros. Requires: neither make() nor open() was called on
    // this object before.
    Status make(std::size_t bytes) noexcept;
    // Opens the memory that another process has made. `address`: the result of address() in that
    // process. Requires: as make().
    Status open(const std::string& address, std::size_t bytes) noexcept;

    void* begin() const noexcept { return begin_; }  // null: nothing was made or opened
    // The address that other processes pass to open(). Requires: make() was called on this object.
    std::string address() const;

  private:
    Status map(std::size_t bytes) noexcept;

    int file_ = -1;
    void* begin_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace nw
