// The memory of what setup() makes, which all LPs share: an arena of its own, at an address of its
// own, which is read-only while handlers run. A handler that writes there, or lets go of something
// that lies there, has failed, like one that follows a bad pointer: what all LPs share is neither
// rolled back nor safe from other workers, and such a write is the commonest mistake of models.
//
// It is filled while setup() runs, by the thread that calls it and those that it makes meanwhile: the
// interposer (interpose/malloc.cpp) asks here for what they allocate. What libc or the loader
// allocates for themselves then (streams, locales, thread-local storage of libraries) is theirs and
// comes from libc, and so do function-local statics.
//
// One of the process, never given back: the model's own object may point into it until the program
// ends. The same setup() on one thread gets the same addresses in every process, so that a run that
// goes on finds what its LPs point to where it was.
//
// Chunks come from size classes (size_classes.hpp), last freed first used, else from the end. Each has
// a head of 16 bytes. Pages inside of large free chunks go back to the kernel.
// Thread: any; a spin lock orders them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "numa/os/os.hpp"

namespace nw {

class SharedArena {
  public:
    // States are full of small integers, side by side or over what is left of a pointer: who looks for
    // pointers in them (outside_pointers.hpp) must not take one of those for an address in here. So
    // neither half of an address is a small or a round number.
    static constexpr std::uintptr_t base = 0x1357'8000'0000;
    static constexpr std::size_t bytes_max = std::size_t{8} << 40;

    // While one lives, setup() runs. Does nothing where the interposer does not serve malloc (under
    // sanitizers). Not two at a time.
    class Filling {
      public:
        explicit Filling(Os& os);
        ~Filling();
        Filling(const Filling&) = delete;
        Filling& operator=(const Filling&) = delete;
    };

    // Makes what is in the arena read-only, from begin() on until it is destroyed. Thread: one.
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
    // Whether this thread's memory is to come from the arena now.
    static bool fills() noexcept {
        return filling_.load(std::memory_order_relaxed) != 0 && is_of_setup();
    }
    static bool is_read_only() noexcept { return read_only_.load(std::memory_order_relaxed); }
    // Whether all that setup() asked for is here, and was protected when it should have been.
    static bool is_whole() noexcept { return whole_.load(std::memory_order_relaxed); }
    // Up to where it is used; a sign of whether setup() made the same again.
    static std::size_t used_bytes() noexcept { return used_bytes_.load(std::memory_order_relaxed); }

    // nullptr where its addresses are taken, or nothing can be had: it is libc's turn then.
    // Requires: alignment a power of two.
    static void* allocate(std::size_t bytes, std::size_t alignment) noexcept;
    static void* allocate_zeroed(std::size_t bytes) noexcept;
    // While it is read-only it stays as it is, for ever: nobody in platform mode misses the memory.
    // Requires for all: contains(address), which was allocated.
    static void free(void* address) noexcept;
    static std::size_t usable_size(const void* address) noexcept;

    // The interposer says that it asks here.
    static void serve() noexcept { served_.store(true, std::memory_order_relaxed); }

    static void validate();

  private:
    static bool is_of_setup() noexcept;

    inline static constinit std::atomic<std::size_t> used_bytes_{0};
    inline static constinit std::atomic<std::uint32_t> filling_{0};  // the how manyth; 0: none
    inline static constinit std::atomic<bool> read_only_{false};
    inline static constinit std::atomic<bool> whole_{true};
    inline static constinit std::atomic<bool> served_{false};
};

}  // namespace nw
