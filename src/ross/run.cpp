// tw_run(): the model as an nw::Model, its LPs as one class of LogicalProcess, and events.
//
// An event's payload is the message as it was sent, and behind it, where a reverse or a commit handler
// will ask for it, room for a tw_bf and for the message as the handler leaves it. A handler writes
// into that copy: what was sent stays as it was, so that the event can be executed again after a rollback
// by snapshot, and what a handler left is there for its reverse and its commit handler. It is also part
// of the digest, which so tells more than which events there were.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "door.hpp"

__thread tw_stime numawarp_ross_now = 0;

namespace nw::ross {

__thread Context* current_context = nullptr;

namespace {

constexpr std::size_t alignment = alignof(std::max_align_t);

constexpr std::size_t rounded(std::size_t bytes, std::size_t to) {
    return (bytes + to - 1) / to * to;
}

// Where things lie in a payload.
struct Layout {
    std::size_t message = 0;  // the message's bytes, a multiple of 8
    bool keeps = false;       // the tw_bf and the copy are in the payload
    std::size_t bits() const { return message; }
    std::size_t copy() const { return message + 8; }
    std::size_t bytes() const { return keeps ? copy() + message : message; }
};
static_assert(sizeof(tw_bf) <= 8);

LpTable table;
Layout layout;

// Events that a handler has made and not yet sent, on this thread. Made in the handler's own order, and mostly
// sent at once.
constexpr std::size_t unsent_max = 256;

struct Unsent {
    std::vector<std::byte> memory;  // unsent_max events
    std::vector<std::byte> copy;    // where the payload has none: a tw_bf and a message
    std::size_t count = 0;          // in use, from the first on
};
thread_local Unsent unsent;
__thread Unsent* this_thread = nullptr;

// What tw_lp_suspend() asked for in the handler that this thread is in.
struct Suspension {
    bool is_asked;
    bool reverses;
    int error;
};
__thread Suspension suspension = {};

std::size_t slot_bytes() { return rounded(sizeof(tw_event) + layout.bytes(), alignment); }

void set_up_thread() {
    unsent.memory.resize(unsent_max * slot_bytes());
    unsent.copy.resize(layout.copy() + layout.message);
    this_thread = &unsent;
}

// What the model's functions are called within. Nothing of it is left behind: --check-model looks.
class Call {
  public:
    Call(Context* context, VirtualTime now) {
        current_context = context;
        numawarp_ross_now = now;
        this_thread->count = 0;
        suspension.is_asked = false;
    }
    ~Call() {
        current_context = nullptr;
        numawarp_ross_now = 0;
        this_thread->count = 0;
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
};

// The tw_bf and the message that a handler gets.
struct Handled {
    tw_bf* bits;
    std::byte* message;
};

// A payload is const for who only reads events. Its bytes are the event's own memory.
Handled handled(const Event& event) {
    std::byte* const payload =
        layout.keeps ? const_cast<std::byte*>(event.bytes().data()) : this_thread->copy.data();
    return {reinterpret_cast<tw_bf*>(payload + layout.bits()), payload + layout.copy()};
}

class Lp final : public LogicalProcess {
  public:
    explicit Lp(LpId id) {
        const std::uint32_t gid = index(id);
        const std::uint32_t place = table.place_of[gid];
        if (place != LpTable::elsewhere) {
            lp_ = *g_tw_lp[place];
            g_tw_lp[place] = &lp_;
        } else {
            lp_.id = LpTable::elsewhere;
            lp_.gid = gid;
            lp_.pe = g_tw_pe;
            lp_.kp = g_tw_kp[0];
        }
        lp_.type = &table.types[table.type_of[gid]];
        lp_.cur_state = reinterpret_cast<std::byte*>(this) + state_offset();
        std::memset(lp_.cur_state, 0, lp_.type->state_sz);
        lp_.rng = streams();
        for (unsigned int i = 0; i < g_tw_nRNG_per_lp; ++i)
            tw_rand_initial_seed(&lp_.rng[i], tw_lpid{gid} * g_tw_nRNG_per_lp + i, nullptr);
    }

