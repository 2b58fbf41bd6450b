// SPDX-License-Identifier: Apache-2.0
// The objects that a process can wait for. Each wait is an Awaited object in the frame of the
// waiting coroutine, so a wait allocates no memory. An Awaited object happens once. It then wakes
// the process that awaits it, or notifies the condition (any_of, all_of) of which it is a part. An
// object that has not happened when its scope ends is withdrawn.
//
// Awaited objects are linked into queues, so they can be neither copied nor moved.
#pragma once

#include <any>
#include <exception>
#include <utility>

#include <numawarp/process/source_location.hpp>

namespace nw {

class Environment;
class Within;

// The interrupt that a process receives: a plain co_await throws it, and co_await
// nw::interruptible(…) returns it.
class Interrupt final : public std::exception {
  public:
    // Process::interrupt() makes an Interrupt of its argument.
    explicit Interrupt(std::any cause) noexcept : cause_(std::move(cause)) {}
    // The text of the failure if the process does not catch the interrupt.
    const char* what() const noexcept override {
        return "a process was interrupted and did not catch nw::Interrupt";
    }
    // The argument of interrupt(), if it is a T; otherwise null.
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

// A member of a queue; the queue does not own its members. A Link outside of a queue points at
// itself. A queue is a ring of its members and one additional Link.
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

// The base of all objects that a process may wait for.
class Awaited : private detail::Link {
  public:
    // True if the object has happened, even if no process awaited it at that moment.
    bool happened() const noexcept {
        note_used();
        return happened_;
    }
    // Returns happened().
    explicit operator bool() const noexcept { return happened(); }

    // co_await awaited.within(time) returns true if the object happens within this time. Otherwise
    // it returns false. In this case the object remains valid until its scope ends, and may be
    // awaited again. Requires: time ≥ 0; a breach throws a ModelError with the place `where`.
    Within within(double time, SourceLocation where = SourceLocation::current()) &;

    // Called when a co_await with this object has returned without an interrupt.
    void accept() noexcept { accepted_ = happened_; }
    // The environment of the owning LP.
    Environment& env() const noexcept { return *env_; }

  protected:
    // Requires: called in an event of the LP that owns the environment; a breach throws ModelError.
    explicit Awaited(Environment& env);
    ~Awaited() = default;

    // As happen(). If `failure` is not null, the co_await throws it. `failure` must outlive this
    // object.
    void happen(const std::exception_ptr& failure) noexcept {
        failure_ = failure == nullptr ? nullptr : &failure;
        happen();
    }
    // Marks the object as happened. The process that awaits it resumes at this instant.
    void happen() noexcept;
    // Records that a co_await has begun to wait for the object, or that the model has called
    // happened().
    void note_used() const noexcept { used_ = true; }
    // Called at the end of the object's scope. If the object was not awaited and happened() was not
    // called, the object had no effect, so the event fails. The event does not fail if an exception
    // or the end of the run ends the scope, because the process may have been about to await the
    // object.
    void check_used() const noexcept {
        if (!used_) [[unlikely]]
            note_unused();
    }
    // True if a co_await has returned with this object. If not, the derived class gives back the
    // amount that it has received.
    bool was_accepted() const noexcept { return accepted_; }

  private:
    friend class detail::Condition;
    friend class Environment;
    template <class Node>
    friend class detail::Queue;
    template <class Operand, bool returns_interrupt>
    friend class Waiting;

    // `env`: the environment of the process or condition that is to await the object. Throws
    // ModelError if the object is already awaited, or if it has another environment.
    void check_free(const Environment* env) const;
    void note_unused() const noexcept;
    void throw_failure() const {
        if (failure_ != nullptr) [[unlikely]]
            std::rethrow_exception(*failure_);
    }

    Environment* env_;
    detail::Condition* part_of_ = nullptr;
    detail::ProcessState* process_ = nullptr;  // awaits this object
    const std::exception_ptr* failure_ = nullptr;
    bool happened_ = false;
    mutable bool used_ = false;
    bool accepted_ = false;
};

namespace detail {

// The objects of class Node, which derives from Awaited, in the order in which they are served.
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

    // Inserts `added` before the nodes at the end for which comes_after(node, added) is true.
    template <class Order>
    void insert(Node& added, Order&& comes_after) {
        Link* place = &ring_;
        while (place->previous != &ring_ && comes_after(node(*place->previous), added))
            place = place->previous;
        link(added).insert_before(*place);
    }
    // Calls visit(node) for each node until visit() returns false. visit() may remove its node.
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
