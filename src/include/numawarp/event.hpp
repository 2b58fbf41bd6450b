// What a handler sees of the event it is given. A view: valid during the handler, not to be kept.
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
    // For engines and tests. The payload is referred to, not copied.
    Event(VirtualTime time, LpId sender, EventType type,
          std::span<const std::byte> payload) noexcept
        : time_(time), payload_(payload), sender_(sender), type_(type) {}

    // When it happens: what Context::now() says, too.
    VirtualTime time() const noexcept { return time_; }
    // The LP that scheduled it.
    LpId sender() const noexcept { return sender_; }
    // The number that it was scheduled with.
    EventType type() const noexcept { return type_; }
    // The payload as bytes: as many as were scheduled, none if there was no payload.
    std::span<const std::byte> bytes() const noexcept { return payload_; }

    // The payload as it was scheduled, copied out; zeros where the scheduled one was shorter.
    template <class T>
        requires std::is_trivially_copyable_v<T> T payload()
    const noexcept {
        T value{};
        // A copy of constant size goes through registers.
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
