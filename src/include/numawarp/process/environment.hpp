// SPDX-License-Identifier: Apache-2.0
// The environment of the processes of one LP: its clock, its random numbers, its delays, and the
// order of its processes. It refers to the Context of the current event, so processes need no
// Context.
//
// All data of the environment are in the LP and are rolled back with it. At one instant, processes
// run in the order in which the awaited objects have happened. Delays that end at the same time
// happen in the order in which they were set. Not every delay has an event: the environment
// schedules an event, the LP's wake-up, only for the earliest end of a delay. A wake-up for a delay
// that was withdrawn does nothing.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <numawarp/model.hpp>
#include <numawarp/process/awaited.hpp>
#include <numawarp/process/coroutine.hpp>
#include <numawarp/process/normal.hpp>
#include <numawarp/process/timers.hpp>

namespace nw {

template <class T>
class Get;
template <class T>
class Store;

// The event type of a message from one LP to another. A message is a struct without pointers. Each
// kind of message has its own `static constexpr nw::EventType type`. A model with only one kind may
// leave out this member; the type is then 0. If a class declares `using EventTypes =
// nw::EventList<Message, …, nw::WakeUp>`, its events have names and are counted by type.
template <class Message>
constexpr EventType message_type() noexcept {
    static_assert(std::is_trivially_copyable_v<Message>, "a message must be trivially copyable");
    return EventList<Message>::template number<Message>();
}

// The event that an LP sends to itself for the earliest end of a delay.
struct WakeUp {
    static constexpr EventType type = UINT16_MAX;  // no message may have this type
};

// The LP's random numbers. A Draws object may be kept for any time. Each draw belongs to the event
// that is being executed at that moment.
class Draws {
  public:
    // Called by Environment::random().
    explicit Draws(Environment& env) noexcept : env_(&env) {}
    // 64 uniform bits.
    std::uint64_t bits() const;
    // Uniform in [0, 1).
    double uniform() const;
    // Uniform in [least, most).
    double uniform(double least, double most) const;
    // Uniform in {0, …, bound-1}. Requires: bound > 0.
    std::uint64_t below(std::uint64_t bound) const;
    // True with the given probability.
    bool chance(double probability) const;
    // A random LP of the model, with equal probabilities, including this LP.
    LpId lp() const;
    // Exponential with the given mean.
    double exponential(double mean) const;
    // Erlang: the sum of `shape` exponential variates, with the given mean of the sum. Requires:
    // shape ≥ 1.
    double erlang(unsigned shape, double mean) const;
    // Normal (Gaussian). The method differs from Random::normal(), so the numbers differ.
    double normal(double mean, double deviation) const;

  private:
    Environment* env_;
};

// The interface through which processes use their LP and the run: the member `env` of each
// nw::ProcessLp.
class Environment {
  public:
    // Before the LP's first event, only may_lag() and the constructors of objects such as
    // nw::Resource may use the environment.
    Environment() = default;
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    // The present time of this LP.
    VirtualTime now() const noexcept { return now_; }
    // This LP.
    LpId self() const { return context().self(); }
    // The number of LPs of the model.
    std::uint32_t lps() const { return context().lps(); }
    // The kinds of LPs and the ranges of their numbers.
    const Kinds& kinds() const { return context().kinds(); }
    // The LP's random numbers.
    Draws random() noexcept { return Draws(*this); }
    // Appends a row to an output table, as Context::output() does.
    template <class... Values>
    void output(std::size_t table, const Values&... values) const {
        context().output(table, values...);
    }

    // Starts a process. The new process runs at this instant, as soon as the running process waits.
    // Returns a handle to the new process. Requires: the process was not started before; a breach
    // throws ModelError.
    Process start(Process process);
    // Starts several processes, in this order.
    template <class... Others>
        requires(sizeof...(Others) > 0)
    void start(Process first, Others... others) {
        start(std::move(first));
        (start(std::move(others)), ...);
    }

    // Happens after `time`. Requires: time ≥ 0; a breach throws a ModelError with the place
    // `where`.
    Delay delay(double time, SourceLocation where = SourceLocation::current()) {
        // Check `time` and not the sum: now_ plus a small negative time can round to now_.
        if (!(time >= 0)) [[unlikely]]
            detail::refuse_wait(where, now_, " for a delay of ", time, "at least 0");
        return Delay(*this, now_ + time);
    }
    // Happens at `time`. Requires: time ≥ now(); a breach throws a ModelError with the place
    // `where`.
    Delay until(VirtualTime time, SourceLocation where = SourceLocation::current()) {
        if (!(time >= now_)) [[unlikely]]
            detail::refuse_wait(where, now_, " until time ", time,
                                "a time that is not in the past");
        return Delay(*this, time);
    }

