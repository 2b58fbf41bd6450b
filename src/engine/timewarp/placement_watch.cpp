// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/placement_watch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <ctime>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "engine/worker_threads.hpp"
#include "util/locks.hpp"
#include "util/number_text.hpp"

namespace nw {
namespace {

// The number of pages of one sample. A sample of 2,048 pages takes half a millisecond of one core,
// and the estimated share is accurate to 1 or 2 percent.
constexpr std::size_t pages_a_sample = 2048;

// The interval between two checks for requests of the user.
constexpr std::chrono::milliseconds wake_up_interval{100};
// The sampling interval without a daemon; with a daemon, the interval is the daemon's period.
constexpr double sample_seconds = 1;
constexpr double sample_seconds_least = 0.01;

// The interval at which a rank publishes its figures for the rank that gives orders. It is short,
// so that the figures soon reflect a change of assignments.
constexpr double publish_seconds = 0.25;

constexpr double cache_line_bytes = 64;

std::uint64_t process_cpu_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

bool spans_nodes(const WorkerPlaces& where) { return where.pin && nodes_spanned(where.places) > 1; }

// Returns the policy that the user has chosen, except in two cases. If segments come from libc, no
// policy can place them, so the result is LocalPolicy. The result is also LocalPolicy if the chosen
// policy moves workers and several ranks use the same cores without common assignments. With
// the chosen policy, each of these ranks would choose the same best nodes.
std::unique_ptr<PlacementPolicy> policy_for(MemorySource& memory, const Config& config,
                                            const WorkerPlaces& where, const HostPlacement& host) {
    const bool moves_workers = config.place->moves_workers;
    const bool nobody_decides = moves_workers && where.sharers.size() > 1 && !host.is_shared();
    if (memory.mode() == MemoryMode::libc || nobody_decides) return std::make_unique<LocalPolicy>();
    const Region& region = *memory.region();
    return make_chosen_policy(
        *config.place, memory.os(),
        {.machine_file = config.machine_file,
         .proximity = config.proximity,
         .huge_pages = memory.huge_pages(),
         .places = moves_workers && !where.host_places.empty() ? where.host_places : where.places,
         .slots = {region.base(), static_cast<unsigned>(std::countr_zero(region.slot_bytes()))}});
}

PagemigdOptions daemon_to_start(const Config& config, const WorkerPlaces& where,
                                const PlacementPolicy& policy) {
    PagemigdOptions options = config.pagemigd;
    if (config.memory == MemoryMode::libc ||
        (options.automatic && !spans_nodes(where) && !policy.moves_pages()))
        options.threads = 0;
    return options;
}

}  // namespace

PlacementWatch::PlacementWatch(MemorySource& memory, const Config& config,
                               const WorkerPlaces& where, HostPlacement& host,
                               LiveProgress& progress, const std::vector<NodeInfo>& nodes,
                               std::vector<std::string>& notices)
    : os_(memory.os()),
      host_(host),
      progress_(progress),
      nodes_(nodes),
      policy_(policy_for(memory, config, where, host)),
      daemon_(os_, daemon_to_start(config, where, *policy_), *policy_),
      pin_(where.pin),
      watched_(pages_can_be_remote(where, nodes) || daemon_.threads() > 0),
      period_seconds_(daemon_.threads() > 0 ? config.pagemigd.period_seconds : sample_seconds),
      cpus_(os_.thread_cpus()),
      places_(where.host_places.empty() ? where.places : where.host_places),
      first_place_(host.is_shared() ? 0 : where.number * where.places.size()),
      history_(std::max(period_seconds_, sample_seconds_least)) {
    if (const Region* region = memory.region()) {
        const Status status = policy_->post_for_new_pages(
            os_, reinterpret_cast<void*>(region->base()), region->bytes());
        if (status != 0)
            notices.push_back(
                fmt::format("new pages are on their workers' nodes until they are moved, because "
                            "the kernel does not spread them ({})",
                            std::strerror(status)));
    }
    if (!watched_) return;
    try {
        thread_ = start_thread<std::thread>("that places and moves pages", [this] { run(); });
    } catch (const std::system_error& refused) {
        notices.push_back(
            fmt::format("placement is not monitored during the run: {}", refused.what()));
    }
}

void PlacementWatch::begin(const std::vector<PlacedGroup*>& groups, CpuAssignments& assignments) {
    assignments_ = &assignments;
    mail_then_ = assignments.mail_bytes();
    committed_then_ = progress_.committed_events.load(std::memory_order_relaxed);
    cpu_ns_then_ = process_cpu_ns();
    watch_groups(groups);
    start_ = Clock::now();
    requests_answered_ = progress_.placement_requests.load(std::memory_order_relaxed);
    if (wants_cpu_times() && assignments.gives_orders()) others_.emplace(os_);
    {
        const LockGuard lock(mutex_);
        begun_ = true;
    }
    changed_.notify_one();
    progress_.placement_watched.store(thread_.joinable(), std::memory_order_relaxed);
}

void PlacementWatch::release_groups() {
    daemon_.serve({});
    const LockGuard lock(groups_mutex_);
    groups_.clear();
}

void PlacementWatch::watch_groups(const std::vector<PlacedGroup*>& groups) {
    daemon_.serve(groups);
    const LockGuard lock(groups_mutex_);
    groups_.assign(groups.begin(), groups.end());
}

void PlacementWatch::last_sample() {
    stop();
    if (!watched_) return;
    try {
        last_ = sample(pages_of_last_sample);
        if (last_->status == 0) history_.add(sample_of(*last_, daemon_.figures()));
        const LockGuard lock(groups_mutex_);
        pages_shared_ = pages_shared_between_groups(groups_);
    } catch (const std::bad_alloc&) {
        // The run is done: a lack of memory for the last sample must not make it fail.
    }
}

void PlacementWatch::finish(NumaReport& report, std::vector<std::string>& notices) {
    const std::vector<std::string> of_daemon = daemon_.notices();
    // A process that is not allowed to move pages is not allowed to query their nodes either. In
    // this case the daemon was not started, and the daemon's own notice reports the reason.
    const bool said = daemon_.threads() == 0 && !of_daemon.empty();
    if (last_ && !(last_->status != 0 && said)) report.set_placement(*last_, notices);
    report.pages_shared = pages_shared_;
    if (assignments_ == nullptr || assignments_->gives_orders()) report.placed = policy_->report();
    if (assignments_ != nullptr && assignments_->refusal() != 0) {
        notices.push_back(fmt::format(
            "workers stay on their CPUs: the kernel refuses to bind them to others ({})",
            std::strerror(assignments_->refusal())));
        if (!report.placed.empty()) report.placed += "; refused by the kernel: workers stayed";
    }
    if (assignments_ != nullptr && assignments_->memory_refusal() != 0)
        notices.push_back(
            fmt::format("--place strict: workers that have moved to another node take memory of "
                        "any node, because "
                        "the kernel refuses to bind their memory to the new node ({})",
                        std::strerror(assignments_->memory_refusal())));
    report.history = history_.samples();
    const auto threads = static_cast<std::uint32_t>(daemon_.threads());
    report.pagemigd = {threads, threads > 0 ? period_seconds_ : 0, daemon_.figures()};
    notices.insert(notices.end(), of_daemon.begin(), of_daemon.end());
}

void PlacementWatch::stop() noexcept {
    progress_.placement_watched.store(false, std::memory_order_relaxed);
    {
        const LockGuard lock(mutex_);
        over_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
    daemon_.stop();
}

void PlacementWatch::run() {
    const std::chrono::duration<double> nap = std::min<std::chrono::duration<double>>(
        wake_up_interval, std::chrono::duration<double>(period_seconds_));
    LockGuard lock(mutex_);
    changed_.wait(lock, [this]() NW_REQUIRES(mutex_) { return begun_ || over_; });
    while (!over_) {
        lock.unlock();
        try {
            answer_requests();
            look_at_cpus();
            if (history_.is_due(seconds())) sample();
            end_period();
        } catch (const std::bad_alloc&) {
            // The rest of this step is left out, because other parts of the program need the
            // memory.
        }
        lock.lock();
        changed_.wait_for(lock, nap, [this]() NW_REQUIRES(mutex_) { return over_; });
    }
}

// Several requests that arrived together get one answer.
void PlacementWatch::answer_requests() {
    const std::uint32_t requests = progress_.placement_requests.load(std::memory_order_relaxed);
    if (requests == requests_answered_) return;
    requests_answered_ = requests;
    if (!progress_.warn) return;
    const std::string report = policy_->report();
    progress_.warn(describe(sample(pages_a_sample)) + (report.empty() ? "" : "; " + report));
}

void PlacementWatch::sample() {
    // The number of passes is read before the probe, and the number of moved groups after it. So at
    // the time of the probe, the reported number of passes was complete, and no more groups had
    // moved than reported.
    const MigrationFigures figures = daemon_.figures();
    const Placement placement = sample(pages_a_sample);
    if (placement.status == 0) history_.add(sample_of(placement, figures));
}

// A control group or a user may have removed CPUs from the process, or may have returned some.
// Ranks on the same cores all compute the same places, because the result does not depend on the
// CPUs that were available in between.
void PlacementWatch::look_at_cpus() {
    std::vector<int> cpus = os_.thread_cpus();
    if (cpus == cpus_) return;
    cpus_ = std::move(cpus);
    if (!pin_ || !assignments_->gives_orders()) return;
    const Topology topology(os_);
    const std::vector<Place> places = topology.place_again(places_);
    const auto first = places.begin() + static_cast<std::ptrdiff_t>(first_place_);
    policy_->on_cpus(topology, {first, first + assignments_->size()});
    order_places(places);
}

void PlacementWatch::order_places(const std::vector<Place>& places) {
    for (std::uint32_t s = 0; s < assignments_->size(); ++s) {
        const Place& place = places[first_place_ + s];
        assignments_->order(s, place.cpu, place.node);
    }
    assignments_->set_crowded(ranks_share_cpus(places, assignments_->workers()));
    assignments_->publish();
}

// Publishes this rank's figures for the rank that gives orders to this rank's workers.
void PlacementWatch::publish_figures() {
    if (wants_cpu_times()) assignments_->publish_cpu_times();
    if (!host_.is_shared() || (published_at_ >= 0 && seconds() - published_at_ < publish_seconds))
        return;
    host_.publish(own_pages());
    published_at_ = seconds();
}

// If the period is over, reports the figures of the period to the policy, and passes the policy's
// orders on to the workers.
void PlacementWatch::end_period() {
    publish_figures();
    const double length = policy_->period_seconds();
    if (length == 0 || !assignments_->gives_orders() || seconds() - period_begun_ < length) return;
    if (host_.is_shared() && !host_.published()) return;
    const PlacementOrders orders = policy_->on_period(period());
    if (orders.move_workers) {
        places_ = policy_->worker_places();
        order_places(places_);
    }
    if (orders.fetch) assignments_->fetch();
}

RankPages PlacementWatch::own_pages() const {
    const MigrationFigures figures = daemon_.figures();
    RankPages pages{{},
                    (figures.pages_moved + assignments_->pages_fetched()) * page_bytes,
                    figures.busy_ns + assignments_->fetch_ns(),
                    other_threads_ns()};
    if (policy_->wants_homes()) pages.homes = sample(pages_a_sample).memory_by_home();
    return pages;
}

// The figures since the previous call.
PlacementPeriod PlacementWatch::period() {
    PlacementPeriod period;
    period.has_caught_up = daemon_.has_caught_up();
    const RankPages pages = host_.is_shared() ? *host_.published() : own_pages();
    period.homes = pages.homes;
    period.migrated_bytes = pages.migrated_bytes;
    period.migration_seconds = static_cast<double>(pages.migration_ns) / 1e9;
    const std::uint64_t committed = progress_.committed_events.load(std::memory_order_relaxed);
    const std::uint64_t cpu_ns = process_cpu_ns();
    period.committed_events = committed - std::exchange(committed_then_, committed);
    period.cpu_seconds = 1e-9 * static_cast<double>(cpu_ns - std::exchange(cpu_ns_then_, cpu_ns));
    std::vector<std::vector<double>> mail = assignments_->mail_bytes();
    period.traffic = mail;
    for (std::size_t a = 0; a < mail.size(); ++a)
        for (std::size_t b = 0; b < mail.size(); ++b) period.traffic[a][b] -= mail_then_[a][b];
    mail_then_ = std::move(mail);
    const double now = seconds();
    const std::optional<double> missed = missed_bytes();
    if (missed && missed_then_)
        period.missed_mb_s = (*missed - *missed_then_) / 1e6 / (now - period_begun_);
    missed_then_ = missed;
    if (others_)
        period.others =
            others_->end_period(now - period_begun_, worker_times(), pages.other_threads_ns);
    period.seconds = period_begun_ = now;
    return period;
}

// All times are read at the same moment. Otherwise, the time of a worker between two moments would
// count as the time of another thread.
std::uint64_t PlacementWatch::other_threads_ns() const {
    if (!wants_cpu_times()) return 0;
    assignments_->publish_cpu_times();
    const std::uint64_t of_workers = assignments_->cpu_ns_of_workers();
    return std::max(process_cpu_ns(), of_workers) - of_workers;
}

std::vector<WorkerTime> PlacementWatch::worker_times() const {
    std::vector<WorkerTime> times;
    for (std::uint32_t s = 0; s < assignments_->size(); ++s)
        times.push_back(
            {assignments_->cpu_of_assignment(s), assignments_->cpu_ns_of_assignment(s)});
    return times;
}

// Bytes that this rank's workers have read from memory so far; nothing if a worker has no counter.
std::optional<double> PlacementWatch::missed_bytes() const {
    if (!policy_->wants_misses()) return std::nullopt;
    double lines = 0;
    for (std::uint32_t w = 0; w < assignments_->workers(); ++w) {
        CounterReading reading;
        const int handle = assignments_->miss_counter(w);
        if (handle < 0 || os_.read_counter(handle, reading) != 0 || reading.ran_ns == 0)
            return std::nullopt;
        lines += static_cast<double>(reading.count) * static_cast<double>(reading.wanted_ns) /
                 static_cast<double>(reading.ran_ns);
    }
    return lines * cache_line_bytes;
}

PlacementSample PlacementWatch::sample_of(const Placement& placement,
                                          const MigrationFigures& figures) const noexcept {
    return {seconds(), progress_.groups_moved.load(std::memory_order_relaxed), figures.pages_moved,
            figures.passes, placement.remote_share()};
}

double PlacementWatch::seconds() const noexcept {
    return std::chrono::duration<double>(Clock::now() - start_).count();
}

Placement PlacementWatch::sample(std::size_t pages) const {
    const LockGuard lock(groups_mutex_);
    return probe_placement(os_, groups_, pages);
}

std::string PlacementWatch::describe(const Placement& placement) const {
    if (placement.status != 0)
        return fmt::format("placement: not reported by the kernel ({})",
                           std::strerror(placement.status));
    std::string text = fmt::format("placement: {} local", share_text(1 - placement.remote_share()));
    for (const PageKind kind : {PageKind::state, PageKind::platform, PageKind::mail}) {
        const PagePlacement& pages = placement.of(kind);
        text += fmt::format("; {} {} remote", name_of(kind), share_text(pages.remote_share()));
        for (const NodeInfo& node : nodes_)
            text += fmt::format(", {} on node {}", bytes_text(pages.resident_bytes(node.node)),
                                index(node.node));
    }
    return text;
}

}  // namespace nw
