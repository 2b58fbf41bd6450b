// SPDX-License-Identifier: Apache-2.0
// Functions with which an engine makes and reads a handler's Context. They are separate from
// event_sink.hpp, so that not every user of an EventSink needs the definition of Context.
#pragma once

#include <cstdint>

#include <numawarp/context.hpp>

#include "api/event_sink.hpp"

namespace nw::detail {

// Has no room, so that each event is scheduled by a function call.
inline SendBuffer no_buffer;

inline Context EventSink::make_context(VirtualTime now, std::uint32_t self,
                                       std::uint64_t random_counter) noexcept {
    return make_context(now, self, random_counter, no_buffer);
}

inline Context EventSink::make_context(VirtualTime now, std::uint32_t self,
                                       std::uint64_t random_counter, SendBuffer& buffer) noexcept {
    return Context(*this, buffer, now, LpId{self}, rules_.lps, Random(seed_, self, random_counter));
}

inline void EventSink::renew(Context& context, VirtualTime now, std::uint32_t self,
                             std::uint64_t random_counter) noexcept {
    context.now_ = now;
    context.control_ = 0;
    context.random_.restart(self, random_counter);
    context.generation_and_self_ = std::uint64_t{self} << 32;
}

}  // namespace nw::detail
