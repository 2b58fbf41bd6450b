// By which method the state of an LP comes back when events are rolled back: --rollback.
#pragma once

#include <cstdint>

namespace nw {

// The methods. All give the same results; they differ in what they cost and in what they ask of a model.
enum class Rollback : std::uint8_t {
    snapshot,  // the LP's heap is saved now and then: asks nothing
    copy,      // its plain state is copied: wants nw::PlainStateProcess
    reverse    // LogicalProcess::on_reverse undoes each event
};

}  // namespace nw
