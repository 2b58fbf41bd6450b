// SPDX-License-Identifier: Apache-2.0
// Ids as distinct types, so that an LpId cannot be passed where a WorkerId is expected. An id is an
// index into the table of the objects of its type. index() returns the id as a plain integer.
#pragma once

#include <cstdint>
#include <type_traits>

namespace nw {

// A logical process: its number among the LPs of all ranks, from 0.
enum class LpId : std::uint32_t {};
// A group (LPs that share memory pages and move together): its number among the groups of all
// ranks. Used by the engine.
enum class GroupId : std::uint32_t {};
// A worker thread: its number within its rank. Used by the engine.
enum class WorkerId : std::uint32_t {};
// A rank (an operating-system process of the run). Used by the engine.
enum class RankId : std::uint32_t {};
// A NUMA node, with the number that the kernel uses; -1: unknown. Used by the engine.
enum class NodeId : std::int32_t {};

// Returns an id as a plain integer: nw::index(c.self()) is a std::uint32_t.
template <class Id>
    requires std::is_enum_v<Id>
constexpr auto index(Id id) noexcept { return static_cast<std::underlying_type_t<Id>>(id); }

// The number of an event type, chosen by the model.
using EventType = std::uint16_t;

// The order of events at equal times: the event with the smaller number comes first, whichever LP
// scheduled it. An event without a priority has the number 0.
struct Priority {
    std::uint16_t number = 0;  // at most priority_max
};
// The largest number of a Priority.
inline constexpr std::uint16_t priority_max = 16383;

}  // namespace nw
