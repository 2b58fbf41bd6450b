// SPDX-License-Identifier: Apache-2.0
// The LPs as the model defines them: their number, their types, and their mapping to ranks (one of
// ROSS's three mappings).
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "program_state.hpp"

map_local_f g_tw_custom_lp_global_to_local_map = nullptr;
map_custom_f g_tw_custom_initial_mapping = nullptr;
tw_lp_map g_tw_mapping = LINEAR;
tw_lpid g_tw_nlp = 0;
tw_lpid g_tw_total_lps = 0;
tw_lpid g_tw_lp_offset = 0;
tw_kpid g_tw_nkp = 1;
tw_lp** g_tw_lp = nullptr;
tw_kp** g_tw_kp = nullptr;
tw_pe* g_tw_pe = nullptr;
tw_lptype* g_tw_lp_types = nullptr;
tw_typemap_f g_tw_lp_typemap = &map_onetype;
unsigned int g_tw_nRNG_per_lp = 1;
tw_lpid g_tw_rng_default = 1;
std::size_t g_tw_msg_sz = 0;
int g_st_ev_trace = 0;
int g_st_model_stats = 0;
int g_st_use_analysis_lps = 0;

namespace nw::ross {
namespace {

// The LPs that models access before the run. In the run, g_tw_lp points to the engine's LPs
// instead.
std::vector<tw_lp*> lp_places;
std::vector<tw_kp*> kp_places;
std::vector<std::unique_ptr<tw_lp>> defined_lps;
std::vector<std::unique_ptr<tw_kp>> defined_kps;
std::vector<tw_rng_stream> defined_streams;

constexpr tw_lpid lps_max = UINT32_MAX - 1;
constexpr tw_kpid kps_max = 1 << 20;

tw_lp& defined(tw_lpid place) {
    if (place >= g_tw_nlp) refuse(fmt::format("LP {}: this rank has {} LPs", place, g_tw_nlp));
    if (g_tw_lp[place] == nullptr)
        refuse(fmt::format("LP {}: the mapping has not placed this LP with tw_lp_onpe()", place));
    return *g_tw_lp[place];
}

// Refuses a table of functions that was written for an earlier version of ROSS. Such a table has
// fewer functions, so that a number or null is in the place of a function.
void check_type(const tw_lptype& type, tw_lpid place) {
    constexpr std::uintptr_t least_address = 65536;
    const auto is_function = [](auto function) {
        return reinterpret_cast<std::uintptr_t>(function) >= least_address;
    };
    const bool is_whole = (type.event == nullptr || is_function(type.event)) &&
                          is_function(type.map) &&
                          (type.final == nullptr || is_function(type.final));
    if (!is_whole)
        refuse(fmt::format(
            "tw_lp_settype({}): this type has no valid map function; allowed: a table in the order "
            "of ROSS 8: init, pre_run, event, revent, commit, final, map, state size",
            place));
}

void refuse_event(void*, tw_bf*, void*, tw_lp*) {
    refuse("an event for an LP whose type has no event function");
}

void map_block() {
    for (tw_kpid kp = 0; kp < g_tw_nkp; ++kp) tw_kp_onpe(kp, g_tw_pe);
    const tw_lpid lps_per_kp = (g_tw_nlp + g_tw_nkp - 1) / g_tw_nkp;
    g_tw_lp_offset = g_tw_mynode * g_tw_nlp;
    for (tw_lpid i = 0; i < g_tw_nlp; ++i) {
        tw_lp_onpe(i, g_tw_pe, g_tw_lp_offset + i);
        tw_lp_onkp(g_tw_lp[i], g_tw_kp[i / lps_per_kp]);
    }
}

void map_round_robin() {
    for (tw_kpid kp = 0; kp < g_tw_nkp; ++kp) tw_kp_onpe(kp, g_tw_pe);
    for (tw_lpid i = 0; i < g_tw_nlp; ++i) {
        tw_lp_onpe(i, g_tw_pe, g_tw_mynode + i * tw_nnodes());
        tw_lp_onkp(g_tw_lp[i], g_tw_kp[i % g_tw_nkp]);
    }
}

void map_custom() {
    if (g_tw_custom_initial_mapping == nullptr)
        refuse("g_tw_mapping is CUSTOM, but g_tw_custom_initial_mapping is not set");
    if (g_tw_custom_lp_global_to_local_map == nullptr)
        refuse("g_tw_mapping is CUSTOM, but g_tw_custom_lp_global_to_local_map is not set");
    g_tw_custom_initial_mapping();
}

// Gives the LPs their streams before the run, because models may draw before the run. The run
// continues these streams (take_defined_streams()).
void give_streams() {
    defined_streams.assign(g_tw_nlp * g_tw_nRNG_per_lp, {});
    for (tw_lpid i = 0; i < g_tw_nlp; ++i) {
        if (g_tw_lp[i] == nullptr) continue;  // refused when the run begins
        g_tw_lp[i]->rng = &defined_streams[i * g_tw_nRNG_per_lp];
        seed_streams(*g_tw_lp[i]);
    }
}

void place_lps() {
    switch (g_tw_mapping) {
        case LINEAR:
            return map_block();
        case ROUND_ROBIN:
            return map_round_robin();
        case CUSTOM:
            return map_custom();
    }
    refuse("g_tw_mapping: must be LINEAR, ROUND_ROBIN or CUSTOM");
}

tw_lpid sum_over_ranks(tw_lpid own) {
    if (program().ranks == 1) return own;
    tw_lpid all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

// The description of an LP that ranks exchange. The functions have the same addresses in all ranks,
// because programs that link numawarp::numawarp are not relocatable.
struct ToldLp {
    tw_lpid gid;
    tw_lpid place;
    tw_peid node;
    tw_lptype type;
};

std::vector<ToldLp> told_by_all() {
    std::vector<ToldLp> own;
    for (tw_lpid i = 0; i < g_tw_nlp; ++i) {
        const tw_lp& lp = defined(i);
        if (lp.type == nullptr)
            refuse(fmt::format("LP {} has no type; call tw_lp_settype()", lp.gid));
        own.push_back({lp.gid, i, g_tw_mynode, *lp.type});
        if (lp.type->event == nullptr) own.back().type.event = refuse_event;
        if (lp.type->event == nullptr) own.back().type.revent = refuse_event;
    }
    const int ranks = static_cast<int>(program().ranks);
    if (ranks == 1) return own;
    const int bytes = static_cast<int>(own.size() * sizeof(ToldLp));
    std::vector<int> sizes(program().ranks), starts(program().ranks);
    MPI_Allgather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (std::size_t r = 1; r < sizes.size(); ++r) starts[r] = starts[r - 1] + sizes[r - 1];
    std::vector<ToldLp> all(g_tw_total_lps);
    MPI_Allgatherv(own.data(), bytes, MPI_BYTE, all.data(), sizes.data(), starts.data(), MPI_BYTE,
                   MPI_COMM_WORLD);
    return all;
}

std::uint32_t index_of(std::vector<tw_lptype>& types, const tw_lptype& type) {
    for (std::size_t i = types.size(); i-- > 0;)
        if (std::memcmp(&types[i], &type, sizeof type) == 0) return static_cast<std::uint32_t>(i);
    types.push_back(type);
    return static_cast<std::uint32_t>(types.size() - 1);
}

}  // namespace

void seed_streams(tw_lp& lp) {
    for (unsigned int i = 0; i < g_tw_nRNG_per_lp; ++i)
        tw_rand_initial_seed(&lp.rng[i], lp.gid * g_tw_nRNG_per_lp + i, nullptr);
}

bool take_defined_streams(const tw_lp& defined, tw_rng_stream* to) {
    if (defined.rng == nullptr || defined_streams.size() != g_tw_nlp * g_tw_nRNG_per_lp)
        return false;
    std::copy_n(defined.rng, g_tw_nRNG_per_lp, to);
    return true;
}

LpTable lp_table() {
    if (g_tw_lp == nullptr) refuse("tw_run(): there are no LPs; call tw_define_lps() first");
    LpTable table;
    table.type_of.assign(g_tw_total_lps, LpTable::elsewhere);
    table.node_of.assign(g_tw_total_lps, 0);
    table.place_of.assign(g_tw_total_lps, LpTable::elsewhere);
    for (const ToldLp& lp : told_by_all()) {
        if (lp.gid >= g_tw_total_lps)
            refuse(fmt::format("LP {}: the mapping must number {} LPs from 0 to {}", lp.gid,
                               g_tw_total_lps, g_tw_total_lps - 1));
        if (table.type_of[lp.gid] != LpTable::elsewhere)
            refuse(fmt::format("LP {}: the mapping uses this number twice", lp.gid));
        table.type_of[lp.gid] = index_of(table.types, lp.type);
        table.node_of[lp.gid] = static_cast<std::uint32_t>(lp.node);
        if (lp.node == g_tw_mynode) table.place_of[lp.gid] = static_cast<std::uint32_t>(lp.place);
    }
    return table;
}

}  // namespace nw::ross

using nw::ross::refuse;

tw_lpid map_onetype(tw_lpid) { return 0; }

void tw_define_lps(tw_lpid nlp, std::size_t msg_sz) {
    nw::ross::demand_outside("tw_define_lps()");
    if (g_tw_pe == nullptr) refuse("tw_define_lps(): call tw_init() first");
    if (g_tw_lp != nullptr) refuse("tw_define_lps(): must be called only once");
    if (g_tw_nRNG_per_lp == 0) refuse("g_tw_nRNG_per_lp: must be at least 1");
    if (nlp == 0) refuse("tw_define_lps(0, ...): must be at least one LP");
    g_tw_nlp = nlp;
    g_tw_total_lps = nw::ross::sum_over_ranks(nlp);
    if (g_tw_total_lps > nw::ross::lps_max)
        refuse(fmt::format("{} LPs: must be at most {}", g_tw_total_lps, nw::ross::lps_max));
    g_tw_msg_sz = msg_sz;
    if (g_tw_nkp == 0) g_tw_nkp = 1;
    if (g_tw_nkp > nw::ross::kps_max)
        refuse(fmt::format("{} KPs (--nkp): must be at most {}", g_tw_nkp, nw::ross::kps_max));
    nw::ross::lp_places.assign(nlp, nullptr);
    nw::ross::kp_places.assign(g_tw_nkp, nullptr);
    g_tw_lp = nw::ross::lp_places.data();
    g_tw_kp = nw::ross::kp_places.data();
    nw::ross::place_lps();
    nw::ross::give_streams();
}

void tw_lp_onpe(tw_lpid id, tw_pe* pe, tw_lpid gid) {
    if (id >= g_tw_nlp)
        refuse(fmt::format("tw_lp_onpe({}, ...): this rank has {} LPs", id, g_tw_nlp));
    if (g_tw_lp[id] != nullptr)
        refuse(fmt::format("tw_lp_onpe({}, ...): this LP is already placed", id));
    auto lp = std::make_unique<tw_lp>();
    lp->id = id;
    lp->gid = gid;
    lp->pe = pe;
    g_tw_lp[id] = lp.get();
    nw::ross::defined_lps.push_back(std::move(lp));
}

void tw_kp_onpe(tw_kpid id, tw_pe* pe) {
    if (id >= g_tw_nkp)
        refuse(fmt::format("tw_kp_onpe({}, ...): there are {} KPs (--nkp)", id, g_tw_nkp));
    if (g_tw_kp[id] == nullptr) {
        constexpr double no_time = std::numeric_limits<double>::quiet_NaN();
        nw::ross::defined_kps.push_back(std::make_unique<tw_kp>(tw_kp{id, pe, 0, no_time}));
        g_tw_kp[id] = nw::ross::defined_kps.back().get();
    }
    g_tw_kp[id]->pe = pe;
}

void tw_lp_onkp(tw_lp* lp, tw_kp* kp) {
    if (lp == nullptr || kp == nullptr) refuse("tw_lp_onkp(): a pointer is NULL");
    lp->kp = kp;
    ++kp->lp_count;
}

void tw_lp_settype(tw_lpid id, tw_lptype* type) {
    nw::ross::demand_outside("tw_lp_settype()");
    nw::ross::defined(id).type = type;
    if (type != nullptr) nw::ross::check_type(*type, id);
}

void tw_lp_setup_types(void) {
    if (g_tw_lp_types == nullptr || g_tw_lp_typemap == nullptr)
        refuse("tw_lp_setup_types(): g_tw_lp_types and g_tw_lp_typemap must be set");
    for (tw_lpid i = 0; i < g_tw_nlp; ++i) {
        const tw_lpid wanted = g_tw_lp_typemap(nw::ross::defined(i).gid);
        // A table ends with an entry that is all zero. Entries after it are not read.
        constexpr tw_lptype end{};
        tw_lpid type = 0;
        while (type < wanted && std::memcmp(&g_tw_lp_types[type], &end, sizeof end) != 0) ++type;
        if (type < wanted)
            refuse(fmt::format("g_tw_lp_typemap({}) is {}: g_tw_lp_types has {} types",
                               nw::ross::defined(i).gid, wanted, type));
        tw_lp_settype(i, &g_tw_lp_types[type]);
    }
}

tw_kp* tw_getkp(tw_kpid id) {
    if (id >= g_tw_nkp || g_tw_kp == nullptr)
        nw::ross::refuse(fmt::format("tw_getkp({}): there are {} KPs", id, g_tw_nkp));
    return g_tw_kp[id];
}

tw_lp* tw_getlp(tw_lpid id) {
    if (id >= g_tw_nlp)
        nw::ross::refuse(fmt::format("tw_getlp({}): this rank has {} LPs", id, g_tw_nlp));
    return g_tw_lp[id];
}

tw_lp* tw_getlocal_lp(tw_lpid gid) {
    switch (g_tw_mapping) {
        case CUSTOM:
            return g_tw_custom_lp_global_to_local_map(gid);
        case ROUND_ROBIN:
            return tw_getlp(gid / tw_nnodes());
        case LINEAR:
            break;
    }
    return tw_getlp(gid - g_tw_lp_offset);
}