    // One piece of memory: the LP, its streams, its state.
    static LogicalProcess* build(LpId id) {
        const tw_lptype& type = table.types[table.type_of[index(id)]];
        return new (::operator new(bytes_of(type))) Lp(id);
    }
    static std::size_t bytes_of(const tw_lptype& type) { return state_offset() + type.state_sz; }

    void on_start(Context& context) override {
        const Call call(&context, 0);
        if (lp_.type->init != nullptr) lp_.type->init(lp_.cur_state, &lp_);
        if (lp_.type->pre_run != nullptr) lp_.type->pre_run(lp_.cur_state, &lp_);
    }

    void on_event(Context& context, const Event& event) override {
        const Call call(&context, event.time());
        const Handled to = handled(event);
        std::memset(to.bits, 0, 8);
        std::memcpy(to.message, event.bytes().data(), layout.message);
        lp_.type->event(lp_.cur_state, to.bits, to.message, &lp_);
        if (suspension.is_asked) [[unlikely]]
            suspend(to);
    }

    void on_reverse(Context& context, const Event& event) override {
        const Call call(&context, event.time());
        const Handled to = handled(event);
        lp_.type->revent(lp_.cur_state, to.bits, to.message, &lp_);
    }

    void on_commit(const Event& event) override {
        if (lp_.type->commit == nullptr) return;
        numawarp_ross_now = event.time();
        const Handled to = handled(event);
        lp_.type->commit(lp_.cur_state, to.bits, to.message, &lp_);
        numawarp_ross_now = 0;
    }

    void on_end(Context& context) override {
        const Call call(&context, context.now());
        if (lp_.type->final != nullptr) lp_.type->final(lp_.cur_state, &lp_);
    }

  private:
    static std::size_t streams_offset() { return rounded(sizeof(Lp), alignof(tw_rng_stream)); }
    static std::size_t state_offset() {
        return rounded(streams_offset() + g_tw_nRNG_per_lp * sizeof(tw_rng_stream), alignment);
    }
    tw_rng_stream* streams() {
        return reinterpret_cast<tw_rng_stream*>(reinterpret_cast<std::byte*>(this) +
                                                streams_offset());
    }

    // An LP that suspends itself has met what cannot be: the event has failed, and the LP rests until it is taken
    // back. What the handler changed before is undone by its reverse handler, if it asked for that.
    [[noreturn, gnu::cold]] void suspend(const Handled& to) {
        if (suspension.reverses && lp_.type->revent != nullptr)
            lp_.type->revent(lp_.cur_state, to.bits, to.message, &lp_);
        throw ModelError(fmt::format("the LP suspended itself with error {}", suspension.error));
    }

    tw_lp lp_{};
};

bool all_have(auto member) {
    return std::all_of(table.types.begin(), table.types.end(),
                       [&](const tw_lptype& type) { return type.*member != nullptr; });
}
bool any_has(auto member) {
    return std::any_of(table.types.begin(), table.types.end(),
                       [&](const tw_lptype& type) { return type.*member != nullptr; });
}

class RossModel final : public Model {
  public:
    explicit RossModel(std::string name) : Model(std::move(name), "a model written for ROSS") {}

    void on_worker_start() override { set_up_thread(); }

