// SPDX-License-Identifier: Apache-2.0
// Events that are declared as structs. Each struct has a number and a name, and an LP class lists
// the structs that it handles. An event carries the number as its event type, so sender and
// receiver must use the same number.
//
// An event's number is the number that it declares, or else its index in the list:
//
//     // 0 in EventList<Arrival, Leave>
//     struct Arrival { std::uint32_t customer; };
//     // 7 in every list
//     struct Leave { static constexpr nw::EventType type = 7; };
//     // a name that is not the name of the struct
//     struct Alarm { static constexpr const char* name = "fire alarm"; };
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

// The data about an event type that are known when the run is set up.
struct EventTypeInfo {
    EventType type = 0;             // its number
    std::size_t payload_bytes = 0;  // sent with each event; 0 for a struct without members
    std::string name;               // used in errors, traces and counters
};

namespace detail {

// The name of T without its scope, as g++ and clang write it: "Arrival" for bank::Arrival.
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

// True if the compiler finds no pointer in E. The compiler can read the bytes of an event in a
// constant expression, unless they are bytes of pointers, unions or bit-fields. A struct with a
// union or a bit-field must declare that it has no pointer. Two cases are not detected: classes
// that cannot be used in a constant expression, and arrays of pointers with g++ 12. --check-model
// finds the pointers in these two cases.
template <class E>
concept HasNoPointers = !__is_literal_type(E) || PaddingCanBeFound<E> || requires {
    requires E::has_no_pointers;
};

// The number of bytes that are sent; 0 for a struct without members.
template <class E>
constexpr std::size_t event_bytes = std::is_empty_v<E> ? 0 : sizeof(E);

[[noreturn, gnu::cold]] void refuse_event(const Event& event,
                                          std::span<const EventTypeInfo> allowed);

}  // namespace detail

// The events that an LP class handles.
template <class... Events>
struct EventList {
    static_assert(sizeof...(Events) > 0, "an event list must name at least one event");
    static_assert((... && std::is_trivially_copyable_v<Events>),
                  "an event must be trivially copyable: it is sent as its bytes");
    static_assert(
        (... && detail::HasNoPointers<Events>),
        "an event must not have a pointer, which would point elsewhere on another rank or after a "
        "rollback; allowed: the number of the LP or of the object; a struct with a union, a "
        "std::optional or a bit-field must declare: static constexpr bool has_no_pointers = true");
    static_assert((... && (detail::event_bytes<Events> <= UINT16_MAX)),
                  "an event must have at most 65,535 bytes");

    // True if E is in the list.
    template <class E>
    static constexpr bool contains = (... || std::is_same_v<E, Events>);

    // The number of E. Requires: E is in the list.
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

    // True if no two events have the same number. The list does not compile otherwise.
    static constexpr bool numbers_differ() noexcept {
        std::array<EventType, sizeof...(Events)> numbers{number<Events>()...};
        std::sort(numbers.begin(), numbers.end());
        return std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
    }
    static_assert(numbers_differ(),
                  "two events of a list have the same number: the number of an event without a "
                  "declared type is its index in the list");

    // The facts that the engine needs about each event.
    static std::vector<EventTypeInfo> infos() { return {info_of<Events>()...}; }

    // Calls visit(const E&), where E is the struct of `event`. Throws ModelError if the event is
    // not in the list or has another size.
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

// Schedules an event with its number in List. An event that is not in List must declare its number.
// `priority`: one Priority, or nothing.
template <class List, class E>
void schedule_typed(Context& context, LpId to, VirtualTime delay, const E& event,
                    std::same_as<Priority> auto... priority) {
    static_assert(List::template contains<E> || NumberedEvent<E>,
                  "an event that the sending class does not handle must declare its number: static "
                  "constexpr nw::EventType type");
    static_assert(std::is_trivially_copyable_v<E>,
                  "an event must be trivially copyable: it is sent as its bytes");
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
