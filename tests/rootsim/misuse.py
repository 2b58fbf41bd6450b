#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model that breaks a rule of ROOT-Sim's interface ends like a model that breaks a rule of
numawarp's interface: with the documented exit code and one line that names what is allowed."""

from refusals import Refusals

refusals = Refusals()

for options in (["--engine", "sequential"], ["--workers", 2]):
    for rule, words in {
        "past": ["in the past", "allowed: a delay of at least 0"],
        "unknown": ["LP 4294967296", "no such LP", "allowed: 0 to 7"],
        "large": ["70000 bytes", "65535"],
        "stop": ["RootsimStop()", "allowed: a CanEnd() that returns true"],
        "init-again": ["RootsimInit()", "allowed: before or after a run"],
        "run-again": ["RootsimRun()", "allowed: before or after a run"],
        "state": ["SetState(): the state is a variable", "allowed: memory that the LP has allocated"],
        "zipf-limit": ["Zipf()", "skew 1.5 and limit 0", "allowed: a skew above 1"],
        "zipf-skew": ["Zipf()", "skew nan", "allowed: a skew above 1"],
        "link": ["AddTopologyLink()", "not created by this LP", "allowed: in a handler, the LP's own"],
        "link-data": ["SetTopologyLinkData()", "not created by this LP"],
        "normalize": ["NormalizeLinkProbabilities()", "not created by this LP"],
        "release": ["ReleaseTopology()", "not created by this LP"],
    }.items():
        refusals.refused(3, ["LP 3 at time", *words], "rootsim_misuse", rule, "--", *options)
    # CanEnd() examines a state and may be called early. So CanEnd() must not make these calls.
    for rule, function in {"asked": "ScheduleNewEvent()", "asked-state": "SetState()",
                           "asked-stop": "RootsimStop()"}.items():
        refusals.refused(3, ["LP 3", function, "allowed: "], "rootsim_misuse", rule, "--", *options)
    refusals.refused(3, ["LP 3 at time"], "rootsim_misuse", "abort", "--", *options)

refusals.refused(3, ["ScheduleNewEvent()", "allowed: in a handler"], "rootsim_misuse", "outside", "--")
refusals.refused(3, ["Zipf()", "limit of at least 1"], "rootsim_misuse", "zipf-outside", "--")
refusals.refused(2, ["RootsimRun()", "allowed: after RootsimInit()"], "rootsim_misuse", "unset", "--")
refusals.refused(2, ["lps: must be"], "rootsim_misuse", "many", "--")
refusals.refused(2, ["synchronization: must be SERIAL or TIME_WARP"], "rootsim_misuse", "third", "--")
refusals.refused(2, ["dispatcher", "must be set"], "rootsim_misuse", "none", "--")
refusals.refused(2, ["must not be a null pointer"], "rootsim_misuse", "null", "--")
# This call is made before there is a run that the call could end.
refusals.accepted("rootsim_misuse", "early", "--", "--until", 5)
refusals.refused(3, ["in the past"], "rootsim_misuse", "past")
refusals.refused(2, ["stray: unexpected"], "rootsim_misuse", "past", "--until", 5, "stray")
refusals.accepted("rootsim_misuse", "--until", 5)
refusals.accepted("rootsim_misuse", "nothing", "--", "--until", 5)

for options in (["--engine", "sequential"], ["--workers", 2]):
    for rule, words in {
        "unknown": ["agent 10000", "is not in region 5"],
        "past": ["in the past"],
        "region": ["EnqueueVisit(): region 64", "allowed: a region below 64"],
        "number": ["visit 7 does not exist"],
        "large": ["bytes", "65535"],
        "tour": ["ComputeMinTour()"],
        "event-past": ["in the past", "allowed: a delay of at least 0"],
        "event-unknown": ["LP 64", "no such LP", "allowed: 0 to 63"],
        "event-large": ["70000 bytes", "65535"],
        "event-wide": ["65535 bytes", "allowed: at most 65531 if the type is 65528 or above"],
        "receiver": ["GetReceiver(64)", "allowed: below 64"],
        "direction": ["GetNeighbourInfo()", "direction 5", "allowed: below 4"],
        "mean": ["Expent()", "allowed: at least 0"],
        "skew": ["Zipf()", "skew 1 and limit 10"],
        "order": ["Gamma()", "at least 1"],
    }.items():
        refusals.refused(3, ["LP 5 at time", *words], "rootsim_couriers", "--lp", 64, "--wrong", rule, *options)
    for rule, function in {"asked": "ScheduleNewEvent()", "asked-spawn": "SpawnAgent()", "asked-kill": "KillAgent()",
                           "asked-leave": "ScheduleNewLeaveEvent()", "asked-visit": "EnqueueVisit()",
                           "asked-track": "TrackNeighbourInfo()", "asked-state": "SetState()",
                           "asked-draw": "Random()", "asked-normal": "Normal()",
                           "asked-receiver": "FindReceiver()"}.items():
        refusals.refused(3, ["LP 5", function, "allowed: in a handler"], "rootsim_couriers", "--lp", 64, "--wrong",
                         rule, *options)

# The model's option parser runs before LPs exist.
for rule, words in {"early-visit": ["EnqueueVisit()", "allowed: in a handler"],
                    "early-region": ["NeighboursCount()", "allowed: in a handler"],
                    "early-mean": ["Expent()", "allowed: at least 0"], "early-order": ["Gamma()", "at least 1"]}.items():
    refusals.refused(3, words, "rootsim_couriers", "--lp", 64, "--wrong", rule)
refusals.refused(2, ["--lp 60", "requires a square"], "rootsim_queue", "--lp", 60)
refusals.refused(2, ["--lp 0"], "rootsim_queue", "--lp", 0)
refusals.refused(2, ["--wrong"], "rootsim_queue", "--lp", 64, "--wrong")
for words in (["--enough", 10, "--service=0.3"], ["-e", 10, "-s0.3"], ["--serving", 0.3, "--enough=10"],
              ["--slow", "--enough", 10], ["--slow=63", "-e10"], ["-w63", "-e", 10], ["--calm", "-e10"],
              ["-ce10"], ["-ce", 10]):
    refusals.accepted("rootsim_queue", "--lp=64", "--wt", 2, *words, "--quiet")
refusals.refused(2, ["model_argp", "Invalid argument"], "rootsim_queue", "--lp", 64, "--enough", 0)
refusals.refused(2, ["--serial=off", "takes no value"], "rootsim_queue", "--lp", 64, "--serial=off")
# The model's own refusals are printed in argp's format.
done = refusals.run("rootsim_queue", "--slow=64", "--lp", 64)
refusals.expect(done.returncode == 2 and "--slow: there are 64" in done.stderr, f"{done.returncode}: {done.stderr}")
help_text = refusals.run("rootsim_queue", "--help").stdout
refusals.expect(all(words in help_text for words in ("At each counter:", "--serving=TIME", "--calm", "--until")),
                f"--help has the options of the model and of numawarp: {help_text[:300]}")
refusals.leave()
