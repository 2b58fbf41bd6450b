// What a process can wait for. Every wait is an object in the frame of the coroutine that waits: an Awaited,
// which happens once, and then wakes the process that awaits it, or the condition (any_of, all_of) of
// which it is a part. No wait allocates memory, and all of them end with their scope: what has not happened
// by then is withdrawn.
//
// Awaited objects have a place in queues, so that they are neither copied nor moved.
#pragma once

#include <any>
#include <exception>
#include <utility>

#include <numawarp/process/source_location.hpp>

namespace nw {

class Environment;
class Within;

// What the process that is interrupted gets: thrown by its co_await, or returned by
// co_await nw::interruptible(…).
class Interrupt final : public std::exception {
  public:
    // What Process::interrupt() makes of its argument.
    explicit Interrupt(std::any cause) noexcept : cause_(std::move(cause)) {}
    // The words of the failure where nobody catches it.
    const char* what() const noexcept override {
        return "a process was interrupted where it did not expect it";
    }
    // What interrupt() was given, if it is a T; else null.
    template <class T>
    const T* cause() const noexcept {
        return std::any_cast<T>(&cause_);
    }

  private:
    std::any cause_;
};

namespace detail {

class Condition;
struct ProcessState;
template <class Node>
class Queue;

// A member of a queue that does not own it. Alone it points at itself; a queue is a ring with one Link
// that is nobody's.
class Link {
  public:
    Link() noexcept = default;
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    bool is_alone() const noexcept { return next == this; }
    void insert_before(Link& other) noexcept {
        previous = other.previous;
        next = &other;
        previous->next = this;
        other.previous = this;
    }
    void unlink() noexcept {
        previous->next = next;
        next->previous = previous;
        previous = next = this;
    }

    Link* previous = this;
    Link* next = this;
};

}  // namespace detail

// The base of all that a process may wait for.
class Awaited : private detail::Link {
  public:
    // Whether it has happened, also if nobody awaited it at that time.
    bool happened() const noexcept {
        note_used();
        return happened_;
    }
    // As happened().
    explicit operator bool() const noexcept { return happened(); }

    // co_await awaited.within(time): true if it happens in that time. Else it goes on waiting until
    // its scope ends, and may be awaited again. Requires: time ≥ 0; a breach is a ModelError, which names `where`.
    Within within(double time, SourceLocation where = SourceLocation::current()) &;

    // The rest is for co_await. This one: a co_await in which it took part has returned, and not been
    // interrupted.
    void accept() noexcept { accepted_ = happened_; }
    // That of the LP.
    Environment& env() const noexcept { return *env_; }

  protected:
    // Requires: an event of the environment's LP; a breach is a ModelError.
    explicit Awaited(Environment& env);
    ~Awaited() = default;

    // `failure`: what whoever awaits it gets thrown, if it is not null. It must outlive this.
    void happen(const std::exception_ptr& failure) noexcept {
        failure_ = failure == nullptr ? nullptr : &failure;
        happen();
    }
    // Now it happens: who awaits it goes on at this instant.
    void happen() noexcept;
    // A co_await has begun to wait for it, or somebody has asked whether it has happened.
    void note_used() const noexcept { used_ = true; }
    // For the end of the object's scope. Without one of these two it had no effect: the event fails. Where an exception
    // or the end of the run ends the scope, the process may have been about to await the object.
    void check_used() const noexcept {
        if (!used_) [[unlikely]]
            note_unused();
    }
    // Whether a co_await has returned with it; if not, what it holds goes back.
    bool was_accepted() const noexcept { return accepted_; }

  private:
    friend class detail::Condition;
    friend class Environment;
    template <class Node>
    friend class detail::Queue;
    template <class Operand, bool returns_interrupt>
    friend class Waiting;

    // Requires: nobody awaits it; and who is to await it, or is, belongs to that environment. A breach is a
    // ModelError.
    void check_free(const Environment* env) const;
    void note_unused() const noexcept;
    void throw_failure() const {
        if (failure_ != nullptr) [[unlikely]]
            std::rethrow_exception(*failure_);
    }

    Environment* env_;
    detail::Condition* part_of_ = nullptr;
    detail::ProcessState* process_ = nullptr;  // who awaits it
    const std::exception_ptr* failure_ = nullptr;
    bool happened_ = false;
    mutable bool used_ = false;
    bool accepted_ = false;
};

namespace detail {

// The order in which Nodes, classes derived from Awaited, are served.
template <class Node>
class Queue {
  public:
    bool is_empty() const noexcept { return ring_.is_alone(); }
    Node& front() noexcept { return node(*ring_.next); }
    Node& back() noexcept { return node(*ring_.previous); }
    void push_back(Node& added) noexcept { link(added).insert_before(ring_); }
    static void remove(Node& node) noexcept { link(node).unlink(); }
    static bool has(const Node& node) noexcept {
        return !static_cast<const Link&>(static_cast<const Awaited&>(node)).is_alone();
    }

    // Behind all that are not after it: comes_after(other, added).
    template <class Order>
    void insert(Node& added, Order&& comes_after) {
        Link* place = &ring_;
        while (place->previous != &ring_ && comes_after(node(*place->previous), added))
            place = place->previous;
        link(added).insert_before(*place);
    }
    // visit(node) may remove its node; it says whether to go on.
    template <class Visit>
    void visit(Visit&& visit) {
        for (Link* at = ring_.next; at != &ring_;) {
            Link* next = at->next;
            if (!visit(node(*at))) return;
            at = next;
        }
    }

  private:
    static Link& link(Node& node) noexcept { return static_cast<Awaited&>(node); }
    static Node& node(Link& link) noexcept {
        return static_cast<Node&>(static_cast<Awaited&>(link));
    }
    Link ring_;
};

}  // namespace detail
}  // namespace nw