    // Sends a message to another LP, or to this LP. The target keeps the message until a process
    // receives it. Requires: as for Context::schedule().
    template <class Message>
    void send(LpId lp, double delay, const Message& message) const {
        static_assert(message_type<Message>() != wake_up,
                      "this event type is reserved: the type of a message must be below 65535");
        if (is_over_) return;
        const double lead = lag_ > 0 ? delay - (context().now() - now_) : delay;
        detail::schedule_typed<EventList<Message>>(context(), lp, lead, message);
    }
    // co_await env.receive<Message>() returns the next message of this kind.
    template <class Message>
    Get<Message> receive();
    // co_await returns the next message for which what(message) is true.
    template <class Message, class What>
    auto receive(What&& what);

    // Reduces the number of events: the LP executes in one event everything that becomes due within
    // a duration of `time`. now() still returns the time at which each part is due. The LP lags:
    // the event is later than these parts, by at most `time`. Requires: every message, also a
    // message to the own LP, has a delay of at least `time` plus Setup::lookahead; the function is
    // called in the LP's constructor. Throws ModelError unless `time` is finite and ≥ 0.
    void may_lag(double time) {
        if (!(time >= 0 && time < time_infinity))
            throw ModelError("may_lag(" + detail::number_text(time) +
                             "); allowed: a finite time of at least 0");
        lag_ = time * (1 - lag_margin);
    }

    // Called by the owning LP in its on_start(). hook() starts processes.
    template <class Hook>
    void on_start(Context& context, Hook&& hook) {
        const InEvent in_event(*this, context);
        hook();
        run_instant();
        plan_wake_up();
    }
    // Called by the owning LP in its on_event(). Executes everything that is due, and delivers the
    // event if it is a message.
    void on_event(Context& context, const Event& event);
    // Called by the owning LP in its on_end(). hook() writes results.
    template <class Hook>
    void on_end(Context& context, Hook&& hook) {
        const InEvent in_event(*this, context);
        // An LP that lags has not yet executed the parts that became due since its last event.
        // Messages that these parts send would arrive after the end, so send() drops them.
        is_over_ = true;
        run_before(context.now());
        now_ = context.now();
        hook();
    }

  private:
    friend class Awaited;
    friend class Delay;
    friend class Draws;
    friend class Process;
    friend class ProcessEnd;
    friend class Request;
    friend class Resource;

    static constexpr EventType wake_up = WakeUp::type;
    // The lag is shortened by this share of its length, because sums of times are rounded. The
    // share is well above the rounding error while times are below 2^30 lags. It is too small to
    // have a visible effect.
    static constexpr double lag_margin = 0x1p-20;

    // Holds the messages of one type until they are received.
    struct Mailbox {
        explicit Mailbox(EventType of_type, const std::type_info* of_message) noexcept
            : type(of_type), message(of_message) {}
        virtual ~Mailbox() = default;
        virtual void deliver(const Event& event) = 0;
        EventType type;
        const std::type_info* message;
    };
    template <class Message>
    struct StoreMailbox;
    // A message that arrived before the LP's first receive() of its type.
    struct Letter {
        LpId sender;
        EventType type;
        std::vector<std::byte> bytes;
    };

    // Gives the environment its Context, until this object is destroyed.
    class InEvent {
      public:
        InEvent(Environment& env, Context& context) noexcept : env_(env) {
            env.context_ = &context;
        }
        InEvent(const InEvent&) = delete;
        InEvent& operator=(const InEvent&) = delete;
        ~InEvent() { env_.context_ = nullptr; }

      private:
        Environment& env_;
    };

    Context& context() const {
        if (context_ == nullptr) [[unlikely]]
            throw ModelError(
                "an nw::Environment, or an object that belongs to it, is used outside of the "
                "events of its LP: in a constructor, or by another LP");
        return *context_;
    }
    void make_ready(detail::ProcessState& process) noexcept {
        if (process.is_ready) return;
        process.is_ready = true;
        process.next_ready = nullptr;
        (last_ready_ != nullptr ? last_ready_->next_ready : first_ready_) = &process;
        last_ready_ = &process;
    }
    void run_before(VirtualTime time);
    void run_instant();
    void run_ready();
    void end(detail::ProcessState& process);
    void plan_wake_up();
    void deliver(const Event& event);
    void interrupt(detail::ProcessState& process, std::any cause);
    template <class Message>
    Store<Message>& mailbox();

    Context* context_ = nullptr;
    VirtualTime now_ = 0;
    double lag_ = 0;
    bool is_over_ = false;
    detail::ProcessState* running_ = nullptr;
    detail::ProcessState* first_ready_ = nullptr;
    detail::ProcessState* last_ready_ = nullptr;  // has no meaning if first_ready_ is null
    Timers timers_;
    std::vector<VirtualTime> wake_ups_;  // in flight; the last element is the earliest
    std::vector<std::unique_ptr<Mailbox>> mailboxes_;
    std::vector<Letter> letters_;
};

// An LP that consists of processes. The processes share the members of the LP.
class ProcessLp : public LogicalProcess {
  public:
    // The environment of the LP's processes.
    Environment env;

