// SPDX-License-Identifier: Apache-2.0
/* The rules that a model can break in a handler, by number. */
#ifndef NUMAWARP_TESTS_ROSS_MISUSE_H
#define NUMAWARP_TESTS_ROSS_MISUSE_H

#include <ross.h>

/* The message size that was passed to tw_define_lps(). */
static size_t misuse_bytes;
static volatile unsigned long misuse_handled = 0;

static inline void make_misuse(unsigned int kind, tw_lp *lp) {
    switch (tw_now(lp) > 5 ? kind : 0) {
        case 1:
            tw_event_send(tw_event_new(lp->gid, -1.0, lp));
            break;
        case 2:
            tw_event_send(tw_event_new(g_tw_total_lps, 1.0, lp));
            break;
        case 3:
            tw_error(TW_LOC, "the model says so: %d", 42);
            break;
        case 4:
            tw_lp_suspend(lp, 0, 7);
            break;
        case 5:
            for (;;) tw_event_new(lp->gid, 1.0, lp);
            break;
        case 6:
            tw_getlp(g_tw_nlp);
            break;
        case 7: /* writes far beyond the message; 8: one byte beyond it */
            ((char *)tw_event_data(tw_event_new(lp->gid, 1.0, lp)))[4096] = 1;
            break;
        case 8: {
            tw_event *event = tw_event_new(lp->gid, 1.0, lp);
            ((char *)tw_event_data(event))[misuse_bytes] = 1;
            tw_event_send(event);
            break;
        }
        case 9: {
            tw_event *event = tw_event_new(lp->gid, 1.0, lp);
            tw_event_send(event);
            tw_event_send(event);
            break;
        }
        case 12:
            tw_end();
            break;
        case 13:
            tw_lp_settype(0, NULL);
            break;
        case 14:
            tw_lp_suspend(NULL, 0, 7);
            break;
        case 15: {
            int rank = 0;
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            break;
        }
        case 16:
            lp->gid = (lp->gid + 1) % g_tw_total_lps;
            break;
        case 17:
            g_tw_ts_end = 7;
            break;
        case 11: /* a data race with two workers, and not rolled back by snapshots */
            ++misuse_handled;
            break;
        default:
            break;
    }
}

#endif
