// SPDX-License-Identifier: Apache-2.0
// The methods that restore the state of an LP when its events are rolled back (--rollback).
#pragma once

#include <cstdint>

namespace nw {

// How an LP's state is restored. All methods give the same results. They differ in their cost and
// in their requirements on a model.
enum class Rollback : std::uint8_t {
    snapshot,  // the LP's heap is saved periodically; no requirements
    copy,      // the plain state is copied; requires nw::PlainStateProcess
    reverse    // LogicalProcess::on_reverse() undoes each event
};

}  // namespace nw
