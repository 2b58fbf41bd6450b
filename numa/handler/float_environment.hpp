// The part of a thread's floating-point environment that changes results: rounding, flushing of
// denormal numbers, precision, traps. Not the sticky flags, which every operation sets and which are
// undefined when a handler begins.
//
// The kernel gives a signal handler a fresh environment, and who leaves it by a jump keeps that. A
// handler of a model may change it, too. So the engine compares after each handler: two stores by
// the processor and two comparisons.
#pragma once

#include <cfenv>
#include <cstdint>

namespace nw {

#if defined(__x86_64__)

class FloatEnvironment {
  public:
    // The calling thread's.
    static FloatEnvironment current() noexcept {
        FloatEnvironment now;
        asm volatile("stmxcsr %0" : "=m"(now.sse_));
        asm volatile("fnstcw %0" : "=m"(now.x87_));
        now.sse_ &= control_bits;
        return now;
    }

    // Makes it the calling thread's, with the flags cleared and the x87 stack empty: a jump may have
    // left a computation amid.
    void install() const noexcept {
        asm volatile("fninit\n\tfldcw %0" : : "m"(x87_));
        asm volatile("ldmxcsr %0" : : "m"(sse_));
    }

    friend bool operator==(const FloatEnvironment&, const FloatEnvironment&) = default;

    // With denormal numbers, which -ffast-math takes from a program that is linked with it.
    FloatEnvironment with_denormals() const noexcept {
        FloatEnvironment other = *this;
        other.sse_ &= ~flush_bits;
        return other;
    }

  private:
    static constexpr std::uint32_t control_bits = 0xffc0;  // all of MXCSR but its six flags
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

// Rounding is all that the standard lets us read cheaply.
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
