// SPDX-License-Identifier: Apache-2.0
// Agents of classic ROOT-Sim (version 2). Each LP is a region of the topology and stores the agents
// in the region. An agent moves to another region as an event.
//
// These things are the same as in ROOT-Sim: the paths of agents, the order of the calls of
// handlers, the data that neighbors receive, and the order of IterAgents().
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compat/rootsim/classic.hpp"
#include "compat/rootsim/classic_include/ROOT-Sim.h"
#include "compat/rootsim/lp.hpp"

namespace nw::rootsim {
namespace {

struct Visit {
    unsigned region;
    unsigned action;
    double time;  // of a past visit
};

// Memory for the model's data. It is zero at first, because it is sent in events and is part of the
// digest.
struct Freed {
    void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
};
using Data = std::unique_ptr<std::byte[], Freed>;

struct Agent {
    agent_t key;
    unsigned data_bytes;
    Data data;
    double leaves_at;
    std::vector<Visit> plan;
    std::vector<Visit> past;
};

// The head of a visit event. The agent's data, planned visits and past visits follow. The model's
// handler receives only the key.
struct Traveller {
    agent_t key;
    unsigned data_bytes;
    unsigned planned;
    unsigned past;
    unsigned none;  // padding
};

struct Leave {
    agent_t key;
    unsigned code;
    unsigned none;  // padding
};

enum : EventType { visit_type = first_own_type, leave_type, update_type };

Data new_data(unsigned bytes) {
    auto* const zeroed = static_cast<std::byte*>(std::calloc(bytes > 0 ? bytes : 1, 1));
    if (zeroed == nullptr) throw std::bad_alloc();
    return Data(zeroed);
}

class Writer {
  public:
    explicit Writer(std::size_t bytes) { bytes_.reserve(bytes); }
    void write(const void* from, std::size_t bytes) {
        const auto* first = static_cast<const std::byte*>(from);
        bytes_.insert(bytes_.end(), first, first + bytes);
    }
    std::span<const std::byte> bytes() const noexcept { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

class AgentLp final : public Lp {
  public:
    AgentLp(LpId self, std::uint64_t seed);

    void on_start(Context& context) override;
    void on_event(Context& context, const Event& event) override;
    bool can_end() const override;

    // --- for the functions that the model calls ---

    unsigned count() const noexcept { return static_cast<unsigned>(agents_.size()); }
    bool iterate(agent_t* key);
    agent_t spawn(unsigned data_bytes);
    void kill(agent_t key);
    Agent& agent(agent_t key);
    std::vector<Visit>& plan_with(agent_t key, unsigned number, unsigned beyond_end);
    void leave(double time, unsigned code, agent_t key);
    void track(const void* data) noexcept { tracked_ = static_cast<const std::byte*>(data); }
    int neighbor(unsigned direction, unsigned* region, void** data);

  private:
    Agent* find(agent_t key);
    Agent& add(agent_t key, unsigned data_bytes);
    void call(unsigned type, agent_t key);
    void make_visit(Agent& agent);
    void on_visit(const Event& event);
    void on_leave(const Event& event);
    void on_update(const Event& event);
    unsigned next_region_of(const Agent& agent) const;
    void travel(Agent& agent, unsigned region);
    void publish();

    std::vector<Agent> agents_;
    std::unordered_map<agent_t, std::size_t> places_;  // key → index in agents_
    agent_t next_key_;
    std::size_t iterated_ = 0;                   // next agent; 0 between events and after OnGVT()
    const std::byte* tracked_ = nullptr;         // the model's data for the neighbors
    std::vector<std::byte> published_;           // the data that the neighbors received last
    std::vector<std::vector<std::byte>> heard_;  // by direction: the neighbor's data
    std::vector<unsigned> neighbors_;            // by direction
};

AgentLp& region_of(Lp& lp, const char* function) {
    if (&abm_settings == nullptr)
        throw ModelError(fmt::format("{}(): the model has no abm_settings", function));
    return static_cast<AgentLp&>(lp);
}

// For functions that only read: OnGVT() may call them, too.
AgentLp& current_region(const char* function) { return region_of(current_lp(function), function); }
AgentLp& region_in_handler(const char* function) {
    return region_of(lp_in_handler(function), function);
}

void demand_visit(const char* function, unsigned region, unsigned action) {
    if (region >= RegionsCount() || action == INIT)
        throw ModelError(
            fmt::format("{}(): region {}, event {}; allowed: a region below {}, and not INIT",
                        function, region, action, RegionsCount()));
}

// --- Agents --------------------------------------------------------------------------------------

AgentLp::AgentLp(LpId self, std::uint64_t seed) : Lp(self, seed), next_key_(index(self)) {}

Agent* AgentLp::find(agent_t key) {
    const auto place = places_.find(key);
    return place != places_.end() ? &agents_[place->second] : nullptr;
}

Agent& AgentLp::agent(agent_t key) {
    if (Agent* const found = find(key)) return *found;
    throw ModelError(fmt::format("agent {} is not in region {}", key, self()));
}

Agent& AgentLp::add(agent_t key, unsigned data_bytes) {
    places_[key] = agents_.size();
    return agents_.emplace_back(Agent{key, data_bytes, new_data(data_bytes), -1, {}, {}});
}

agent_t AgentLp::spawn(unsigned data_bytes) {
    Agent& agent = add(std::exchange(next_key_, next_key_ + RegionsCount()), data_bytes);
    if (abm_settings.keep_history)
        agent.past.push_back({self(), INIT, current_context("SpawnAgent").now()});
    return agent.key;
}

// The last element of agents_ takes the place of the agent.
void AgentLp::kill(agent_t key) {
    Agent& killed = agent(key);
    places_[agents_.back().key] = places_[key];
    places_.erase(key);
    std::swap(killed, agents_.back());
    agents_.pop_back();
}

bool AgentLp::iterate(agent_t* key) {
    if (key == nullptr || iterated_ >= agents_.size()) {
        iterated_ = 0;
        return false;
    }
    *key = agents_[iterated_++].key;
    return true;
}

// The agent's plan. Throws ModelError unless `number` is below the number of planned visits plus
// `beyond_end`.
std::vector<Visit>& AgentLp::plan_with(agent_t key, unsigned number, unsigned beyond_end) {
    std::vector<Visit>& plan = agent(key).plan;
    if (number < plan.size() + beyond_end) return plan;
    throw ModelError(fmt::format("agent {} has {} planned visits; visit {} does not exist", key,
                                 plan.size(), number));
}

// --- Moves of agents -----------------------------------------------------------------------------

void AgentLp::leave(double time, unsigned code, agent_t key) {
    agent(key).leaves_at = time;
    const Leave content{key, code, 0};
    current_context("ScheduleNewLeaveEvent")
        .schedule_bytes_at(LpId{self()}, time, leave_type, std::as_bytes(std::span(&content, 1)));
}

void AgentLp::call(unsigned type, agent_t key) {
    process(running_call.context->now(), type, std::as_bytes(std::span(&key, 1)));
}

// Makes the first visit of the plan, if this visit is in this region. Otherwise the agent only
// passes through.
void AgentLp::make_visit(Agent& agent) {
    Visit visit{self(), abm_settings.traverse_handler, running_call.context->now()};
    if (!agent.plan.empty() && agent.plan.front().region == self()) {
        visit.action = agent.plan.front().action;
        agent.plan.erase(agent.plan.begin());
    }
    if (abm_settings.keep_history) agent.past.push_back(visit);
    call(visit.action, agent.key);
}

void AgentLp::on_visit(const Event& event) {
    const std::byte* from = event.bytes().data();
    const auto read = [&from](void* to, std::size_t bytes) {
        if (bytes > 0) std::memcpy(to, from, bytes);
        from += bytes;
    };
    Traveller traveller;
    read(&traveller, sizeof(traveller));
    Agent& arrived = add(traveller.key, traveller.data_bytes);
    read(arrived.data.get(), traveller.data_bytes);
    arrived.plan.resize(traveller.planned);
    read(arrived.plan.data(), traveller.planned * sizeof(Visit));
    arrived.past.resize(traveller.past);
    read(arrived.past.data(), traveller.past * sizeof(Visit));
    make_visit(arrived);
}

// Does nothing if the agent is no longer here, or if a later call of leave() has set a later time.
void AgentLp::on_leave(const Event& event) {
    const auto leave = event.payload<Leave>();
    const auto leaving = [&]() -> Agent* {
        Agent* const agent = find(leave.key);
        return agent != nullptr && agent->leaves_at <= event.time() ? agent : nullptr;
    };
    if (leaving() == nullptr) return;
    call(leave.code, leave.key);
    Agent* const agent = leaving();
    if (agent == nullptr) return;
    const unsigned next = next_region_of(*agent);
    if (next == self())
        make_visit(*agent);
    else if (next != DIRECTION_INVALID)
        travel(*agent, next);
}

// The next region on the way to the last visit of the plan, as in ROOT-Sim. DIRECTION_INVALID if
// the plan is empty or there is no path.
unsigned AgentLp::next_region_of(const Agent& agent) const {
    if (agent.plan.empty()) return DIRECTION_INVALID;
    const unsigned target = agent.plan.back().region;
    return target == self() ? target : FindReceiverToward(target);
}

void AgentLp::travel(Agent& agent, unsigned region) {
    const Traveller traveller{agent.key, agent.data_bytes, static_cast<unsigned>(agent.plan.size()),
                              static_cast<unsigned>(agent.past.size()), 0};
    const std::size_t visits = (agent.plan.size() + agent.past.size()) * sizeof(Visit);
    Writer writer(sizeof(traveller) + agent.data_bytes + visits);
    writer.write(&traveller, sizeof(traveller));
    writer.write(agent.data.get(), agent.data_bytes);
    writer.write(agent.plan.data(), agent.plan.size() * sizeof(Visit));
    writer.write(agent.past.data(), agent.past.size() * sizeof(Visit));
    Context& context = *running_call.context;
    context.schedule_bytes_at(LpId{region}, context.now(), visit_type, writer.bytes());
    kill(agent.key);
}

// --- Data of neighbors ---------------------------------------------------------------------------

void AgentLp::on_update(const Event& event) {
    for (std::size_t i = neighbors_.size(); i-- > 0;) {
        if (neighbors_[i] != index(event.sender())) continue;
        heard_[i].assign(event.bytes().begin(), event.bytes().end());
        return;
    }
}

// Sends the tracked data to the neighbors if the data have changed since they were last sent.
void AgentLp::publish() {
    if (tracked_ == nullptr || published_.empty() ||
        std::memcmp(published_.data(), tracked_, published_.size()) == 0)
        return;
    published_.assign(tracked_, tracked_ + published_.size());
    Context& context = *running_call.context;
    for (std::size_t i = neighbors_.size(); i-- > 0;)
        if (neighbors_[i] != DIRECTION_INVALID)
            context.schedule_bytes_at(LpId{neighbors_[i]}, context.now(), update_type, published_);
}

int AgentLp::neighbor(unsigned direction, unsigned* region, void** data) {
    if (direction >= neighbors_.size())
        throw ModelError(fmt::format("GetNeighbourInfo(): direction {}; allowed: below {}",
                                     direction, neighbors_.size()));
    if (neighbors_[direction] == DIRECTION_INVALID) return -1;
    *region = neighbors_[direction];
    *data = heard_[direction].data();
    return 0;
}

// --- Events --------------------------------------------------------------------------------------

void AgentLp::on_start(Context& context) {
    const InCall in({this, &context});
    published_.resize(abm_settings.neighbour_data_size);
    heard_.assign(DirectionsCount(), published_);
    for (unsigned i = 0; i < DirectionsCount(); ++i)
        neighbors_.push_back(self() < RegionsCount()
                                 ? GetReceiver(self(), static_cast<direction_t>(i), false)
                                 : unsigned{DIRECTION_INVALID});
    begin();
    publish();
    iterated_ = 0;
}

void AgentLp::on_event(Context& context, const Event& event) {
    const InCall in({this, &context});
    switch (event.type()) {
        case visit_type:
            on_visit(event);
            break;
        case leave_type:
            on_leave(event);
            break;
        case update_type:
            return on_update(event);
        default:
            process(event);
    }
    publish();
    iterated_ = 0;
}

// OnGVT() may iterate over the agents, which changes iterated_. The const_cast is needed for this
// reason.
bool AgentLp::can_end() const {
    auto* const self = const_cast<AgentLp*>(this);
    const InCall in({self, nullptr});
    const bool can = Lp::can_end();
    self->iterated_ = 0;
    return can;
}

}  // namespace

ProcessFactory agent_process(std::uint64_t seed) {
    if (&topology_settings == nullptr)
        throw SetupError(
            "abm_settings: agents need a topology; allowed: abm_settings together with "
            "topology_settings");
    return process<AgentLp>(seed);
}

}  // namespace nw::rootsim

using nw::rootsim::current_region;
using nw::rootsim::demand_visit;
using nw::rootsim::region_in_handler;

int GetNeighbourInfo(direction_t i, unsigned* region_id, void** data_p) {
    return current_region("GetNeighbourInfo").neighbor(i, region_id, data_p);
}
void TrackNeighbourInfo(void* data) { region_in_handler("TrackNeighbourInfo").track(data); }

bool IterAgents(agent_t* agent_p) { return current_region("IterAgents").iterate(agent_p); }
unsigned CountAgents() { return current_region("CountAgents").count(); }
agent_t SpawnAgent(unsigned user_data_size) {
    return region_in_handler("SpawnAgent").spawn(user_data_size);
}
void KillAgent(agent_t agent) { region_in_handler("KillAgent").kill(agent); }

void* DataAgent(agent_t agent, unsigned* data_size_p) {
    nw::rootsim::Agent& found = current_region("DataAgent").agent(agent);
    if (data_size_p != nullptr) *data_size_p = found.data_bytes;
    return found.data.get();
}

void ScheduleNewLeaveEvent(simtime_t time, unsigned event_type, agent_t agent) {
    region_in_handler("ScheduleNewLeaveEvent").leave(time, event_type, agent);
}

unsigned CountVisits(agent_t agent) {
    return static_cast<unsigned>(current_region("CountVisits").agent(agent).plan.size());
}

void GetVisit(agent_t agent, unsigned* region_p, unsigned* event_type_p, unsigned i) {
    const nw::rootsim::Visit& visit = current_region("GetVisit").plan_with(agent, i, 0)[i];
    *region_p = visit.region;
    *event_type_p = visit.action;
}

void SetVisit(agent_t agent, unsigned region, unsigned event_type, unsigned i) {
    std::vector<nw::rootsim::Visit>& plan = region_in_handler("SetVisit").plan_with(agent, i, 0);
    demand_visit("SetVisit", region, event_type);
    plan[i] = {region, event_type, 0};
}

void EnqueueVisit(agent_t agent, unsigned region, unsigned event_type) {
    nw::rootsim::Agent& visitor = region_in_handler("EnqueueVisit").agent(agent);
    demand_visit("EnqueueVisit", region, event_type);
    visitor.plan.push_back({region, event_type, 0});
}

void AddVisit(agent_t agent, unsigned region, unsigned event_type, unsigned i) {
    std::vector<nw::rootsim::Visit>& plan = region_in_handler("AddVisit").plan_with(agent, i, 1);
    demand_visit("AddVisit", region, event_type);
    plan.insert(plan.begin() + i, {region, event_type, 0});
}

void RemoveVisit(agent_t agent, unsigned i) {
    std::vector<nw::rootsim::Visit>& plan = region_in_handler("RemoveVisit").plan_with(agent, i, 0);
    plan.erase(plan.begin() + i);
}

unsigned CountPastVisits(agent_t agent) {
    return static_cast<unsigned>(current_region("CountPastVisits").agent(agent).past.size());
}

// The newest past visit has the number 0.
void GetPastVisit(agent_t agent, unsigned* region_p, unsigned* event_type_p, simtime_t* time_p,
                  unsigned i) {
    const std::vector<nw::rootsim::Visit>& past = current_region("GetPastVisit").agent(agent).past;
    if (i >= past.size())
        throw nw::ModelError(fmt::format("agent {} has {} past visits; visit {} does not exist",
                                         agent, past.size(), i));
    const nw::rootsim::Visit& visit = past[past.size() - 1 - i];
    *region_p = visit.region;
    *event_type_p = visit.action;
    *time_p = visit.time;
}
