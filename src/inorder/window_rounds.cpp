#include "inorder/window_rounds.hpp"

#include <cstring>

#include <fmt/format.h>

#include "base/check.hpp"

namespace nw {
namespace {

// What travels: this, and then the events that each rank was sent.
struct Head {
    WindowSums sums;
    std::uint32_t ranks = 0;
};

std::size_t place_of_count(std::uint32_t rank) noexcept {
    return sizeof(Head) + rank * sizeof(std::uint32_t);
}

template <class T>
T value_at(const void* bytes, std::size_t place) noexcept {
    T value;
    std::memcpy(&value, static_cast<const std::byte*>(bytes) + place, sizeof value);
    return value;
}

template <class T>
void put(void* bytes, std::size_t place, const T& value) noexcept {
    std::memcpy(static_cast<std::byte*>(bytes) + place, &value, sizeof value);
}

void combine(void* sum, const void* other) {
    Head head = value_at<Head>(sum, 0);
    head.sums.combine(value_at<Head>(other, 0).sums);
    put(sum, 0, head);
    for (std::uint32_t r = 0; r < head.ranks; ++r) {
        const std::size_t place = place_of_count(r);
        put(sum, place,
            value_at<std::uint32_t>(sum, place) + value_at<std::uint32_t>(other, place));
    }
}

}  // namespace

WindowRounds::WindowRounds(Transport& transport, std::uint32_t workers, std::uint32_t first_window)
    : transport_(transport),
      slots_(workers),
      done_(first_window),
      bytes_(place_of_count(transport.ranks())) {
    for (Slot& slot : slots_) slot.sent.resize(transport.ranks());
}

bool WindowRounds::step() {
    if (phase_ == Phase::gathering) {
        if (arrived_.load(std::memory_order_acquire) != workers()) return false;
        arrived_.store(0, std::memory_order_relaxed);
        begin_reduce();
        phase_ = Phase::reducing;
    }
    if (phase_ == Phase::reducing) {
        if (!poll_reduce()) return false;
        phase_ = Phase::receiving;
    }
    const std::uint32_t window = done_.load(std::memory_order_relaxed);
    std::uint32_t& received = received_[window % windows_open];
    NW_CHECK(received <= expected_);
    if (received != expected_) return false;
    received = 0;
    result_ = reduced_;
    phase_ = Phase::gathering;
    done_.store(window + 1, std::memory_order_release);
    return true;
}

std::string WindowRounds::waiting_for() const {
    switch (phase_) {
        case Phase::gathering:
            return fmt::format("{} of {} workers have come to its end",
                               arrived_.load(std::memory_order_relaxed), workers());
        case Phase::reducing:
            return fmt::format(
                "other ranks have not contributed; {} batches of this rank have not been taken",
                transport_.sends_under_way());
        case Phase::receiving:
            break;
    }
    const std::uint32_t window = done_.load(std::memory_order_relaxed);
    return fmt::format("{} of {} events that other ranks have sent here have come",
                       received_[window % windows_open], expected_);
}

void WindowRounds::begin_reduce() {
    Head head;
    head.ranks = transport_.ranks();
    for (const Slot& slot : slots_) head.sums.combine(slot.sums);
    put(bytes_.data(), 0, head);
    for (std::uint32_t r = 0; r < head.ranks; ++r) {
        std::uint32_t sent = 0;
        for (const Slot& slot : slots_) sent += slot.sent[r];
        put(bytes_.data(), place_of_count(r), sent);
    }
    transport_.begin_reduce_bytes(bytes_, combine);
}

bool WindowRounds::poll_reduce() {
    if (!transport_.poll_reduce_bytes(bytes_)) return false;
    reduced_ = value_at<Head>(bytes_.data(), 0).sums;
    expected_ = value_at<std::uint32_t>(bytes_.data(), place_of_count(index(transport_.rank())));
    return true;
}

}  // namespace nw
