// SPDX-License-Identifier: Apache-2.0
// A kind of misbehavior: a name, one sentence, and a function that does it. hostile.cpp makes a
// handler call the function, in order or out of order. The kinds are in files by theme, each with
// one table.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

namespace hostile {

// The hook that calls the function. All hooks except on_event and can_end get final events only, or
// none at all, so that kinds of these hooks happen in order only.
enum class Hook : std::uint8_t {
    on_event,
    can_end,
    on_commit,
    on_start,
    on_end,
    constructor,
    destructor,
    setup,
    finished,
};

// Properties of a kind that the driver (hostile.py) needs, as bits.
enum Trait : unsigned {
    // It changes something that an LP's members point to: rollback method `copy` does not restore
    // that.
    keeps_heap = 1,
    // A library prints its own text when it ends the program.
    talks = 2,
    // Each time takes long: out of order it is done three times per process, and not whenever a
    // number is missing.
    dear = 4,
    // In order it has no effect that the engine could detect, or an effect that differs each time.
    // It runs out of order only.
    only_out_of_order = 8,
    // Writes output rows.
    writes_rows = 16,
    // It leaves something outside of its LP. In order, the run ends with one line, or it continues
    // and a notice names what was left: this depends on the next event that meets it. Out of order,
    // an event that is executed again in coasting may meet it: then the run ends with one line.
    leaves_behind = 32,
    // It needs both LPs that count, 0 and 7. It does not run on two ranks, where each rank has one
    // of them.
    one_process = 64,
    // Out of order it writes to memory of other LPs, which nothing prevents. The run may have any
    // outcome except a hang, an end without a line, or more memory than the cap.
    hurts_others = 128,
};

// Memory that setup() allocates. Handlers may only read it.
struct SetUpData {
    std::vector<int> numbers{1, 2, 3, 4, 5, 6, 7, 8};
    std::map<int, std::string> names{{1, "one"}, {2, "two"}};
    std::shared_ptr<std::string> word = std::make_shared<std::string>("shared by all LPs");
    int* block = new int(5);
    char* text = nullptr;  // 64 bytes from malloc
};

// The data that a kind's function can use.
class Scene {
  public:
    Scene(nw::Context* context, const SetUpData& data, std::shared_ptr<void>& kept,
          std::uint64_t number, bool in_order) noexcept
        : data(data), number(number), in_order(in_order), context_(context), kept_(kept) {}

    // Requires: the hook is on_event, on_start or on_end.
    nw::Context& context() const noexcept { return *context_; }

    // The kind's own object in the LP's heap, which stays from event to event.
    template <class T>
    T& kept() const {
        if (!kept_) kept_ = std::make_shared<T>();
        return *static_cast<T*>(kept_.get());
    }

    const SetUpData& data;
    const std::uint64_t number;  // number of events that the LP has counted, with this one
    const bool in_order;         // the run has --when in-order

  private:
    nw::Context* context_;
    std::shared_ptr<void>& kept_;
};

struct Kind {
    const char* name;
    const char* sentence;
    // In order: a part of the line with which the run ends. Null: the run continues to its end.
    const char* says;
    void (*act)(Scene&);
    unsigned traits = 0;
    Hook hook = Hook::on_event;
    // LPs call this at every event that they count, before `act`. It is correct, and prepares the
    // fault.
    void (*each)(Scene&) = nullptr;
};

std::span<const Kind> exceptions();
std::span<const Kind> broken_exceptions();
std::span<const Kind> floating_point();
std::span<const Kind> pointers();
std::span<const Kind> signals();
std::span<const Kind> endings();
std::span<const Kind> blocks();
std::span<const Kind> allocations();
std::span<const Kind> containers();
std::span<const Kind> language();
std::span<const Kind> loops();
std::span<const Kind> libraries();
std::span<const Kind> context_calls();
std::span<const Kind> hooks();

// Returns `value`. The compiler cannot deduce anything about the result.
template <class T>
[[gnu::noinline]] T hidden(T value) {
    asm volatile("" : "+r"(value) : : "memory");
    return value;
}

inline bool always() { return hidden(1) != 0; }

// The most common fault.
[[gnu::noinline]] inline void crash() { *hidden<volatile int*>(nullptr) = 1; }

}  // namespace hostile
