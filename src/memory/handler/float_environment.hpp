// SPDX-License-Identifier: Apache-2.0
// The control part of a thread's floating-point environment, which changes results: rounding,
// flushing of denormal numbers, precision, traps. The sticky flags are not included: every
// operation sets them, and they are undefined when a handler begins.
//
// The kernel gives a signal handler a new environment, and a jump out of the signal handler keeps
// it. A handler of a model may also change the environment. So after each handler, the engine
// compares the environment with the environment of the thread outside of handlers, and restores the
// latter if they differ.
// Cost: the processor stores two registers, and two values are compared. Before the processor
// stores MXCSR, which contains the sticky flags, it completes all earlier floating-point
// operations.
#pragma once

#include <cfenv>
#include <cstdint>

namespace nw {

#if defined(__x86_64__)

class FloatEnvironment {
  public:
    // The environment of the calling thread.
    static FloatEnvironment current() noexcept {
        FloatEnvironment now;
        asm volatile("stmxcsr %0" : "=m"(now.sse_));
        asm volatile("fnstcw %0" : "=m"(now.x87_));
        now.sse_ &= control_bits;
        return now;
    }

    // Sets the calling thread's environment. Clears the flags and the x87 stack, because a jump may
    // have interrupted a computation.
    void install() const noexcept {
        asm volatile("fninit\n\tfldcw %0" : : "m"(x87_));
        asm volatile("ldmxcsr %0" : : "m"(sse_));
    }

    friend bool operator==(const FloatEnvironment&, const FloatEnvironment&) = default;

    // A copy in which denormal numbers are not flushed to zero. A program that is linked with
    // -ffast-math flushes them everywhere.
    FloatEnvironment with_denormals() const noexcept {
        FloatEnvironment other = *this;
        other.sse_ &= ~flush_bits;
        return other;
    }

  private:
    static constexpr std::uint32_t control_bits = 0xffc0;  // MXCSR without its six flags
    static constexpr std::uint32_t flush_bits = 0x8040;

    std::uint32_t sse_ = 0x1f80;
    std::uint16_t x87_ = 0x37f;
};

#elif defined(__aarch64__)

class FloatEnvironment {
  public:
    static FloatEnvironment current() noexcept {
        FloatEnvironment now;
        asm volatile("mrs %0, fpcr" : "=r"(now.control_));
        return now;
    }
    void install() const noexcept { asm volatile("msr fpcr, %0" : : "r"(control_)); }
    friend bool operator==(const FloatEnvironment&, const FloatEnvironment&) = default;

    FloatEnvironment with_denormals() const noexcept {
        FloatEnvironment other = *this;
        other.control_ &= ~flush_bit;
        return other;
    }

  private:
    static constexpr std::uint64_t flush_bit = std::uint64_t{1} << 24;
    std::uint64_t control_ = 0;
};

#else

// Standard C++ can read only the rounding mode cheaply.
class FloatEnvironment {
  public:
    static FloatEnvironment current() noexcept {
        FloatEnvironment now;
        now.rounding_ = std::fegetround();
        return now;
    }
    void install() const noexcept { std::fesetround(rounding_); }
    friend bool operator==(const FloatEnvironment&, const FloatEnvironment&) = default;
    FloatEnvironment with_denormals() const noexcept { return *this; }

  private:
    int rounding_ = FE_TONEAREST;
};

#endif

}  // namespace nw
