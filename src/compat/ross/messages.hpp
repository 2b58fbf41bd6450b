// SPDX-License-Identifier: Apache-2.0
// The layout of messages in the payload of an event, and in the memory in which a model writes
// them.
//
// A payload contains the message as it was sent. If the model has reverse or commit handlers, two
// more parts are before the sent message: a tw_bf, and the message as the event handler left it.
//
// The model accesses each message at the end of separate pages, and the next page is inaccessible.
// An access beyond the size that tw_define_lps() received is thus a fault, which is described in
// one line. The size of a message is rounded up to a multiple of 8 bytes. The bytes after the
// declared size contain check bits, which are compared when the model has finished with the
// message.
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

// The main thread sets `layout` before the run. All workers read it.
struct MessageLayout {
    std::size_t message = 8;  // bytes of a message, a multiple of 8
    std::size_t kept = 0;     // bytes of a tw_bf and of the message as its handler left it, or 0
    std::uint64_t last = 0;   // the last word of a message whose declared bytes are 0
    std::uint64_t ours = 0;   // mask of the check bits in the last word

    MessageLayout() = default;
    // Messages have `declared` bytes. `keeps`: the model has a reverse or commit handler, which
    // reads the message as the event handler left it.
    MessageLayout(std::size_t declared, bool keeps);

    std::size_t payload() const { return kept + message; }

    // Returns false if the model has written beyond the declared size. `bytes` is equal to
    // `message`. It is a parameter, because for some callers this number is a constant.
    bool is_within(const std::byte* of_model, std::size_t bytes) const {
        if (ours == 0) return true;
        std::uint64_t now;
        std::memcpy(&now, of_model + bytes - sizeof now, sizeof now);
        return ((now ^ last) & ours) == 0;
    }
};
extern MessageLayout layout;

// The bytes of the tw_bf, which are before the message that a handler receives.
constexpr std::size_t bits_bytes = 8;
static_assert(sizeof(tw_bf) <= bits_bytes);

// The error text for a message with a write beyond the declared size.
std::string larger_than_declared();

// The arguments of the running handler's call of tw_lp_suspend(). `lp` is null if there was no
// call.
struct Suspension {
    tw_lp* lp;
    bool reverses;
    int error;
};

// The kind of the running handler. Event handlers: `event_copied` after tw_snapshot(), and then
// `event_differs` after tw_snapshot_delta().
enum class Stage : std::uint8_t { none, other, event, event_copied, event_differs, reverse };

// Data about the handler that a thread executes, and the worker's pages for the messages that this
// handler reads and writes. Each worker allocates one object. The object is not a thread-local
// variable, because --check-model requires that handlers do not change thread-local variables.
class Call : public numawarp_ross_call {
  public:
    // For a thread that executes no handlers.
    constexpr Call() : numawarp_ross_call{0, outside, 0, 0, 0, 0} {}
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call();

    // Creates the calling thread's object and its pages, which exist until the thread ends. Further
    // calls do nothing. Requires: `layout` is set, and the thread has executed no handler. Throws
    // std::bad_alloc.
    static void reserve();

    // Begins a handler. `context` is null for a handler that creates no events.
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
    bool is_in_handler() const { return stage != Stage::none; }
    // Null outside of handlers that create events.
    Context* context() const { return next != outside ? context_ : nullptr; }
    // Like context(). Requires: the running handler creates events.
    Context& known_context() const { return *context_; }

    // The message that the handler receives. The bytes before it are for the tw_bf.
    std::byte* handled() const { return handled_; }

    // Makes the memory of one more event writable. Returns false if there are already events_max
    // events. Throws std::bad_alloc.
    bool make_ready();
    // Whether `event` is the newest event that was not released. Always false outside of handlers
    // that create events.
    bool made_last(const tw_event* event) const {
        return reinterpret_cast<std::uintptr_t>(event) + stride == next;
    }
    // Releases the memory of the newest event for another event.
    void release(const tw_event* event) { next = reinterpret_cast<std::uintptr_t>(event); }
    // Whether the running handler created `event` and did not release it. The end of the handler
    // releases all events.
    bool holds(const tw_event* event) const {
        const auto room = reinterpret_cast<std::uintptr_t>(event);
        return room >= first_ && room < next;
    }

    // Whether the address is in this thread's pages, or in an inaccessible page between them.
    bool contains(const void* address) const {
        return address >= pages_ && address < pages_ + bytes_;
    }

    static constexpr std::size_t events_max = 256;  // created and not sent

    Suspension suspension{};

    Stage stage = Stage::none;
    std::vector<std::byte> copy;        // the bytes of the state that tw_snapshot() copied
    Difference made;                    // by tw_snapshot_delta() in an event handler
    const Difference* found = nullptr;  // the difference that a reverse handler restores, or null

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
