// SPDX-License-Identifier: Apache-2.0
// A model in ROSS's style that is written in C++, has no reverse handler, keeps a list in its
// state, and is mapped round robin. The model can only be rolled back by snapshots.
#include <cstdio>
#include <list>
#include <new>

#include <ross.h>

namespace {

struct Message {
    double sent_at;
};

struct State {
    std::list<double> last;
    double sum;
};

unsigned int lps = 64;

void send(tw_lp* lp) {
    const auto to = static_cast<tw_lpid>(tw_rand_integer(lp->rng, 0, static_cast<long>(lps) - 1));
    tw_event* const event = tw_event_new(to, tw_rand_exponential(lp->rng, 1.0), lp);
    static_cast<Message*>(tw_event_data(event))->sent_at = tw_now(lp);
    tw_event_send(event);
}

void init(void* state, tw_lp* lp) {
    new (state) State{};
    send(lp);
}

void pre_run(void*, tw_lp* lp) { send(lp); }

void event(void* state, tw_bf*, void* message, tw_lp* lp) {
    auto& s = *static_cast<State*>(state);
    s.last.push_back(tw_now(lp) - static_cast<Message*>(message)->sent_at);
    if (s.last.size() > 8) s.last.pop_front();
    s.sum += s.last.front();
    if (tw_rand_unif(lp->rng) < 0.01) tw_output(lp, "LP %lu has %g", lp->gid, s.sum);
    send(lp);
}

double sum_of_all = 0;

void final(void* state, tw_lp*) { sum_of_all += static_cast<State*>(state)->sum; }

tw_peid node_of(tw_lpid gid) { return gid % tw_nnodes(); }

tw_lptype type = {init, pre_run, event, nullptr, nullptr, final, node_of, sizeof(State)};

const tw_optdef options[] = {TWOPT_GROUP("Pinger"), TWOPT_UINT("lps", lps, "number of LPs"),
                             TWOPT_END()};

}  // namespace

int main(int argc, char** argv) {
    tw_opt_add(options);
    tw_init(&argc, &argv);
    g_tw_mapping = ROUND_ROBIN;
    tw_define_lps(lps / tw_nnodes(), sizeof(Message));
    for (tw_lpid i = 0; i < g_tw_nlp; ++i) tw_lp_settype(i, &type);
    tw_run();
    std::printf("sum %.6f\n", sum_of_all);
    tw_end();
}
