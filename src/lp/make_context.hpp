// How an engine makes the Context of a handler, and what it reads in it. Apart from event_sink.hpp, so that
// who only declares an engine need not know what a Context is made of.
#pragma once

#include <cstdint>

#include <numawarp/context.hpp>

#include "lp/event_sink.hpp"

namespace nw::detail {

// It has no room, so that all events go by a call.
inline SendBuffer no_buffer;

inline Context EventSink::make_context(VirtualTime now, std::uint32_t self,
                                       std::uint64_t random_counter) noexcept {
    return make_context(now, self, random_counter, no_buffer);
}

inline Context EventSink::make_context(VirtualTime now, std::uint32_t self,
                                       std::uint64_t random_counter, SendBuffer& buffer) noexcept {
    return Context(*this, buffer, now, LpId{self}, lps_, Random(seed_, self, random_counter));
}

inline void EventSink::renew(Context& context, VirtualTime now, std::uint32_t self,
                             std::uint64_t random_counter) noexcept {
    context.now_ = now;
    context.control_ = 0;
    context.random_.restart(self, random_counter);
    context.self_ = LpId{self};
}

inline std::uint32_t EventSink::first_generation(const Context& context) noexcept {
    return context.first_generation_;
}

}  // namespace nw::detail
