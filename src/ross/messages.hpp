// Where messages lie: in the payload of an event, and in the memory in which a model writes them.
//
// A payload is the message as it was sent and, where a reverse or a commit handler will ask for it, before that a
// tw_bf and the message as the handler left it.
//
// A model gets every message at the end of pages of its own, behind which nothing may be touched: what goes beyond
// the size that tw_define_lps() was told is a fault there, and described. What is left up to a multiple of 8 bytes holds
// bits of ours, which are looked at when the model has done with the message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <ross.h>

#include "differences.hpp"

namespace nw {
class Context;
}

namespace nw::ross {

// Written before the run, and then read by all workers.
struct MessageLayout {
    std::size_t message = 8;  // its bytes, a multiple of 8
    std::size_t kept = 0;     // those of a tw_bf and of the message as a handler left it; or 0
    std::uint64_t last = 0;   // the last word of a message that is zero
    std::uint64_t ours = 0;   // those of its bits that are beyond the message

    MessageLayout() = default;
    // Messages of `declared` bytes; `keeps`: a reverse or commit handler asks for what a handler left.
    MessageLayout(std::size_t declared, bool keeps);

    std::size_t payload() const { return kept + message; }

    // False: somebody has written beyond the message. `bytes`: message, where it is known.
    bool is_within(const std::byte* of_model, std::size_t bytes) const {
        if (ours == 0) return true;
        std::uint64_t now;
        std::memcpy(&now, of_model + bytes - sizeof now, sizeof now);
        return ((now ^ last) & ours) == 0;
    }
};
extern MessageLayout layout;

// Before a message that a handler is given.
constexpr std::size_t bits_bytes = 8;
static_assert(sizeof(tw_bf) <= bits_bytes);

// What is said of a message that is not within its size.
std::string larger_than_declared();

// What tw_lp_suspend() asked for in a handler. No LP: nothing.
struct Suspension {
    tw_lp* lp;
    bool reverses;
    int error;
};

// What a handler is, and in an event handler how far it is with tw_snapshot() and tw_snapshot_delta().
enum class Stage : std::uint8_t { none, other, event, event_copied, event_differs, reverse };

// The handler that a thread is in, and a worker's pages for the messages of the event that it executes. One for each
// worker, and not a variable of the thread: --check-model holds a handler to leaving those as they were.
class Call : public numawarp_ross_call {
  public:
    // Of a thread that executes nothing.
    constexpr Call() : numawarp_ross_call{0, outside, 0, 0, 0, 0} {}
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call();

    // Before anything else, with `layout` known; a second time nothing. Throws std::bad_alloc. They are given back
    // when the thread ends.
    static void reserve();

    // No context: a handler that makes no events.
    void begin(Context* context, tw_stime time, Stage in = Stage::other) {
        now = time;
        stage = in;
        context_ = context;
        next = context != nullptr ? first_ : outside;
        suspension.lp = nullptr;
    }
    void finish() {
        next = outside;
        stage = Stage::none;
    }
    // The thread is in a handler of some kind.
    bool is_in_handler() const { return stage != Stage::none; }
    // Null outside of handlers that make events.
    Context* context() const { return next != outside ? context_ : nullptr; }
    // The same, in such a handler.
    Context& known_context() const { return *context_; }

    // The message that the handler is given. Before it is room for what is kept.
    std::byte* handled() const { return handled_; }

    // Now there is room for an event. False: there are events_max already. Throws std::bad_alloc.
    bool make_ready();
    // False also outside of such a handler.
    bool made_last(const tw_event* event) const {
        return reinterpret_cast<std::uintptr_t>(event) + stride == next;
    }
    // Gives back the room of the event that was made last.
    void release(const tw_event* event) { next = reinterpret_cast<std::uintptr_t>(event); }
    // Made and not given back. What was not goes when the handler has returned.
    bool holds(const tw_event* event) const {
        const auto room = reinterpret_cast<std::uintptr_t>(event);
        return room >= first_ && room < next;
    }

    // Whether the address lies in this thread's pages, or between them.
    bool contains(const void* address) const {
        return address >= pages_ && address < pages_ + bytes_;
    }

    static constexpr std::size_t events_max = 256;

    Suspension suspension{};

    // Of tw_snapshot() and its kin: the first bytes of the state, what has come of them in the event handler, and what
    // the reverse handler finds.
    Stage stage = Stage::none;
    std::vector<std::byte> copy;
    Difference made;
    const Difference* found = nullptr;

  private:
    static constexpr std::uintptr_t outside = UINTPTR_MAX;

    void map();

    Context* context_ = nullptr;
    std::uintptr_t first_ = 0;
    std::byte* handled_ = nullptr;
    std::byte* pages_ = nullptr;
    std::size_t bytes_ = 0;
};
inline Call& this_call() { return *static_cast<Call*>(numawarp_ross_this_call); }

}  // namespace nw::ross
