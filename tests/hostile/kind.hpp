// SPDX-License-Identifier: Apache-2.0
// A kind of misbehavior: a name, one sentence, and a function that misbehaves. hostile.cpp makes a
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

// The hook that calls the function. Only on_event and can_end are called for events that are not
// final. So kinds of the other hooks happen in order only.
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
    // Changes memory to which an LP's members point. The rollback method `copy` does not restore
    // this memory.
    keeps_heap = 1,
    // A library ends the program, and prints its own text.
    talks = 2,
    // Takes long. Out of order, it is done only three times per process, and not whenever a number
    // is missing.
    dear = 4,
    // In order, it has no effect that the engine could detect, or an effect that differs each time.
    // Therefore it runs out of order only.
    only_out_of_order = 8,
    // Writes output rows.
    writes_rows = 16,
    // Leaves an object outside of its LP. In order, the run ends with one line, or the run
    // continues and a notice reports the object. The outcome depends on the next event that uses
    // the object. Out of order, an event that is executed again in coasting may use the object:
    // then the run ends with one line.
    leaves_behind = 32,
    // Needs both LPs that count, 0 and 7. Therefore it does not run on two ranks, where each rank
    // has one of these LPs.
    one_process = 64,
    // Out of order, it writes to memory of other LPs, and nothing prevents this. The run may have
    // any outcome except a hang, an end without a line, or more memory than the cap.
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

    // The kind's own object in the LP's heap. The object is kept from event to event.
    template <class T>
    T& kept() const {
        if (!kept_) kept_ = std::make_shared<T>();
        return *static_cast<T*>(kept_.get());
    }

    const SetUpData& data;
    const std::uint64_t number;  // number of events that the LP has counted, including this one
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
    // LPs call this function at every event that they count, before `act`. The function is correct,
    // and prepares the fault.
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
