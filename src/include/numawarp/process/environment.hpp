// The world of the processes of one LP: its clock, its random numbers, what happens when, and whose turn it
// is. It is pointed at the Context of each event anew, so that processes need none.
//
// All of it lies in the LP and is rolled back with it. At one instant processes run in the order in which
// what they waited for has happened; times that come at once happen in the order in which they were
// set. Of all times at which something will happen, only for the first an event is in flight: the LP's
// wake-up. A wake-up that comes for a time that was withdrawn finds nothing to do.
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

// A message from one LP to another: any struct without pointers. Kinds of messages differ in their
// `static constexpr nw::EventType type`, which a model with one kind may leave out: its list has one place.
// A class that declares `using EventTypes = nw::EventList<Message, …, nw::WakeUp>` has its events named and
// counted by type.
template <class Message>
constexpr EventType message_type() noexcept {
    static_assert(std::is_trivially_copyable_v<Message>, "a message is trivially copyable");
    return EventList<Message>::template number<Message>();
}

// The event by which an environment sees to it that time goes on.
struct WakeUp {
    static constexpr EventType type = UINT16_MAX;  // no message may have it
};

// The LP's random numbers, to be kept as long as one likes: each draw is one of the event that is then
// being executed.
class Draws {
  public:
    // Environment::random() makes them.
    explicit Draws(Environment& env) noexcept : env_(&env) {}
    // 64 uniform bits.
    std::uint64_t bits() const;
    // Uniform in [0, 1).
    double uniform() const;
    // Uniform in [least, most).
    double uniform(double least, double most) const;
    // Uniform in {0, …, bound-1}. Requires: bound > 0.
    std::uint64_t below(std::uint64_t bound) const;
    // True with that probability.
    bool chance(double probability) const;
    // Any LP of the model, this one included.
    LpId lp() const;
    // Exponential with that mean.
    double exponential(double mean) const;
    // The sum of `shape` exponentials, with that mean of the sum. Requires: shape ≥ 1.
    double erlang(unsigned shape, double mean) const;
    // Gaussian, by another method than Random::normal(), so that the numbers are others.
    double normal(double mean, double deviation) const;

  private:
    Environment* env_;
};

// The world of one LP's processes: a member of each nw::ProcessLp, called env.
class Environment {
  public:
    // Before the LP's first event it only takes what constructors hand it.
    Environment() = default;
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    // The present instant of this LP.
    VirtualTime now() const noexcept { return now_; }
    // This LP.
    LpId self() const { return context().self(); }
    // How many LPs the model has.
    std::uint32_t lps() const { return context().lps(); }
    // The kinds of LPs, and which numbers they have.
    const Kinds& kinds() const { return context().kinds(); }
    // The LP's random numbers.
    Draws random() noexcept { return Draws(*this); }
    // As Context::output().
    template <class... Values>
    void output(std::size_t table, const Values&... values) const {
        context().output(table, values...);
    }

    // The process runs at this instant, when who is running now waits. Returns a handle to it. Requires: not
    // started before; a breach is a ModelError.
    Process start(Process process);
    // Several, in this order.
    template <class... Others>
        requires(sizeof...(Others) > 0)
    void start(Process first, Others... others) {
        start(std::move(first));
        (start(std::move(others)), ...);
    }

    // Happens so much later. Requires: not in the past; a breach is a ModelError, which names `where`.
    Delay delay(double time, SourceLocation where = SourceLocation::current()) {
        // The sum with a small negative one may be now.
        if (!(time >= 0)) [[unlikely]]
            detail::refuse_wait(where, now_, " for a delay of ", time, "at least 0");
        return Delay(*this, now_ + time);
    }
    // Happens at that time, under the same condition.
    Delay until(VirtualTime time, SourceLocation where = SourceLocation::current()) {
        if (!(time >= now_)) [[unlikely]]
            detail::refuse_wait(where, now_, " until time ", time, "no time in the past");
        return Delay(*this, time);
    }

    // A message for another LP, or this one; it is kept there until it is received.
    template <class Message>
    void send(LpId lp, double delay, const Message& message) const {
        static_assert(message_type<Message>() != wake_up,
                      "this type is taken: let it be below 65535");
        if (is_over_) return;
        const double lead = lag_ > 0 ? delay - (context().now() - now_) : delay;
        detail::schedule_typed<EventList<Message>>(context(), lp, lead, message);
    }
    // co_await env.receive<Message>() is the next message of this kind.
    template <class Message>
    Get<Message> receive();
    // The next one for which what(message) is true.
    template <class Message, class What>
    auto receive(What&& what);

