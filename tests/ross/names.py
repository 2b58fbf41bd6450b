#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks names from ROSS's earlier versions, in C and in C++. Names that ross.h implements compile.
For each other name, the compiler reports an error that describes the solution, or a warning that
the interface does not implement the name. The compiler reports no other error.

usage: names.py ROOT FOLDERS-OF-MPI C-COMPILER C++-COMPILER...    exit code 1 if a name
behaves differently"""

import re
import subprocess
import sys

INSIDE = "does not implement this name"
BUFFERS = "has no memory buffers of ROSS"
TIMERS = "has no timers of ROSS"
PE_TYPES = "calls no functions of PEs"
NODES = "identifies a node by its number"

# (code of a model, text of the error or of the warning). None: the code compiles.
IN_FUNCTION = [
    ("if (g_st_ev_trace || g_st_model_stats || g_st_use_analysis_lps) lp->model_types = NULL;", None),
    ("tw_kp_onpe(0, g_tw_pe[0]); tw_lp_onpe(0, g_tw_pe[0], 7);", None),
    ("tw_kp_onpe(0, g_tw_pe); tw_lp_onpe(0, g_tw_pe, 7); tw_kp_onpe(0, lp->pe); tw_kp_onpe(0, tw_getpe(0));", None),
    ("tw_pe *pe = NULL; while ((pe = tw_pe_next(pe)) != NULL) tw_kp_onpe(0, pe);", None),
    ("g_tw_memory_nqueues = 16; g_tw_events_per_pe = 10; g_tw_pe->id = 0;", None),
    ("tw_event_send(tw_event_new_user_prio(0, 1.0, lp, 0.5));", None),
    ("tw_event_rescind(tw_event_new(0, 1.0, lp));", "cannot cancel a sent event"),
    ("tw_trigger_gvt_hook_at(3.0);", INSIDE),
    ("tw_trigger_gvt_hook_every(3);", INSIDE),
    ("tw_trigger_gvt_hook_when_model_calls();", INSIDE),
    ("return lp->kp->last_time > 1;", INSIDE),
    ("tw_pq_dequeue(NULL);", INSIDE),
    ("return lp->pe->cur_event == NULL;", INSIDE),
    ("return lp->pe->GVT > 1 && lp->pe->GVT_sig.recv_ts > 1 && g_tw_gvt_done > 1;", None),
    ("tw_snapshot(lp, lp->type->state_sz);", None),
    ("return (int)tw_snapshot_delta(lp, lp->type->state_sz);", None),
    ("tw_snapshot_restore(lp, lp->type->state_sz);", None),
    ("tw_comm_set(MPI_COMM_WORLD); MPI_COMM_ROSS = MPI_COMM_WORLD;", None),
    ("time_t now = time(NULL); return now == 0;", None),
    ("tw_memory_init(100, 8, 0.5);", BUFFERS),
    ("tw_kp_memory_init(lp->kp, 100, 8, 1);", BUFFERS),
    ("tw_pe_memory_init(lp->pe, 100, 8, 1.0);", BUFFERS),
    ("return tw_memory_alloc(lp, 0) != NULL;", BUFFERS),
    ("tw_memory_alloc_rc(lp, NULL, 0);", BUFFERS),
    ("tw_memory_allocate(NULL);", BUFFERS),
    ("return *(int *)tw_memory_data(NULL);", BUFFERS),
    ("tw_memory_free(lp, NULL, 0);", BUFFERS),
    ("tw_memory_free_rc(lp, 0);", BUFFERS),
    ("return tw_memoryq_init() != NULL;", BUFFERS),
    ("tw_memoryq_push(NULL, NULL);", BUFFERS),
    ("return tw_memoryq_pop(NULL) != NULL;", BUFFERS),
    ("return tw_event_memory_get(lp) != NULL;", BUFFERS),
    ("tw_event_memory_get_rc(lp, NULL, 0);", BUFFERS),
    ("tw_event_memory_set(tw_event_new(0, 1.0, lp), NULL, 0);", BUFFERS),
    ("return tw_timer_init(lp, 100.0) != NULL;", TIMERS),
    ("tw_timer_reset(lp, NULL, 100.0);", TIMERS),
    ("tw_timer_cancel(lp, NULL);", TIMERS),
    ("tw_pe_settype(lp->pe, NULL);", PE_TYPES),
    ("return tw_pe_data(lp->pe) != NULL;", PE_TYPES),
    ("return tw_net_onnode(0) != NULL;", NODES),
    ("return tw_node_eq(NULL, NULL);", NODES),
]
# Declarations, and a function that is named but not called.
AT_TOP = [
    ("MPI_Comm everybody = MPI_COMM_WORLD;", None),
    ("static tw_memory *first;", BUFFERS),
    ("struct holds { tw_memoryq *queue; };", BUFFERS),
    ("static tw_fd own;", BUFFERS),
    ("extern tw_petype types[];", PE_TYPES),
    ("extern void (*take)(tw_event *); void (*take)(tw_event *) = (void (*)(tw_event *))tw_event_rescind;",
     "cannot cancel a sent event"),
]

root, mpi, *compilers = sys.argv[1:]
CASES = [(f"int model_%d(tw_lp *lp) {{ (void)lp; {code} return 0; }}", words) for code, words in IN_FUNCTION]
CASES += [(code + " /* %d */", words) for code, words in AT_TOP]
LINES = [code % number for number, (code, words) in enumerate(CASES)]


INCLUDED = "#include <ross.h>"
# The form that models' headers use for C++.
WRAPPED = 'extern "C" {\n#include <ross.h>\n}'


def errors_by_line(compiler, language, lines, *options, header=INCLUDED):
    """The compiler's messages for each line, as a set. After errors of one kind, a compiler may
    stop before it finds errors of other kinds."""
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    limit = "-ferror-limit=0" if "clang" in version else "-fmax-errors=0"
    done = subprocess.run(
        [compiler, "-fsyntax-only", *options, limit, f"-I{root}/src/compat/ross/include",
         *(f"-I{folder}" for folder in mpi.split(";") if folder), f"-x{language}", "-"],
        input=header + "\n" + "\n".join(lines), capture_output=True, text=True)
    errors = [set() for _ in lines]
    for line, text in re.findall(r"<stdin>:(\d+):\d+: error: (.*)", done.stderr):
        errors[int(line) - header.count("\n") - 2].add(text)
    return errors, done


failures = 0
for compiler, language in zip(compilers, ("c", "c++")):
    errors, done = errors_by_line(compiler, language, LINES, "-Werror=deprecated-declarations")
    for (_, words), line, said in zip(CASES, LINES, errors):
        holds = not said if words is None else len(said) == 1 and words in min(said)
        failures += not holds
        print(("ok      " if holds else "FAILED  ") + f"{compiler}: {line}" + ("" if holds else f"\n    {said or ''}"))
    # Without -Werror, all cases whose expected text is None or INSIDE compile.
    right = [line for (_, words), line in zip(CASES, LINES) if words in (None, INSIDE)]
    for header in (INCLUDED, WRAPPED) if language == "c++" else (INCLUDED,):
        _, done = errors_by_line(compiler, language, right, header=header)
        failures += done.returncode != 0
        print("" if done.returncode == 0 else done.stderr, end="")
sys.exit(1 if failures else 0)
