// Memory that processes of one host have in common, for figures that they tell each other while they run.
// It has no name in any folder: who makes it says where it is, by its own process and its descriptor, and
// the kernel takes it away with the last one that has it.
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

    // Zeroes. At most one of these two calls.
    Status make(std::size_t bytes) noexcept;
    // What another process has made, who said address().
    Status open(const std::string& address, std::size_t bytes) noexcept;

    void* begin() const noexcept { return begin_; }  // null: nothing was made or opened
    // Where others find it. Requires: it was made here.
    std::string address() const;

  private:
    Status map(std::size_t bytes) noexcept;

    int file_ = -1;
    void* begin_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace nw
