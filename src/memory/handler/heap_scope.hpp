// SPDX-License-Identifier: Apache-2.0
// The heap that malloc uses on this thread: the recoverable heap of an LP in its handler, otherwise
// libc ("platform mode"). The engine enters a HeapScope around each handler. In every call of
// Context, the engine works on behalf of a handler. During this work, a PlatformScope leaves the
// heap.
//
// After a handler was left, current_heap must be reset. After an exception the destructors do this.
// After a siglongjmp, call leave_heap().
#pragma once

namespace nw {

class LpHeap;

// The interposer reads current_heap in every allocation. An access is one load relative to the
// thread pointer: no call, no guard.
extern constinit thread_local LpHeap* current_heap [[gnu::tls_model("initial-exec")]];

// Sets the current heap. The compiler assumes that malloc and free read no variable of the program,
// so it could remove the store or move it past such a call. The barriers prevent this.
inline void set_current_heap(LpHeap* heap) noexcept {
    asm volatile("" : : : "memory");
    current_heap = heap;
    asm volatile("" : : : "memory");
}

// Requires: platform mode before. Handlers are not nested.
class HeapScope {
  public:
    // nullptr: malloc uses libc.
    explicit HeapScope(LpHeap* heap) noexcept { set_current_heap(heap); }
    explicit HeapScope(LpHeap& heap) noexcept : HeapScope(&heap) {}
    ~HeapScope() { set_current_heap(nullptr); }
    HeapScope(const HeapScope&) = delete;
    HeapScope& operator=(const HeapScope&) = delete;
};

class PlatformScope {
  public:
    PlatformScope() noexcept : outer_(current_heap) { set_current_heap(nullptr); }
    ~PlatformScope() { set_current_heap(outer_); }
    PlatformScope(const PlatformScope&) = delete;
    PlatformScope& operator=(const PlatformScope&) = delete;

  private:
    LpHeap* outer_;
};

inline void leave_heap() noexcept { set_current_heap(nullptr); }

}  // namespace nw
