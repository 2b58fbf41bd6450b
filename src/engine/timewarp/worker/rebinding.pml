/* SPDX-License-Identifier: Apache-2.0 */
/* A safety model of rebinding (handovers.hpp) and the safe horizon (safe_horizon.hpp).
 *
 * One group changes its owner between workers 0 and 1, with any of the ROUNDS rounds. Every worker
 * may send mail to the group. The worker first reads the group's owner. At any later time, but at
 * the latest at its own next cut, the worker pushes the mail onto the list of this owner. GVT
 * itself is not modeled. Worker w stamps mail with the number of its cuts. The time of mail that is
 * sent after cut r is at least GVT_r + lookahead. So the owner may execute up to the horizon of
 * round r only when it has received all mail with a stamp below r.
 *
 * The model asserts: mail reaches the group's owner before the owner's horizon passes the mail;
 * each round counts the pending events of the group exactly once; no worker waits forever.
 *
 * -DHOLD=2: the horizon is held for two rounds instead of three         (must FAIL)
 * -DNOWAIT: a worker cuts while a handover is under way                 (must FAIL)
 * -DLATEPUSH: mail is pushed after the sender's cut                     (must FAIL)
 * -DNODRAIN: a worker hands the group over before it has read its mail  (must FAIL)
 * -DNOPASS: the old owner keeps mail that comes late                    (must FAIL)
 */
#ifndef ROUNDS
#define ROUNDS 4
#endif
#ifndef W
#define W 3
#endif
#ifndef BUDGET
#define BUDGET 3      /* messages in all */
#endif
#ifndef HOLD
#define HOLD 3        /* rounds without an advance of the horizon; the first one has the plan */
#endif

#define STAMPS (ROUNDS + 1)
#define STAYS 2

#ifdef LATEPUSH
#define PUSHED true
#else
#define PUSHED (!has_read)
#endif
#ifdef NOWAIT
#define HANDED_OVER true
#else
#define HANDED_OVER (!leaving && awaited == 0)
#endif
#ifdef NODRAIN
#define DRAINED true
#else
#define DRAINED has_drained
#endif

byte opened, done, arrived;
byte cuts[W], seen[W];
byte plan[STAMPS];              /* by round: the worker from which the group moves, or STAYS */
byte addressee = 0;             /* of the group, as in the table of owners */
bool mine[2];                   /* by worker: whether the worker has the group's state */
bool posted[2];                 /* by worker: whether the group has been posted to the worker */
byte counted[STAMPS];           /* by round: number of cuts that have counted the group */
byte budget = BUDGET;
byte on_list[2 * STAMPS];       /* by stamp: mail on the lists of workers 0 and 1 */
byte to_come[STAMPS];           /* by stamp: mail that was sent and not received by the owner */

#define MAIL(w, stamp) on_list[(w) * STAMPS + (stamp)]

inline take_over(w)
{
    posted[w] = false;
    mine[w] = true;
    addressee = w;
    awaited--
}

/* Receives the mail on the worker's list, or passes it on. Then executes up to the horizon. */
inline drain(w)
{
    d_step {
        has_drained = true;
        n = 0;
        i = 0;
        do
        :: i < STAMPS -> n = n + MAIL(w, i); i++
        :: else -> break
        od;
        if
        :: n > 0 && !mine[w] && posted[w] -> take_over(w)
        :: else
        fi;
        i = 0;
        do
        :: i < STAMPS ->
            n = MAIL(w, i);
            MAIL(w, i) = 0;
            if
            :: mine[w] -> to_come[i] = to_come[i] - n
#ifndef NOPASS
            :: !mine[w] && n > 0 -> assert(addressee != w); MAIL(addressee, i) = MAIL(addressee, i) + n
#endif
            :: else
            fi;
            i++
        :: else -> break
        od;
        i = 0;
        do
        :: mine[w] && i < horizon -> assert(to_come[i] == 0); i++
        :: else -> break
        od;
        i = 0;
        n = 0
    }
}

proctype worker(byte w)
{
    byte horizon = 0, held = 0, stamp, to, i, n;
    bool leaving = false, has_read = false, has_drained = true;
    short awaited = 0;

    do
    :: d_step {                               /* read the result of a round */
            done > seen[w] ->
            seen[w]++;
            has_drained = w >= 2;
            if
            :: w < 2 && plan[seen[w]] == w -> leaving = true
            :: w < 2 && plan[seen[w]] == 1 - w -> awaited++
            :: else
            fi;
            if
            :: plan[seen[w]] != STAYS -> held = HOLD
            :: else
            fi;
            if
            :: held > 0 -> held--
            :: else -> horizon = seen[w]
            fi
        }
    :: d_step { w < 2 && awaited > 0 && posted[w] -> take_over(w) }
    :: w < 2 -> drain(w)
    :: d_step {                               /* send, step 1: read the group's owner */
            budget > 0 && !has_read && !(w < 2 && mine[w]) ->
            budget--;
            to = addressee;
            stamp = cuts[w];
            to_come[stamp]++;
            has_read = true
        }
                                              /* send, step 2: push the mail */
    :: d_step { has_read -> MAIL(to, stamp) = MAIL(to, stamp) + 1; has_read = false }
    :: d_step {
            opened > cuts[w] && cuts[w] == seen[w] && DRAINED && PUSHED && HANDED_OVER ->
            cuts[w]++;
            if
            :: w < 2 && mine[w] -> counted[opened]++
            :: else
            fi;
            arrived++
        }
    :: d_step {                               /* hand the group over */
            leaving && DRAINED ->
            mine[w] = false;
            leaving = false;
            addressee = 1 - w;
            posted[addressee] = true
        }
    :: seen[w] == ROUNDS && !leaving && awaited == 0 && !has_read -> break
    od
}

/* The net role. */
proctype rounds()
{
    do
    :: d_step { opened == done && opened < ROUNDS -> opened++; arrived = 0 }
    :: atomic {
            opened > done && arrived == W ->
            assert(counted[opened] == 1);
            if
            :: plan[opened] = addressee
            :: plan[opened] = STAYS
            fi;
            done++
        }
    :: done == ROUNDS -> break
    od
}

init
{
    byte w = 0;
    atomic {
        mine[0] = true;
        run rounds();
        do
        :: w < W -> run worker(w); w++
        :: else -> break
        od
    }
}
