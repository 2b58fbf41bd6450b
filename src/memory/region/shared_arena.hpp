// SPDX-License-Identifier: Apache-2.0
// The memory that setup() allocates and that all LPs share: a separate arena at a fixed address,
// which is read-only while handlers run. A handler that writes to the arena, or frees memory in it,
// has failed, as if the handler had followed a bad pointer. Shared memory is neither rolled back
// nor protected from other workers, and such a write is the most common mistake in models.
//
// The arena is filled while setup() runs, by the thread that calls setup() and by threads that are
// created meanwhile: the interposer (memory/interpose/malloc.cpp) requests the memory of these
// threads from the arena. Memory that libc or the loader allocates for itself meanwhile (streams,
// locales, thread-local storage of libraries) comes from libc, and so do function-local statics.
//
// There is one arena per process. It is never released, because the model object may point into the
// arena until the program ends. If setup() uses one thread, setup() gets the same addresses in
// every process. So a run that continues in another process finds shared data at the addresses that
// its LPs store.
//
// An allocation takes the free chunk of its size class (size_classes.hpp) that was freed last. If
// there is no free chunk, it takes a new chunk from the end of the arena. Each chunk has a head of
// 16 bytes. Pages inside of large free chunks are returned to the kernel.
//
// Thread: any; a spin lock orders the calls.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "numa/os/os.hpp"

namespace nw {

class SharedArena {
  public:
    // States contain many words of two small integers, or of one small integer and the remaining
    // half of an old pointer. A search for pointers (outside_pointers.hpp) must not mistake such
    // words for addresses of the arena. So neither half of an address of the arena is a small or
    // round number.
    static constexpr std::uintptr_t base = 0x1357'8000'0000;
    static constexpr std::size_t bytes_max = std::size_t{8} << 40;

    // Exists while setup() runs. The arena is filled during the lifetime of the object. The object
    // has no effect if the interposer does not replace malloc (under sanitizers). Requires: no
    // other Filling exists.
    class Filling {
      public:
        explicit Filling(Os& os);
        ~Filling();
        Filling(const Filling&) = delete;
        Filling& operator=(const Filling&) = delete;
    };

    // Makes the contents of the arena read-only, from begin() to end(), or to the destruction of
    // the object.
    // Thread: one.
    class ReadOnly {
      public:
        ReadOnly() = default;
        ~ReadOnly() { end(); }
        ReadOnly(const ReadOnly&) = delete;
        ReadOnly& operator=(const ReadOnly&) = delete;
        void begin() noexcept;
        void end() noexcept;

      private:
        bool begun_ = false;
    };

    static bool contains(const void* address) noexcept {
        return reinterpret_cast<std::uintptr_t>(address) - base <
               used_bytes_.load(std::memory_order_relaxed);
    }
    // Whether memory for this thread should come from the arena now.
    static bool fills() noexcept {
        return filling_.load(std::memory_order_relaxed) != 0 && is_of_setup();
    }
    static bool is_read_only() noexcept { return read_only_.load(std::memory_order_relaxed); }
    // Whether all memory for setup() came from the arena, and was protected whenever it should have
    // been.
    static bool is_whole() noexcept { return whole_.load(std::memory_order_relaxed); }
    // The size of the used part. Equal sizes indicate that setup() has allocated the same memory
    // again.
    static std::size_t used_bytes() noexcept { return used_bytes_.load(std::memory_order_relaxed); }

    // Returns nullptr if the arena's next addresses are in use or cannot be mapped; the caller then
    // uses libc. Requires: alignment is a power of two.
    static void* allocate(std::size_t bytes, std::size_t alignment) noexcept;
    static void* allocate_zeroed(std::size_t bytes) noexcept;
    // While the arena is read-only, free() has no effect, and the chunk is never reused. Only code
    // in platform mode frees such a chunk, and this code does not need the memory.
    //
    // The following functions require: contains(address), and the chunk is allocated.
    static void free(void* address) noexcept;
    static std::size_t usable_size(const void* address) noexcept;

    // The interposer calls this function to declare that it allocates from the arena.
    static void serve() noexcept { served_.store(true, std::memory_order_relaxed); }

    static void validate();

  private:
    static bool is_of_setup() noexcept;

    inline static constinit std::atomic<std::size_t> used_bytes_{0};
    inline static constinit std::atomic<std::uint32_t> filling_{0};  // the filling; 0: none
    inline static constinit std::atomic<bool> read_only_{false};
    inline static constinit std::atomic<bool> whole_{true};
    inline static constinit std::atomic<bool> served_{false};
};

}  // namespace nw
