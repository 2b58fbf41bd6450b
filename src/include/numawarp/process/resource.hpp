// SPDX-License-Identifier: Apache-2.0
// A resource of limited capacity: counters, machines, staff.
//
//     auto turn = repairman.request(1);   // 1: before requests with a larger number
//     co_await turn;
//     …                                   // released at the end of the scope, or by turn.release()
//
// If the scope of a request ends before the request was granted, the request leaves the queue. If
// the resource is not free, repairman.preempt(1) takes it from a user with a larger number. The
// request of this user then loses the resource, and the process of this user is interrupted with
// nw::Preempted as the cause.
#pragma once

#include <cstdint>

#include <numawarp/process/awaited.hpp>
#include <numawarp/process/coroutine.hpp>
#include <numawarp/process/environment.hpp>

namespace nw {

class Resource;

// The cause of an interrupt of a process that has lost a Resource.
struct Preempted {
    const Resource* resource;  // the resource that was lost
    VirtualTime since;         // the time at which the process had got the resource
};

// A place in the queue of a Resource, and then the use of the Resource.
class [[nodiscard]] Request final : public Awaited {
  public:
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;
    ~Request() {
        if (process_) check_used();
        release();
    }

    // True if the request has the resource now.
    explicit operator bool() const noexcept {
        note_used();
        return has_resource_;
    }
    // Gives the resource back, or leaves the queue.
    void release() noexcept;
    // The result of co_await: none. Throws ModelError if the request was released or has lost the
    // resource.
    void result() const {
        if (!has_resource_) [[unlikely]]
            throw ModelError(
                "a process waits for an nw::Resource with a request that was released or has lost "
                "the resource; allowed: a new request");
    }

  private:
    friend class Resource;
    Request(Resource& resource, int priority, bool preempts);
    // Requests of equal priority stay in the order of their arrival.
    static bool comes_after(const Request& one, const Request& other) noexcept {
        return one.priority_ > other.priority_;
    }

    Resource* resource_;
    Process process_;  // the process that made the request; no process if the LP itself made it
    VirtualTime since_ = 0;
    int priority_;
    bool has_resource_ = false;
};

// A resource with a queue of requests.
class Resource {
  public:
    // At most `capacity` requests have the resource at a time. Throws ModelError if `capacity` is
    // 0.
    explicit Resource(Environment& env, std::uint32_t capacity = 1)
        : env_(&env), capacity_(capacity) {
        if (capacity == 0) throw ModelError("nw::Resource: the capacity is 0; allowed: 1 or more");
    }
    Resource(const Resource&) = delete;
    Resource& operator=(const Resource&) = delete;

    // Requests the resource. A smaller priority number is served earlier; requests with equal
    // numbers are served first come, first served. Keep the request in a variable: `auto turn =
    // desk.request();`, then `co_await turn;`.
    Request request(int priority = 0) { return Request(*this, priority, false); }
    // As request(), but preemptive. If the resource is not free, it may be taken from the user with
    // the largest number. This happens if that number is larger than `priority`, and if no waiting
    // request has the number `priority` or a smaller number.
    Request preempt(int priority = 0) { return Request(*this, priority, true); }

    // The number of requests that may have the resource at a time.
    std::uint32_t capacity() const noexcept { return capacity_; }
    // The number of requests that have the resource now.
    std::uint32_t in_use() const noexcept { return in_use_; }
    // The number of requests in the queue now.
    std::uint32_t waiting() const noexcept { return waiting_; }

  private:
    friend class Request;
    void enter(Request& request, bool preempts);
    void grant(Request& request) noexcept;
    void take_from(Request& user);
    void serve() noexcept;

    Environment* env_;
    detail::Queue<Request> queue_;
    detail::Queue<Request> users_;  // the last user loses the resource first
    std::uint32_t capacity_;
    std::uint32_t in_use_ = 0;
    std::uint32_t waiting_ = 0;
};

// --- Inline --------------------------------------------------------------------------------------

inline Request::Request(Resource& resource, int priority, bool preempts)
    : Awaited(*resource.env_),
      resource_(&resource),
      process_(resource.env_->running_),
      priority_(priority) {
    resource.enter(*this, preempts);
}

inline void Request::release() noexcept {
    if (!detail::Queue<Request>::has(*this)) return;
    detail::Queue<Request>::remove(*this);
    if (!has_resource_) {
        --resource_->waiting_;
        return;
    }
    has_resource_ = false;
    --resource_->in_use_;
    resource_->serve();
}

// Priority takes precedence over preemption: a request does not overtake a waiting request with an
// equal or smaller number.
inline void Resource::enter(Request& request, bool preempts) {
    const bool is_first = queue_.is_empty() || Request::comes_after(queue_.front(), request);
    if (preempts && is_first && in_use_ == capacity_ &&
        Request::comes_after(users_.back(), request))
        take_from(users_.back());
    if (in_use_ < capacity_) {
        grant(request);
    } else {
        queue_.insert(request, Request::comes_after);
        ++waiting_;
    }
}

inline void Resource::grant(Request& request) noexcept {
    ++in_use_;
    request.has_resource_ = true;
    request.since_ = env_->now();
    users_.insert(request, Request::comes_after);
    request.happen();
}

inline void Resource::take_from(Request& user) {
    detail::Queue<Request>::remove(user);
    --in_use_;
    user.has_resource_ = false;
    if (user.process_.is_alive() && user.process_.state_ != env_->running_)
        user.process_.interrupt(Preempted{this, user.since_});
}

inline void Resource::serve() noexcept {
    while (in_use_ < capacity_ && !queue_.is_empty()) {
        Request& first = queue_.front();
        detail::Queue<Request>::remove(first);
        --waiting_;
        grant(first);
    }
}

}  // namespace nw
