// The names of things, as types: an LpId cannot be passed where a WorkerId is meant.
// An id is an index into the table of its kind; `index()` gives the bare number.
#pragma once

#include <cstdint>
#include <type_traits>

namespace nw {

// A logical process: its number among those of all ranks, from 0.
enum class LpId : std::uint32_t {};
// LPs that share pages and move together: its number among those of all ranks. For the engine.
enum class GroupId : std::uint32_t {};
// A worker thread within its rank. For the engine.
enum class WorkerId : std::uint32_t {};
// An OS process of the run. For the engine.
enum class RankId : std::uint32_t {};
// A NUMA node, as the kernel numbers it; -1 is "unknown". For the engine.
enum class NodeId : std::int32_t {};

// The bare number of an id: nw::index(c.self()) is a std::uint32_t.
template <class Id>
    requires std::is_enum_v<Id>
constexpr auto index(Id id) noexcept { return static_cast<std::underlying_type_t<Id>>(id); }

// The model's own numbering of its events.
using EventType = std::uint16_t;

// Which of several events at one time comes first: that of the smaller number, whoever sent it. An event without one
// has 0.
struct Priority {
    std::uint16_t number = 0;  // at most priority_max
};
// The largest number of a Priority.
inline constexpr std::uint16_t priority_max = 16383;

}  // namespace nw
