// SPDX-License-Identifier: Apache-2.0
#include "memory/handler/heap_scope.hpp"

namespace nw {

constinit thread_local LpHeap* current_heap = nullptr;

}  // namespace nw
