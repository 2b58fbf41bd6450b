// XXH3-128 (of the xxHash library) over bytes that come piece by piece: finds files that were torn or
// damaged. Not meant against malice.
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
    // The checksum of all that was appended since the beginning or the last restart().
    Hash128 value() const noexcept;
    void restart() noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace nw
