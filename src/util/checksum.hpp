// SPDX-License-Identifier: Apache-2.0
// The XXH3-128 hash (xxHash library) of bytes that arrive in pieces. It detects torn and damaged
// files. It gives no protection against deliberate changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace nw {

struct Hash128 {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    friend bool operator==(const Hash128&, const Hash128&) = default;
    std::string hex() const;  // 32 hex digits
};

class Checksum {
  public:
    Checksum();
    ~Checksum();
    Checksum(const Checksum&) = delete;
    Checksum& operator=(const Checksum&) = delete;

    void append(const void* bytes, std::size_t size) noexcept;
    // The checksum of all bytes since the construction or the last restart().
    Hash128 value() const noexcept;
    void restart() noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace nw