    Setup setup() override {
        Setup setup;
        setup.lps = static_cast<std::uint32_t>(g_tw_total_lps);
        setup.until = g_tw_ts_end;
        // ROSS asks for it in conservative runs only.
        if (g_tw_synchronization_protocol == CONSERVATIVE) setup.lookahead = g_tw_lookahead;
        setup.payload_bytes_max = layout.bytes();
        setup.process.build = Lp::build;
        for (const tw_lptype& type : table.types)
            setup.process.object_bytes = std::max(setup.process.object_bytes, Lp::bytes_of(type));
        setup.process.has_reverse = all_have(&tw_lptype::revent);
        setup.process.has_commit = any_has(&tw_lptype::commit);
        setup.preferred_rollback =
            setup.process.has_reverse ? Rollback::reverse : Rollback::snapshot;
        setup.outputs = {{"tw_output", {"text"}}};
        return setup;
    }
};

std::string name_of_program() {
    const std::string& path = program().arguments.front();
    return path.substr(path.find_last_of('/') + 1);
}

int run_model() {
    std::vector<char*> arguments;
    for (std::string& argument : program().arguments) arguments.push_back(argument.data());
    RossModel model(name_of_program());
    return nw::run(static_cast<int>(arguments.size()), arguments.data(), model);
}

Context& context_for(const char* function) {
    if (current_context == nullptr)
        refuse(fmt::format("{}: is for init, pre_run and event handlers", function));
    return *current_context;
}

}  // namespace
}  // namespace nw::ross

using nw::ross::layout;

tw_event* tw_event_new(tw_lpid dest_gid, tw_stime offset_ts, tw_lp* sender) {
    nw::ross::context_for("tw_event_new()");
    nw::ross::Unsent& unsent = *nw::ross::this_thread;
    if (unsent.count == nw::ross::unsent_max) [[unlikely]]
        nw::ross::break_off(fmt::format(
            "tw_event_new(): {} events are made and not sent; legal: tw_event_send() before",
            unsent.count));
    std::byte* const slot = unsent.memory.data() + unsent.count++ * nw::ross::slot_bytes();
    auto* const event = reinterpret_cast<tw_event*>(slot);
    *event = {sender, dest_gid, numawarp_ross_now, numawarp_ross_now + offset_ts, offset_ts};
    std::memset(event + 1, 0, layout.message);
    return event;
}

void tw_event_send(tw_event* event) {
    nw::Context& context = nw::ross::context_for("tw_event_send()");
    nw::ross::Unsent& unsent = *nw::ross::this_thread;
    if (event->dest_lpid >= context.lps()) [[unlikely]]
        nw::ross::break_off(fmt::format("tw_event_send(): there is no LP {}; legal: from 0 to {}",
                                        event->dest_lpid, context.lps() - 1));
    context.schedule_bytes(
        static_cast<nw::LpId>(event->dest_lpid), event->offset_ts, 0,
        std::span(reinterpret_cast<const std::byte*>(event + 1), layout.bytes()));
    const auto* const slot = reinterpret_cast<const std::byte*>(event);
    if (slot + nw::ross::slot_bytes() ==
        unsent.memory.data() + unsent.count * nw::ross::slot_bytes())
        --unsent.count;
}

void tw_lp_suspend(tw_lp*, int do_orig_event_rc, int error_num) {
    nw::ross::suspension = {true, do_orig_event_rc != 0, error_num};
}

int tw_output(tw_lp*, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const std::string text = nw::ross::formatted(format, arguments);
    va_end(arguments);
    nw::ross::context_for("tw_output()").output(0, std::string_view(text));
    return static_cast<int>(text.size());
}

void tw_rand_init_streams(tw_lp* lp, unsigned int nstreams, unsigned int) {
    if (nstreams > g_tw_nRNG_per_lp)
        nw::ross::break_off(
            fmt::format("tw_rand_init_streams(): {} streams; legal: at most g_tw_nRNG_per_lp, {}",
                        nstreams, g_tw_nRNG_per_lp));
    // Each LP has them when it begins.
    (void)lp;
}

void tw_run(void) {
    using namespace nw::ross;
    if (program().is_done) refuse("tw_run(): a program has one run");
    program().is_done = true;
    table = lp_table();
    layout = {rounded(g_tw_msg_sz, 8), any_has(&tw_lptype::revent) || any_has(&tw_lptype::commit)};
    if (layout.bytes() > 65535)
        refuse(fmt::format("tw_define_lps(..., {}): messages must be at most {} bytes", g_tw_msg_sz,
                           layout.keeps ? (65535 - 8) / 16 * 8 : 65528));
    const std::vector<tw_lp*> defined(g_tw_lp, g_tw_lp + g_tw_nlp);
    const int code = run_model();
    std::copy(defined.begin(), defined.end(), g_tw_lp);
    if (code == 0) return;
    std::fflush(stdout);
    tw_end();
    std::exit(code);
}
