// SPDX-License-Identifier: Apache-2.0
// A reduction over all ranks that also counts batches. The number of batches that were sent to each
// rank is reduced together with the value, and a rank has the result only when the batches for this
// rank have arrived. So a rank that has the result has received everything that was sent to it
// before the senders contributed to the reduction.
//
// A batch carries a stamp: the number of the reduction in which the sender counts the batch. While
// a rank waits for batches with one stamp, other ranks may have begun the next reduction, and may
// send batches with the stamp of the reduction after that. No rank gets further ahead, so three
// stamps are in use at a time.
//
// Thread: a Part belongs to its worker until begin(); everything else belongs to the holder of the
// net role.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "net/transport.hpp"
#include "util/check.hpp"

namespace nw {

// Sums::combine(other) is associative and commutative.
template <class Sums>
class CountedReduction {
    static_assert(std::is_trivially_copyable_v<Sums>, "it travels as bytes");

  public:
    // The contribution of one worker.
    struct Part {
        Sums sums{};
        std::vector<std::uint32_t>
            sent;  // batches since the last part, by rank; empty if batches are not counted
    };

    // `counts`: whether batches are counted. If false, a result does not wait for batches.
    CountedReduction(Transport& transport, bool counts)
        : transport_(transport),
          counted_(counts && transport.ranks() > 1 ? transport.ranks() : 0),
          bytes_(place_of_count(counted_)) {}

    Part new_part() const { return {.sent = std::vector<std::uint32_t>(counted_)}; }

    // Starts a reduction. Requires: no reduction is under way. `parts`: a range of objects that are
    // Parts.
    template <class Parts>
    void begin(const Parts& parts) {
        Head head{.counted = counted_};
        for (const Part& part : parts) head.sums.combine(part.sums);
        put(bytes_.data(), 0, head);
        for (std::uint32_t r = 0; r < counted_; ++r) {
            std::uint32_t sent = 0;
            for (const Part& part : parts) sent += part.sent[r];
            put(bytes_.data(), place_of_count(r), sent);
        }
        transport_.begin_reduce_bytes(bytes_, combine);
        phase_ = Phase::reducing;
    }

    // Counts a batch that has arrived with this stamp.
    void receive(std::uint32_t stamp) noexcept { ++received_[stamp % stamps_open]; }

    // Advances the reduction. Returns whether it has ended; result() is then valid until the next
    // begin(). Requires: a reduction is under way. `stamp`: the number of this reduction.
    bool poll(std::uint32_t stamp) {
        if (phase_ == Phase::reducing) {
            if (!transport_.poll_reduce_bytes(bytes_)) return false;
            phase_ = Phase::receiving;
        }
        std::uint32_t& received = received_[stamp % stamps_open];
        NW_CHECK(counted_ == 0 || received <= expected());
        if (counted_ > 0 && received != expected()) return false;
        received = 0;
        phase_ = Phase::none;
        return true;
    }
    Sums result() const noexcept { return value_at<Head>(bytes_.data(), 0).sums; }

    bool is_under_way() const noexcept { return phase_ != Phase::none; }
    // All ranks have contributed, but some batches that they sent to this rank have not arrived.
    bool is_receiving() const noexcept { return phase_ == Phase::receiving; }
    // The number of batches with this stamp that have arrived, and the number that were sent to
    // this rank. Requires: is_receiving().
    std::uint32_t received(std::uint32_t stamp) const noexcept {
        return received_[stamp % stamps_open];
    }
    std::uint32_t expected() const noexcept {
        if (counted_ == 0) return 0;
        return value_at<std::uint32_t>(bytes_.data(), place_of_count(index(transport_.rank())));
    }

  private:
    static constexpr std::uint32_t stamps_open = 4;  // 3 are in use; stamps wrap at a power of 2
    enum class Phase : std::uint8_t { none, reducing, receiving };

    // The beginning of the reduced bytes. The number of batches for each rank follows.
    struct Head {
        Sums sums{};
        std::uint32_t counted = 0;  // number of ranks
    };
    static_assert(sizeof(Head) <= Transport::value_bytes_max(0));

    static std::size_t place_of_count(std::uint32_t rank) noexcept {
        return sizeof(Head) + rank * sizeof(std::uint32_t);
    }
    // The bytes of a backend may be unaligned.
    template <class T>
    static T value_at(const void* bytes, std::size_t place) noexcept {
        T value;
        std::memcpy(&value, static_cast<const std::byte*>(bytes) + place, sizeof value);
        return value;
    }
    template <class T>
    static void put(void* bytes, std::size_t place, const T& value) noexcept {
        std::memcpy(static_cast<std::byte*>(bytes) + place, &value, sizeof value);
    }
    static void combine(void* sum, const void* other) {
        auto head = value_at<Head>(sum, 0);
        head.sums.combine(value_at<Head>(other, 0).sums);
        put(sum, 0, head);
        for (std::uint32_t r = 0; r < head.counted; ++r) {
            const std::size_t place = place_of_count(r);
            put(sum, place,
                value_at<std::uint32_t>(sum, place) + value_at<std::uint32_t>(other, place));
        }
    }

    Transport& transport_;
    std::uint32_t counted_;  // number of ranks; 0: batches are not counted
    std::vector<std::byte> bytes_;
    std::array<std::uint32_t, stamps_open> received_{};
    Phase phase_ = Phase::none;
};

}  // namespace nw
