// A kind of misbehaviour: a name, one sentence, and a function that does it. hostile.cpp has a handler
// call it, in order or out of order; the kinds stand in files by theme, each with one table.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

namespace hostile {

// Who calls the function. All but on_event and can_end see final events only, or none at all: kinds
// of these hooks can only be had in order.
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

// What the driver must know of a kind besides, as bits.
enum Trait : unsigned {
    // Something that an LP's members point to changes: copy does not bring that back.
    keeps_heap = 1,
    // A library prints words of its own when it ends the program.
    talks = 2,
    // Each time takes long: out of order it is done a few times, and not whenever a number is missing.
    dear = 4,
    // In order it does nothing that the engine could see, or nothing that is alike each time: it is
    // run out of order only.
    only_out_of_order = 8,
    // Writes output rows.
    writes_rows = 16,
    // What it leaves lies outside of its LP: in order the run ends with one line, or goes on and a notice
    // names it, as the next event to meet it decides. Out of order an event that is executed again in
    // coasting may meet it: the run ends with one line.
    leaves_behind = 32,
    // Needs both LPs that count, 0 and 7: it is not run on two ranks, where each has one.
    one_process = 64,
    // Out of order it writes to memory of other LPs, which nothing hinders it to do: the run may come to
    // anything but a hang, an end without a line or more memory than it may have.
    hurts_others = 128,
};

// Memory that setup() makes and that handlers may only read.
struct SetUpData {
    std::vector<int> numbers{1, 2, 3, 4, 5, 6, 7, 8};
    std::map<int, std::string> names{{1, "one"}, {2, "two"}};
    std::shared_ptr<std::string> word = std::make_shared<std::string>("shared by all LPs");
    int* block = new int(5);
    char* text = nullptr;  // 64 bytes from malloc
};

// What a kind's function has at hand.
class Scene {
  public:
    Scene(nw::Context* context, const SetUpData& data, std::shared_ptr<void>& kept,
          std::uint64_t number, bool in_order) noexcept
        : data(data), number(number), in_order(in_order), context_(context), kept_(kept) {}

    // Not in on_commit, can_end, constructors and destructors.
    nw::Context& context() const noexcept { return *context_; }

    // An object of the kind's own in the LP's heap, that stays from event to event.
    template <class T>
    T& kept() const {
        if (!kept_) kept_ = std::make_shared<T>();
        return *static_cast<T*>(kept_.get());
    }

    const SetUpData& data;
    const std::uint64_t number;  // how many events the LP has counted, with this one
    const bool in_order;         // the event is executed in order, or will be once more

  private:
    nw::Context* context_;
    std::shared_ptr<void>& kept_;
};

struct Kind {
    const char* name;
    const char* sentence;
    // In order: a part of the one line with which the run ends; null: the run goes on to its end.
    const char* says;
    void (*act)(Scene&);
    unsigned traits = 0;
    Hook hook = Hook::on_event;
    // What LPs do at every event that they count, before that: correct, and made ready to go wrong.
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

// The same value, of which the compiler knows nothing.
template <class T>
[[gnu::noinline]] T hidden(T value) {
    asm volatile("" : "+r"(value) : : "memory");
    return value;
}

inline bool always() { return hidden(1) != 0; }

// The commonest way to go wrong.
[[gnu::noinline]] inline void crash() { *hidden<volatile int*>(nullptr) = 1; }

}  // namespace hostile
