// SPDX-License-Identifier: Apache-2.0
// Bad addresses, bad instructions, stack overflow.
#include <alloca.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <functional>

#include "kind.hpp"

namespace hostile {
namespace {

void read_at(std::uintptr_t address) { hidden(*hidden(reinterpret_cast<volatile int*>(address))); }
void write_at(std::uintptr_t address) { *hidden(reinterpret_cast<volatile int*>(address)) = 1; }

void read_null(Scene&) { read_at(0); }
void write_null(Scene&) { write_at(0); }
void read_member_of_null(Scene&) { read_at(0x48); }
void write_wild(Scene&) { write_at(0xdeadbeef000); }
void write_noncanonical(Scene&) { write_at(0x8000'0000'0000'0000); }
void read_kernel(Scene&) { read_at(0xffff'ffff'8000'0000); }

void misaligned_vector(Scene&) {
    alignas(16) char bytes[64] = {};
    asm volatile("movaps 1(%0), %%xmm0" : : "r"(&bytes[0]) : "xmm0", "memory");
}

void call_null(Scene&) { hidden<void (*)()>(nullptr)(); }

void call_data(Scene&) {
    static int not_code[4] = {};
    hidden(reinterpret_cast<void (*)()>(&not_code))();
}

struct Base {
    virtual ~Base() = default;
    virtual int value() const { return 1; }
};

void virtual_call_on_null(Scene&) {
    const Base* const object = hidden<const Base*>(nullptr);
    hidden(object->value());
}

void virtual_call_on_zeros(Scene&) {
    alignas(Base) char bytes[sizeof(Base)] = {};
    hidden(hidden(reinterpret_cast<const Base*>(&bytes))->value());
}

struct Abstract {
    Abstract() { call(); }
    virtual ~Abstract() = default;
    virtual void value() = 0;
    [[gnu::noinline]] void call() { hidden(this)->value(); }
};
struct Concrete : Abstract {
    void value() override {}
};

void pure_virtual_call(Scene&) {
    Concrete object;
    hidden(&object);
}

void divide_by_zero(Scene&) {
    volatile int zero = 0;
    volatile int seven = 7919;
    seven = seven / zero;
}

void remainder_by_zero(Scene&) {
    volatile long zero = 0;
    volatile long seven = 7919;
    seven = seven % zero;
}

void divide_smallest(Scene&) {
    volatile int smallest = INT_MIN;
    volatile int minus_one = -1;
    smallest = smallest / minus_one;
}

[[gnu::noinline]] int descend(volatile int* depth) {
    volatile int here[64] = {};
    *depth = *depth + 1;
    here[*depth % 64] = *depth;
    return *depth > 0 ? descend(depth) + here[0] : 0;
}

void recurse(Scene&) {
    volatile int depth = 0;
    descend(&depth);
}

void recurse_through_function(Scene&) {
    std::function<int(int)> self;
    self = [&self](int depth) { return hidden(self(depth + 1)) + 1; };
    hidden(self(0));
}

// Takes the stack page by page, as compilers do: a larger step could miss the guard page.
[[gnu::noinline]] void take_stack(std::size_t bytes) {
    for (std::size_t taken = 0; taken < bytes; taken += 4096) {
        auto* const page = static_cast<volatile char*>(alloca(4096));
        page[0] = 1;
    }
}

void alloca_too_much(Scene&) { take_stack(std::size_t{1} << 30); }

[[gnu::noinline]] void overwrite_return_address() {
    auto** const frame = static_cast<void**>(__builtin_frame_address(0));
    hidden(frame)[1] = nullptr;
}

void smash_return_address(Scene&) { overwrite_return_address(); }

void illegal_instruction(Scene&) { asm volatile("ud2"); }
void breakpoint(Scene&) { asm volatile("int3"); }
void privileged_instruction(Scene&) { asm volatile("hlt"); }

void beyond_end_of_file(Scene&) {
    const int file = ::memfd_create("hostile", 0);
    if (::ftruncate(file, 4096) != 0) return;
    auto* const page = static_cast<volatile char*>(
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    static_cast<void>(!::ftruncate(file, 0));
    ::close(file);
    page[0] = 1;
}

void write_to_code(Scene&) {
    *hidden(reinterpret_cast<volatile char*>(reinterpret_cast<std::uintptr_t>(&write_null))) = 1;
}

void write_to_constant(Scene&) {
    static const char text[] = "a constant";
    *const_cast<volatile char*>(hidden(&text[0])) = 'A';
}

void copy_from_nowhere(Scene&) {
    char bytes[256];
    std::memcpy(hidden(&bytes[0]), hidden(reinterpret_cast<const char*>(0x10)), sizeof bytes);
    hidden(&bytes[0]);
}

void length_of_null(Scene&) { hidden(std::strlen(hidden<const char*>(nullptr))); }

void print_from_nowhere(Scene&) {
    char line[64];
    std::snprintf(line, sizeof line, "%s", hidden(reinterpret_cast<const char*>(0x10)));
    hidden(&line[0]);
}

// Many models do this: they read memory that they have not written.
void read_uninitialized(Scene&) {
    auto* const numbers = new std::uint32_t[1000];
    std::uint32_t sum = 0;
    for (int i = 0; i < 1000; ++i) sum += hidden(numbers)[i];
    delete[] numbers;
    if (hidden(sum) == 12345) crash();
}

constexpr Kind table[] = {
    {"null-read", "reads through a null pointer", "SIGSEGV", read_null},
    {"null-write", "writes through a null pointer", "SIGSEGV", write_null},
    {"null-member", "reads a member through a null pointer", "SIGSEGV", read_member_of_null},
    {"wild-write", "writes to an unmapped address", "SIGSEGV", write_wild},
    {"noncanonical-write", "writes to a non-canonical address", "SIGSEGV", write_noncanonical},
    {"kernel-read", "reads from the kernel's memory", "SIGSEGV", read_kernel},
    {"misaligned-vector", "loads a vector from a misaligned address", "SIGSEGV", misaligned_vector},
    {"null-call", "calls a function through a null pointer", "SIGSEGV", call_null},
    {"data-call", "calls data as a function", "SIGSEGV", call_data},
    {"null-virtual-call", "calls a virtual function of a null pointer", "SIGSEGV",
     virtual_call_on_null},
    {"zeros-virtual-call", "calls a virtual function of an object of zeros", "SIGSEGV",
     virtual_call_on_zeros},
    {"pure-virtual-call", "calls a function that is pure virtual", "SIGABRT", pure_virtual_call,
     talks},
    {"division-by-zero", "divides a whole number by zero", "SIGFPE", divide_by_zero},
    {"remainder-by-zero", "takes a remainder modulo zero", "SIGFPE", remainder_by_zero},
    {"division-overflow", "divides the smallest int by -1", "SIGFPE", divide_smallest},
    {"endless-recursion", "calls itself without end", "SIGSEGV", recurse},
    {"endless-recursion-function", "calls itself without end through a std::function", "SIGSEGV",
     recurse_through_function},
    {"alloca-too-much", "takes a GiB of stack, page by page", "SIGSEGV", alloca_too_much},
    {"return-address-smashed", "overwrites its own return address", "SIGSEGV",
     smash_return_address},
    {"illegal-instruction", "executes an invalid instruction", "SIGILL", illegal_instruction},
    {"breakpoint", "runs into a breakpoint", "SIGTRAP", breakpoint},
    {"privileged-instruction", "executes a privileged instruction", "SIGSEGV",
     privileged_instruction},
    {"beyond-end-of-file", "writes to a mapped file beyond its end", "SIGBUS", beyond_end_of_file},
    {"write-to-code", "writes to the program's code", "SIGSEGV", write_to_code},
    {"write-to-constant", "writes to a constant of the program", "SIGSEGV", write_to_constant},
    {"copy-from-nowhere", "copies from a bad address with the C library", "SIGSEGV",
     copy_from_nowhere},
    {"length-of-null", "calls strlen() with a null pointer", "SIGSEGV", length_of_null},
    {"print-from-nowhere", "formats a string from a bad address", "SIGSEGV", print_from_nowhere},
    {"uninitialized-read", "reads uninitialized memory", nullptr, read_uninitialized},
};

}  // namespace

std::span<const Kind> pointers() { return table; }

}  // namespace hostile
