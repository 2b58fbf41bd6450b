// SPDX-License-Identifier: Apache-2.0
// Changes that a handler makes to its thread's floating-point environment. These changes must not
// affect the next handler.
#include <cfenv>

#include <xmmintrin.h>

#include "kind.hpp"

namespace hostile {
namespace {

template <void (*change)()>
void only(Scene&) {
    change();
}

template <void (*change)()>
void and_crash(Scene&) {
    change();
    crash();
}

template <void (*change)()>
void and_throw(Scene&) {
    change();
    throw 3;
}

void round_upward() { std::fesetround(FE_UPWARD); }

void flush_to_zero() { _mm_setcsr(_mm_getcsr() | 0x8040u); }

void lower_precision() {
    unsigned short word = 0;
    asm volatile("fnstcw %0" : "=m"(word));
    word = static_cast<unsigned short>(word & ~0x300u);
    asm volatile("fldcw %0" : : "m"(word));
}

void fill_x87() { asm volatile("fld1; fld1; fld1; fld1; fld1; fld1; fld1; fld1"); }

void use_mmx() { asm volatile("movq %%xmm0, %%rax; movq %%rax, %%mm0" : : : "rax"); }

void enable_traps() { ::feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW); }

void divide_with_traps(Scene&) {
    enable_traps();
    volatile double zero = 0;
    zero = 1 / zero;
}

void go_backward() { asm volatile("std"); }

void go_backward_and_crash(Scene&) {
    go_backward();
    crash();
}

// With the alignment-check flag, the processor refuses unaligned accesses.
[[gnu::noinline]] void read_misaligned(Scene&) {
    volatile char bytes[16] = {};
    asm volatile(
        "sub $128, %%rsp\n\t"  // the compiler may use memory below the stack pointer
        "pushfq\n\t"
        "orq $0x40000, (%%rsp)\n\t"
        "popfq\n\t"
        "add $128, %%rsp\n\t"
        "movl 1(%0), %%eax\n\t"
        "sub $128, %%rsp\n\t"
        "pushfq\n\t"
        "andq $~0x40000, (%%rsp)\n\t"
        "popfq\n\t"
        "add $128, %%rsp"
        :
        : "r"(&bytes[0])
        : "rax", "memory", "cc");
}

void step_by_step(Scene&) {
    asm volatile(
        "sub $128, %%rsp\n\t"
        "pushfq\n\t"
        "orq $0x100, (%%rsp)\n\t"
        "popfq\n\t"
        "nop\n\t"
        "add $128, %%rsp"
        :
        :
        : "memory", "cc");
}

constexpr Kind table[] = {
    {"rounding-changed", "changes the rounding mode and returns", nullptr, only<round_upward>},
    {"rounding-changed-crash", "changes the rounding mode and crashes", "SIGSEGV",
     and_crash<round_upward>},
    {"rounding-changed-throw", "changes the rounding mode and throws", "not a std::exception",
     and_throw<round_upward>},
    {"flush-to-zero", "flushes denormal numbers to zero and returns", nullptr, only<flush_to_zero>},
    {"flush-to-zero-crash", "flushes denormal numbers to zero and crashes", "SIGSEGV",
     and_crash<flush_to_zero>},
    {"x87-precision", "lowers the precision of the x87 and returns", nullptr,
     only<lower_precision>},
    {"x87-precision-crash", "lowers the precision of the x87 and crashes", "SIGSEGV",
     and_crash<lower_precision>},
    {"x87-full", "leaves the registers of the x87 full and returns", nullptr, only<fill_x87>},
    {"x87-full-crash", "leaves the registers of the x87 full and crashes", "SIGSEGV",
     and_crash<fill_x87>},
    {"mmx-left", "uses MMX without a final EMMS", nullptr, only<use_mmx>},
    {"traps-enabled", "enables floating-point traps and continues", "SIGFPE", only<enable_traps>},
    {"traps-enabled-divide", "enables floating-point traps and divides by zero", "SIGFPE",
     divide_with_traps},
    {"direction-flag-crash", "crashes with the direction flag set", "SIGSEGV",
     go_backward_and_crash},
    {"alignment-check", "reads a misaligned word with the alignment check on", "SIGBUS",
     read_misaligned},
    {"trap-flag", "sets the trap flag of the processor", "SIGTRAP", step_by_step},
};

}  // namespace

std::span<const Kind> floating_point() { return table; }

}  // namespace hostile