    // Called at time 0, to start the first processes.
    virtual void start() = 0;
    // Called after the run. env.output() is allowed; no process runs any more.
    virtual void finish() {}

    // Calls start().
    void on_start(Context& context) final {
        env.on_start(context, [&] { start(); });
    }
    // Continues the processes.
    void on_event(Context& context, const Event& event) final { env.on_event(context, event); }
    // Calls finish().
    void on_end(Context& context) final {
        env.on_end(context, [&] { finish(); });
    }
};

// --- Inline --------------------------------------------------------------------------------------

inline std::uint64_t Draws::bits() const { return env_->context().random().bits(); }
inline double Draws::uniform() const { return env_->context().random().uniform(); }
inline double Draws::uniform(double least, double most) const {
    return least + (most - least) * uniform();
}
inline std::uint64_t Draws::below(std::uint64_t bound) const {
    return env_->context().random().below(bound);
}
inline LpId Draws::lp() const { return static_cast<LpId>(below(env_->lps())); }
inline bool Draws::chance(double probability) const {
    return env_->context().random().chance(probability);
}
inline double Draws::exponential(double mean) const {
    return env_->context().random().exponential(mean);
}
inline double Draws::erlang(unsigned shape, double mean) const {
    return env_->context().random().erlang(shape, mean);
}
inline double Draws::normal(double mean, double deviation) const {
    return mean + deviation * detail::ziggurat.draw(env_->context().random());
}

inline Awaited::Awaited(Environment& env) : env_(&env) { env.context(); }
inline void Awaited::note_unused() const noexcept {
    if (env_->running_ != nullptr && std::uncaught_exceptions() == 0) detail::note_never_awaited();
}

inline Delay::Delay(Environment& env, VirtualTime time) : Awaited(env), time_(time) {
    if (time < time_infinity) env.timers_.set(*this, time);
}
inline double Delay::left() const noexcept { return time_ > env().now_ ? time_ - env().now_ : 0; }
inline void Delay::leave() noexcept {
    check_used();
    env().timers_.withdraw(*this);
}

inline void Process::interrupt(std::any cause) const {
    if (!is_alive()) throw ModelError("interrupt() of a process that is not alive");
    state_->env->interrupt(*state_, std::move(cause));
}

inline Process Environment::start(Process process) {
    if (!process || process.state_->env != nullptr)
        throw ModelError("start() of a process that was started before, or of no process");
    process.state_->env = this;
    ++process.state_->handles;
    make_ready(*process.state_);
    return process;
}

inline void Environment::interrupt(detail::ProcessState& process, std::any cause) {
    context();
    if (&process == running_) throw ModelError("a process interrupts itself");
    auto* last = &process.interrupts;
    while (*last != nullptr) last = &(*last)->next;
    last->reset(new detail::PendingInterrupt{Interrupt(std::move(cause))});
    // A process that has not begun, or whose wait is over at this instant, receives the interrupt
    // when it runs.
    if (process.waits_for == nullptr) return;
    process.waits_for->process_ = nullptr;
    make_ready(process);
}

inline void Environment::on_event(Context& context, const Event& event) {
    const InEvent in_event(*this, context);
    VirtualTime time = context.now();
    if (event.type() == wake_up) {
        if (event.sender() != self()) [[unlikely]]
            throw ModelError("event type " + std::to_string(wake_up) +
                             " is reserved for the wake-up of an LP with processes: only this LP "
                             "may send it to itself");
        // The time of the event is a rounded sum and may be below the planned time.
        if (wake_ups_.back() > time) time = wake_ups_.back();
        wake_ups_.pop_back();
    }
    run_before(time);
    if (time > now_) now_ = time;
    if (event.type() != wake_up) deliver(event);
    run_instant();
    plan_wake_up();
}

inline void Environment::run_before(VirtualTime time) {
    for (VirtualTime next; (next = timers_.first_time()) < time;) {
        now_ = next;
        run_instant();
    }
}

inline void Environment::run_instant() {
    for (;;) {
        while (timers_.has_due(now_)) timers_.take_first().happen();
        if (first_ready_ == nullptr) return;
        run_ready();
    }
}

inline void Environment::run_ready() {
    detail::ProcessPlace& place = detail::running_place();
    while (first_ready_ != nullptr) {
        running_ = std::exchange(first_ready_, first_ready_->next_ready);
        if (first_ready_ == nullptr) last_ready_ = nullptr;
        running_->is_ready = false;
        place = running_->place;
        running_->frame.resume();
        if (running_->frame.done()) end(*running_);
    }
    running_ = nullptr;
    place.process = {};
}

inline void Environment::plan_wake_up() {
    const VirtualTime first = timers_.first_time() + lag_;
    if (first == time_infinity || (!wake_ups_.empty() && wake_ups_.back() <= first)) return;
    context().schedule(context().self(), first - context().now(), wake_up);
    wake_ups_.push_back(first);
}

}  // namespace nw
