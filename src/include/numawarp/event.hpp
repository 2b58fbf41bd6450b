// SPDX-License-Identifier: Apache-2.0
// The view of an event that a handler receives. It is valid during the handler only and must not be
// kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#include <numawarp/ids.hpp>
#include <numawarp/time.hpp>

namespace nw {

// An event that an LP receives.
class Event {
  public:
    // For engines and tests. The event refers to the payload and does not copy it.
    Event(VirtualTime time, LpId sender, EventType type,
          std::span<const std::byte> payload) noexcept
        : time_(time), payload_(payload), sender_(sender), type_(type) {}

    // The time of the event, equal to Context::now() in the handler of the event.
    VirtualTime time() const noexcept { return time_; }
    // The LP that scheduled the event.
    LpId sender() const noexcept { return sender_; }
    // The type with which the event was scheduled.
    EventType type() const noexcept { return type_; }
    // The payload as bytes, in the size that was scheduled; empty if there is no payload.
    std::span<const std::byte> bytes() const noexcept { return payload_; }

    // Returns a copy of the payload as a T. If the scheduled payload is shorter than T, the
    // remaining bytes of the result are as in T{}. If the scheduled payload is longer, the bytes at
    // its end are ignored.
    template <class T>
        requires std::is_trivially_copyable_v<T> T payload()
    const noexcept {
        T value{};
        // Compilers turn a copy of constant size into moves between registers and memory.
        if (payload_.size() == sizeof(T)) [[likely]]
            std::memcpy(&value, payload_.data(), sizeof(T));
        else
            std::memcpy(&value, payload_.data(), std::min(sizeof(T), payload_.size()));
        return value;
    }

  private:
    VirtualTime time_;
    std::span<const std::byte> payload_;
    LpId sender_;
    EventType type_;
};

}  // namespace nw
