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

#include <ross.h>

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

// A worker's pages, for the messages of the event that it executes. One for each thread, and
// not a variable of it: --check-model holds a handler to leaving those as they were.
class MessagePages {
  public:
    MessagePages() = default;
    MessagePages(const MessagePages&) = delete;
    MessagePages& operator=(const MessagePages&) = delete;

    // Before anything else, with `layout` known; a second time nothing. Throws std::bad_alloc. They are given back
    // when the thread ends.
    static void reserve();

    // The message that the handler is given. Before it is room for what is kept.
    std::byte* handled() const { return handled_; }

    // A handler begins: it has made no event.
    void begin() { next_ = first_; }
    // Room for an event, with its message behind it and room for what is kept before that.
    bool has_room() const { return next_ != beyond_ready_; }
    tw_event* make() {
        auto* const event = reinterpret_cast<tw_event*>(next_);
        next_ += stride_;
        return event;
    }
    // Now there is room. False: there are events_max already. Throws std::bad_alloc.
    bool make_ready();
    // Gives back the room of the event that was made last. False: it is not that one.
    bool release_last(tw_event* event) {
        auto* const room = reinterpret_cast<std::byte*>(event);
        if (room + stride_ != next_) return false;
        next_ = room;
        return true;
    }
    // Made and not given back. What was not goes when the handler has returned.
    bool holds(const tw_event* event) const { return event >= first() && event < next(); }

    // Whether the address lies in this thread's pages, or between them.
    bool contains(const void* address) const {
        return address >= pages_ && address < pages_ + bytes_;
    }
    ~MessagePages();

    static constexpr std::size_t events_max = 256;

  private:
    void map();

    const tw_event* first() const { return reinterpret_cast<const tw_event*>(first_); }
    const tw_event* next() const { return reinterpret_cast<const tw_event*>(next_); }

    std::byte* first_ = nullptr;
    std::byte* next_ = nullptr;
    std::byte* beyond_ready_ = nullptr;
    std::size_t stride_ = 0;
    std::byte* handled_ = nullptr;
    std::byte* pages_ = nullptr;
    std::size_t bytes_ = 0;
};
extern __thread MessagePages* messages;  // of this thread

}  // namespace nw::ross
