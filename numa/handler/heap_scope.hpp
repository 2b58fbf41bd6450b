// Whose memory malloc means on this thread: an LP's recoverable heap inside its handler, libc's
// everywhere else ("platform mode"). The engine enters a HeapScope around each handler; whatever
// the platform does on a handler's behalf (every Context call) steps out with a PlatformScope.
//
// Leaving a handler by exception or by siglongjmp past the scope must set current_heap back: the
// destructors do it for exceptions; after a longjmp call leave_heap().
#pragma once

namespace nw {

class LpHeap;

// Read by the interposer at every allocation: no call, no guard, one load relative to the thread.
extern constinit thread_local LpHeap* current_heap [[gnu::tls_model("initial-exec")]];

// Sets the current heap. The compiler believes that malloc and free look at no variable of ours and
// would drop or move the store past them: it must not.
inline void set_current_heap(LpHeap* heap) noexcept {
    asm volatile("" : : : "memory");
    current_heap = heap;
    asm volatile("" : : : "memory");
}

// Requires: platform mode before; no handler runs within another.
class HeapScope {
  public:
    // nullptr: libc's.
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
