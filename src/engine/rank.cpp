#include "engine/rank.hpp"

#include "base/check.hpp"
#include "engine/worker.hpp"

namespace nw {
namespace {

constexpr std::size_t batches_received_per_step = 16;

// A round that takes longer means that a handler does not return: say on which worker. It may still
// return, or be an endless loop in a state that was never to be; only the user can tell.
constexpr std::chrono::seconds watchdog_patience{10};

// Of --memory-cap; beyond it workers run ahead only in memory that they already have.
constexpr double memory_share_careful = 0.8;
constexpr std::chrono::milliseconds resident_look_interval{20};

WindowControl window_of(const Config& config) {
    switch (config.window_mode) {
        case WindowMode::automatic:
            return WindowControl::automatic();
        case WindowMode::fixed:
            return WindowControl::fixed(config.window);
        case WindowMode::off:
            break;
    }
    return WindowControl::off();
}

}  // namespace

Rank::Rank(const RunPlan& plan, Transport& transport, MemorySource& memory, OutputWriter& output,
           LiveProgress& progress, const std::atomic<int>& stop_signal)
    : plan_(plan),
      transport_(transport),
      memory_(memory),
      output_(output),
      progress_(progress),
      stop_signal_(stop_signal),
      gvt_(transport, plan.workers, plan.config.gvt_interval_ms, window_of(plan.config)),
      groups_(plan.partition.groups()),
      ready_lists_(plan.workers) {
    for (std::uint32_t g = 0; g < plan.partition.groups(); ++g)
        owners_.push_back(plan.partition.first_owner(g));
    for (std::uint32_t w = 0; w < plan.workers; ++w)
        workers_.push_back(std::make_unique<Worker>(*this, WorkerId{w}));
}

Rank::~Rank() = default;

Group& Rank::make_group(std::uint32_t g) {
    groups_[g] = std::make_unique<Group>(memory_, g);
    return *groups_[g];
}

void Rank::net_step(GvtRounds::Clock::time_point now) {
    if (!net_role_.try_lock()) return;
    if (has_outgoing_.load(std::memory_order_acquire)) {
        std::vector<OutgoingBatch> batches;
        {
            const std::lock_guard lock(outgoing_mutex_);
            batches.swap(outgoing_);
            has_outgoing_.store(false, std::memory_order_release);
        }
        for (const OutgoingBatch& batch : batches) transport_.send(batch.destination, batch.bytes);
    }
    if (transport_.ranks() > 1) {
        transport_.receive(batches_received_per_step, [this](std::span<const std::byte> batch) {
            deliver(batch.data(), batch.size());
        });
    }
    gvt_.step(now);
    const std::string overdue = gvt_.overdue(now, watchdog_patience);
    net_role_.unlock();
    if (!overdue.empty() && progress_.warn) progress_.warn(overdue);
}

void Rank::send_batch(RankId destination, const MailBuffer& batch) {
    const std::lock_guard lock(outgoing_mutex_);
    outgoing_.push_back({destination, {batch.data(), batch.data() + batch.size()}});
    has_outgoing_.store(true, std::memory_order_release);
}

void Rank::deliver(const std::byte* events, std::size_t size) {
    for_each_wire_event(events, size, [&](const WireEvent& wire) {
        const std::uint32_t g = plan_.partition.place(wire.target).group;
        groups_[g]->mail.push(reinterpret_cast<const std::byte*>(&wire), wire.bytes(),
                              ready_lists_[owners_[g].worker]);
    });
}

bool Rank::near_memory_cap(GvtRounds::Clock::time_point now) noexcept {
    const double careful = memory_share_careful * static_cast<double>(memory_.segment_bytes_max());
    if (static_cast<double>(memory_.segment_bytes()) <= careful) return false;
    // Segments are address space; what counts is what was touched.
    const auto ticks = now.time_since_epoch().count();
    const auto seen_at = resident_seen_at_.load(std::memory_order_relaxed);
    if (GvtRounds::Clock::duration(ticks - seen_at) >= resident_look_interval) {
        resident_seen_at_.store(ticks, std::memory_order_relaxed);
        resident_near_cap_.store(static_cast<double>(memory_.os().memory().resident) > careful,
                                 std::memory_order_relaxed);
    }
    return resident_near_cap_.load(std::memory_order_relaxed);
}

void Rank::fail(std::exception_ptr failure) {
    const std::lock_guard lock(failure_mutex_);
    // A bug of ours outranks what the model did.
    if (failure_ == nullptr || failure_key_.has_value()) {
        failure_ = failure;
        failure_key_.reset();
    }
    failed_.store(true, std::memory_order_release);
}

void Rank::fail_in_model(const EventKey& key, std::string message) {
    const std::lock_guard lock(failure_mutex_);
    const bool first = failure_ == nullptr;
    if (first || (failure_key_.has_value() && before(key, *failure_key_))) {
        failure_ = std::make_exception_ptr(ModelError(message));
        failure_key_ = key;
    }
    failed_.store(true, std::memory_order_release);
}

std::optional<EventKey> Rank::model_failure_key() {
    const std::lock_guard lock(failure_mutex_);
    return failure_key_;
}

void Rank::rethrow_failure() {
    const std::lock_guard lock(failure_mutex_);
    if (failure_ != nullptr) std::rethrow_exception(failure_);
}

}  // namespace nw
