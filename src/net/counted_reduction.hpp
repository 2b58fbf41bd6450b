// A reduction over all ranks whose result is known on a rank only when what was sent to it before has arrived.
// For that, the number of batches that each rank was sent travels with what is reduced. Who learns the
// result has everything that anybody sent before the reduction began.
//
// Batches carry the stamp of the reduction before whose beginning they were sent. While a rank waits for those of
// one stamp others may have begun the next reduction, and send those of the one after it; none gets any
// further.
//
// Thread: a part its owner's, all else the holder of the net role.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "base/check.hpp"
#include "net/transport.hpp"

namespace nw {

// Sums::combine(other) is associative and commutative.
template <class Sums>
class CountedReduction {
    static_assert(std::is_trivially_copyable_v<Sums>, "it travels as bytes");

  public:
    // What one worker adds.
    struct Part {
        Sums sums{};
        std::vector<std::uint32_t>
            sent;  // batches since its last part, by rank; empty if none are counted
    };

    // `counts`: else results do not wait for anything.
    CountedReduction(Transport& transport, bool counts)
        : transport_(transport),
          counted_(counts && transport.ranks() > 1 ? transport.ranks() : 0),
          bytes_(place_of_count(counted_)) {}

    Part new_part() const { return {.sent = std::vector<std::uint32_t>(counted_)}; }

    // Requires: no other is under way. `parts`: a range of what is a Part.
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

    // A batch with that stamp has come.
    void receive(std::uint32_t stamp) noexcept { ++received_[stamp % stamps_open]; }

    // Requires: it is under way. Returns whether it has ended: then result() stands until the next one begins.
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
    // All ranks have contributed; what they sent to this one has not come.
    bool is_receiving() const noexcept { return phase_ == Phase::receiving; }
    // Requires: is_receiving(). Batches of that stamp.
    std::uint32_t received(std::uint32_t stamp) const noexcept {
        return received_[stamp % stamps_open];
    }
    std::uint32_t expected() const noexcept {
        if (counted_ == 0) return 0;
        return value_at<std::uint32_t>(bytes_.data(), place_of_count(index(transport_.rank())));
    }

  private:
    static constexpr std::uint32_t stamps_open = 4;  // three, and a power of two: stamps wrap
    enum class Phase : std::uint8_t { none, reducing, receiving };

    // What travels: this, and then the batches that each rank was sent.
    struct Head {
        Sums sums{};
        std::uint32_t counted = 0;  // ranks
    };
    static_assert(sizeof(Head) <= Transport::value_bytes_max(0));

    static std::size_t place_of_count(std::uint32_t rank) noexcept {
        return sizeof(Head) + rank * sizeof(std::uint32_t);
    }
    // A backend's bytes are aligned to nothing.
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
    std::uint32_t counted_;  // ranks; 0: nothing is
    std::vector<std::byte> bytes_;
    std::array<std::uint32_t, stamps_open> received_{};
    Phase phase_ = Phase::none;
};

}  // namespace nw
