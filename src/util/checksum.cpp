// SPDX-License-Identifier: Apache-2.0
#include "util/checksum.hpp"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace nw {

struct Checksum::State {
    XXH3_state_t xxh3;
};

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Checksum::Checksum() : state_(std::make_unique<State>()) { restart(); }
Checksum::~Checksum() = default;

void Checksum::append(const void* bytes, std::size_t size) noexcept {
    XXH3_128bits_update(&state_->xxh3, bytes, size);
}

Hash128 Checksum::value() const noexcept {
    const XXH128_hash_t hash = XXH3_128bits_digest(&state_->xxh3);
    return {hash.high64, hash.low64};
}

void Checksum::restart() noexcept { XXH3_128bits_reset(&state_->xxh3); }

}  // namespace nw
