#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--check-model names the rule that a model breaks, for models that break one rule each
(broken_models.cpp), and reports nothing for correct models: the model without a breach, and all
models of models/. If --check-model refuses its input, it prints one line."""

from programs import CHECKOUT, Programs

programs = Programs()

# For each breach: words that one line of the report must contain.
BREACHES = [
    ("static", ["State outside of the LP", "`events_seen`", "4 bytes"]),
    ("thread-local", ["State outside of the LP", "`events_of_thread`", "thread_local"]),
    ("constructor", ["State outside of the LP", "`built`", "a constructor"]),
    ("model", ["State outside of the LP", "the model object"]),
    ("allocated", ["State outside of the LP", "not a variable of the program"]),
    ("kept-result", ["Pointers to results of libc", "the LP's object"]),
    ("kept-entry", ["Pointers to results of libc", "an allocation of"]),
    ("other-lp", ["Memory of another LP", "the LP's object"]),
    ("clock", ["Draws outside of random()", "time()"]),
    ("chrono", ["Draws outside of random()", "clock_gettime()"]),
    ("process-id", ["Draws outside of random()", "getpid()"]),
    ("entropy", ["Draws outside of random()", "std::random_device()"]),
    ("address", ["The order of addresses"]),
    ("payload", ["Memory that was never written", "of the payload (28 bytes)", "of type 3 from LP "]),
    ("heap", ["Memory that was never written", "the behavior of a handler"]),
    ("overflow", ["Writes beyond a block", "a block of 24 bytes"]),
    ("reverse", ["A reverse handler", "of the LP's object"]),
    ("not-in-state", ["State outside of PlainState", "of the LP's object"]),
]
for breach, words in BREACHES:
    done = programs.run("broken_models", "--breach", breach, "--check-model=2000")
    found = [line for line in done.stdout.splitlines() if "docs/how-to/check-model.md#" in line]
    right = done.returncode == 3 and any(all(word in line for word in words) for line in found)
    # One mistake is reported as one rule, although two rollback methods may detect it.
    rules = {line.split(":")[0] for line in found}
    expected = {words[0]} if breach != "not-in-state" else {words[0], "A reverse handler"}
    programs.expect(right and rules == expected, f"{breach}: {found or done.stdout + done.stderr}")

# Every heading that a report line refers to exists in the page.
page = (CHECKOUT / "docs/how-to/check-model.md").read_text()
for rule in {words[0] for _, words in BREACHES}:
    programs.expect(f"## {rule}\n" in page, f"the page has \"{rule}\"")

done = programs.run("broken_models", "--breach", "rand", "--check-model")
programs.expect(done.returncode == 3 and "rand(), which uses one generator that all LPs share" in done.stdout,
                f"rand: {done.stdout}{done.stderr}")

MODELS = [("broken_models", "--breach", "none")] + [
    (folder.name,) for folder in sorted((CHECKOUT / "models").iterdir()) if (folder / "main.cpp").is_file()]
MODELS += [("pcs", "--state", "containers"), ("phold", "--state", 64)]
for model in MODELS:
    done = programs.run(*model, "--check-model=3000", timeout=300)
    lines = done.stdout.splitlines()
    programs.expect(done.returncode == 0 and not done.stderr and "BROKEN" not in done.stdout and
                    "skipped" not in done.stdout and len([line for line in lines if line.startswith("ok ")]) >= 6,
                    f"{' '.join(map(str, model))}: {lines[:1]}"
                    if done.returncode == 0 else f"{model}: {done.stdout}{done.stderr}")

done = programs.run("phold", "--check-model", "--workers", 2, "--until", 1)
programs.expect(done.returncode == 0 and done.stderr ==
                "numawarp: --workers 2: has no effect with --check-model, which chooses the value\n",
                f"an option without effect: {done.stderr}")
done = programs.run("broken_models", "--check-model=0")
programs.expect(done.returncode == 2 and "--check-model 0: must be" in done.stderr, done.stderr)
done = programs.run("phold", "--check-model", "--lps", 0)
programs.expect(done.returncode == 2 and done.stderr.startswith("numawarp: --lps 0"), done.stderr)
programs.leave()
