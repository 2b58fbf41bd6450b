// Events as types: which number and which name a struct has as an event, and which structs an LP class
// knows. The number travels with the event in place of the type, so sender and receiver must agree on it.
//
// An event's number is the one that it declares, or else its place in the list:
//
//     struct Arrival { std::uint32_t customer; };                          // 0 in EventList<Arrival, Leave>
//     struct Leave { static constexpr nw::EventType type = 7; };           // 7 in every list
//     struct Alarm { static constexpr const char* name = "fire alarm"; };  // not the struct's own name
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <numawarp/context.hpp>
#include <numawarp/event.hpp>
#include <numawarp/ids.hpp>
#include <numawarp/payload_bytes.hpp>

namespace nw {

// What is known of an event type when the run is set up.
struct EventTypeInfo {
    EventType type = 0;             // its number
    std::size_t payload_bytes = 0;  // that travel; 0 for a struct without members
    std::string name;               // in errors, traces and counters
};

namespace detail {

// "Arrival", of bank::Arrival: as g++ and clang write it.
template <class T>
constexpr std::string_view type_name() noexcept {
    std::string_view text = __PRETTY_FUNCTION__;
    text.remove_prefix(text.find("T = ") + 4);
    text = text.substr(0, text.find_first_of(";]"));
    const std::size_t scope = text.substr(0, text.find('<')).rfind("::");
    return scope == std::string_view::npos ? text : text.substr(scope + 2);
}

template <class E>
concept NumberedEvent = requires {
    EventType{E::type};
};

// The compiler can read the bytes of an event in a constant expression, but for those of pointers, unions and
// bit-fields. A struct with a union or a bit-field declares that it has no pointer. A class that no constant expression can
// hold, and an array of pointers under g++ 12, pass unseen; --check-model finds their pointers.
template <class E>
concept HasNoPointers = !__is_literal_type(E) || PaddingCanBeFound<E> || requires {
    requires E::has_no_pointers;
};

// The bytes that travel: none where there are no members.
template <class E>
constexpr std::size_t event_bytes = std::is_empty_v<E> ? 0 : sizeof(E);

[[noreturn, gnu::cold]] void refuse_event(const Event& event, std::span<const EventTypeInfo> legal);

}  // namespace detail

// The events that an LP class knows.
template <class... Events>
struct EventList {
    static_assert(sizeof...(Events) > 0, "an event list names at least one event");
    static_assert((... && std::is_trivially_copyable_v<Events>),
                  "an event is trivially copyable: it travels as its bytes");
    static_assert(
        (... && detail::HasNoPointers<Events>),
        "an event must not have a pointer, which would point elsewhere on another rank or after a "
        "rollback; legal: the number of the LP or of the object; a struct with a union, a "
        "std::optional or a bit-field declares: static constexpr bool has_no_pointers = true");
    static_assert((... && (detail::event_bytes<Events> <= UINT16_MAX)),
                  "an event has at most 65,535 bytes");

    // Whether E is one of them.
    template <class E>
    static constexpr bool contains = (... || std::is_same_v<E, Events>);

    // The number of E, which must be in the list.
    template <class E>
    static constexpr EventType number() noexcept {
        static_assert(contains<E>, "this event is not in the list");
        if constexpr (detail::NumberedEvent<E>) {
            return E::type;
        } else {
            EventType place = 0;
            static_cast<void>((... || (std::is_same_v<E, Events> ? true : (++place, false))));
            return place;
        }
    }

    // Two of them with one number do not compile.
    static constexpr bool numbers_differ() noexcept {
        std::array<EventType, sizeof...(Events)> numbers{number<Events>()...};
        std::sort(numbers.begin(), numbers.end());
        return std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
    }
    static_assert(numbers_differ(),
                  "two events of a list have one number: an event without a declared type has its "
                  "place in the list");

    // What the engine must know of each.
    static std::vector<EventTypeInfo> infos() { return {info_of<Events>()...}; }

    // visit(const E&) for the one that `event` is. What is none of the list, or has another size, is a
    // ModelError.
    template <class Visit>
    static void visit(const Event& event, Visit&& visit) {
        if (!(... || visit_if_it_is<Events>(event, visit))) [[unlikely]]
            detail::refuse_event(event, infos());
    }

  private:
    template <class E>
    static EventTypeInfo info_of() {
        EventTypeInfo info{number<E>(), detail::event_bytes<E>,
                           std::string(detail::type_name<E>())};
        if constexpr (requires { std::string(E::name); }) info.name = E::name;
        return info;
    }

    template <class E, class Visit>
    static bool visit_if_it_is(const Event& event, Visit& visit) {
        if (event.type() != number<E>() || event.bytes().size() != detail::event_bytes<E>)
            return false;
        if constexpr (std::is_empty_v<E>)
            visit(E{});
        else
            visit(event.payload<E>());
        return true;
    }
};

namespace detail {

// As List numbers it; an event that List does not have must declare its number. `priority`: one, or none.
template <class List, class E>
void schedule_typed(Context& context, LpId to, VirtualTime delay, const E& event,
                    std::same_as<Priority> auto... priority) {
    static_assert(List::template contains<E> || NumberedEvent<E>,
                  "an event that the sending class does not handle declares its number: "
                  "static constexpr nw::EventType type");
    static_assert(std::is_trivially_copyable_v<E>,
                  "an event is trivially copyable: it travels as its bytes");
    const EventType type = [] {
        if constexpr (List::template contains<E>)
            return List::template number<E>();
        else
            return EventType{E::type};
    }();
    if constexpr (std::is_empty_v<E>)
        context.schedule(to, delay, type, priority...);
    else
        context.schedule(to, delay, type, event, priority...);
}

}  // namespace detail
}  // namespace nw