    // Fewer, larger events, in a model whose messages are all at least so much ahead, those to the own LP
    // included: the LP then lags behind, and works off in one event what was due in the course of this
    // time, all of it at its own now(). Requires: Setup::lookahead is at most the least delay of a
    // message minus this; called in the LP's constructor.
    void may_lag(double time) {
        if (!(time >= 0 && time < time_infinity))
            throw ModelError("may_lag(" + detail::number_text(time) +
                             "); legal: a finite time from 0 on");
        lag_ = time * (1 - lag_margin);
    }

    // For the LP whose environment it is, from its hook of this name: hook() starts processes.
    template <class Hook>
    void on_start(Context& context, Hook&& hook) {
        const InEvent in_event(*this, context);
        hook();
        run_instant();
        plan_wake_up();
    }
    // The same for its events: what is due happens, and the event, if it is a message, is delivered.
    void on_event(Context& context, const Event& event);
    // The same for the end of the run: hook() writes results.
    template <class Hook>
    void on_end(Context& context, Hook&& hook) {
        const InEvent in_event(*this, context);
        // An LP that lags has seen all but what was due since its last event. Messages that it sends
        // now come after the end.
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
    // Sums of times are rounded: a lag is shortened by a share that is well above that, while times are
    // below 2^30 lags, and well below what anybody notices.
    static constexpr double lag_margin = 0x1p-20;

    // Where messages of one type wait.
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
    // A message of a type of which none was received yet.
    struct Letter {
        LpId sender;
        EventType type;
        std::vector<std::byte> bytes;
    };

    // While it lives, the environment has a Context.
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
                "an nw::Environment, or what belongs to it, is used outside of the events of its "
                "LP: in a constructor, or by another LP");
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
    detail::ProcessState* last_ready_ = nullptr;  // means nothing if there is no first one
    Timers timers_;
    std::vector<VirtualTime> wake_ups_;  // those in flight, the first one last
    std::vector<std::unique_ptr<Mailbox>> mailboxes_;
    std::vector<Letter> letters_;
};

// An LP that is made of processes. Anything that it has as members is shared by its processes.
class ProcessLp : public LogicalProcess {
  public:
    // Its processes live here.
    Environment env;

    // At time 0: starts the first processes.
    virtual void start() = 0;
    // The run is over: env.output() works, nothing more will happen.
    virtual void finish() {}

    // Calls start().
    void on_start(Context& context) final {
        env.on_start(context, [&] { start(); });
    }
    // Lets its processes go on.
    void on_event(Context& context, const Event& event) final { env.on_event(context, event); }
    // Calls finish().
    void on_end(Context& context) final {
        env.on_end(context, [&] { finish(); });
    }
};

// --- Inline ----------------------------------------------------------------------------------------

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
        throw ModelError("start() of a process that was started before, or is none");
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
    // One that has not begun, or whose wait is over at this instant, meets the interrupt when it runs.
    if (process.waits_for == nullptr) return;
    process.waits_for->process_ = nullptr;
    make_ready(process);
}

inline void Environment::on_event(Context& context, const Event& event) {
    const InEvent in_event(*this, context);
    VirtualTime time = context.now();
    if (event.type() == wake_up) {
        if (event.sender() != self()) [[unlikely]]
            throw ModelError(
                "event type " + std::to_string(wake_up) +
                " is the wake-up of an LP with processes, which only it may send to itself");
        // The event's time is a sum that was rounded.
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
    while (first_ready_ != nullptr) {
        running_ = std::exchange(first_ready_, first_ready_->next_ready);
        if (first_ready_ == nullptr) last_ready_ = nullptr;
        running_->is_ready = false;
        detail::running_place = running_->place;
        running_->frame.resume();
        if (running_->frame.done()) end(*running_);
    }
    running_ = nullptr;
    detail::running_place.process = {};
}

inline void Environment::plan_wake_up() {
    const VirtualTime first = timers_.first_time() + lag_;
    if (first == time_infinity || (!wake_ups_.empty() && wake_ups_.back() <= first)) return;
    context().schedule(context().self(), first - context().now(), wake_up);
    wake_ups_.push_back(first);
}

}  // namespace nw
