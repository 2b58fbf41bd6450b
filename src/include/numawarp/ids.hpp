// The names of things, as types: an LpId cannot be passed where a WorkerId is meant.
// An id is an index into the table of its kind; `index()` gives the bare number.
#pragma once

#include <cstdint>
#include <type_traits>

namespace nw {

enum class LpId : std::uint32_t {};      // a logical process, global over all ranks
enum class GroupId : std::uint32_t {};   // LPs that share pages and move together, global
enum class WorkerId : std::uint32_t {};  // a worker thread within its rank
enum class RankId : std::uint32_t {};    // an OS process of the run
enum class NodeId : std::int32_t {};     // a NUMA node, as the kernel numbers it; -1 is "unknown"

template <class Id>
    requires std::is_enum_v<Id>
constexpr auto index(Id id) noexcept { return static_cast<std::underlying_type_t<Id>>(id); }

using EventType = std::uint16_t;  // the model's own numbering of its events

}  // namespace nw
