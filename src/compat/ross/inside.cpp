// SPDX-License-Identifier: Apache-2.0
// The internal functions and variables of ROSS that ross.h declares. The functions only refuse the
// call: outside of handlers the program ends, and in a handler the event fails.
#include <fmt/format.h>

#include "program_state.hpp"

void (*g_tw_gvt_hook)(tw_pe* pe, bool past_end_time) = nullptr;
unsigned int g_tw_gvt_done = 0;

namespace {

[[noreturn]] void refuse(const char* function, const char* why) {
    nw::ross::refuse(fmt::format("{}(): {}", function, why));
}

[[noreturn]] void refuse_hook(const char* function) {
    refuse(function, "numawarp has no hooks at GVT");
}

[[noreturn]] void refuse_queue(const char* function) {
    refuse(function, "numawarp has no event queues that a model may change");
}

}  // namespace

void tw_trigger_gvt_hook_at(tw_stime) { refuse_hook("tw_trigger_gvt_hook_at"); }
void tw_trigger_gvt_hook_every(int) { refuse_hook("tw_trigger_gvt_hook_every"); }
void tw_trigger_gvt_hook_when_model_calls(void) {
    refuse_hook("tw_trigger_gvt_hook_when_model_calls");
}
void tw_trigger_gvt_hook_now(tw_lp*) { refuse_hook("tw_trigger_gvt_hook_now"); }
void tw_trigger_gvt_hook_now_rev(tw_lp*) { refuse_hook("tw_trigger_gvt_hook_now_rev"); }

tw_event* tw_pq_dequeue(tw_pq*) { refuse_queue("tw_pq_dequeue"); }
void tw_pq_enqueue(tw_pq*, tw_event*) { refuse_queue("tw_pq_enqueue"); }
void tw_hash_insert(void*, tw_event*, tw_peid) { refuse_queue("tw_hash_insert"); }
tw_event* tw_hash_remove(void*, tw_event*, tw_peid) { refuse_queue("tw_hash_remove"); }
void tw_event_free(tw_pe*, tw_event*) { refuse_queue("tw_event_free"); }
void tw_scheduler_rollback_and_cancel_events_pe(tw_pe*) {
    refuse_queue("tw_scheduler_rollback_and_cancel_events_pe");
}
