#!/usr/bin/env python3
"""The NUMA guest is what it says it is: nodes, cores and distances of the presets; output, exit
code, signals and timeouts of the command; the host's tree, read-only but for what --rw names."""

import re
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent / "support")]
import guest  # noqa: E402
import topology  # noqa: E402
from programs import Programs  # noqa: E402

programs = Programs()


def nodes_seen(text):
    """(cores, MiB, distances) of each node in the output of `numactl --hardware`."""
    cpus = re.findall(r"^node \d+ cpus:(.*)$", text, re.MULTILINE)
    sizes = re.findall(r"^node \d+ size: (\d+) MB$", text, re.MULTILINE)
    rows = re.findall(r"^ +\d+: +(.*)$", text, re.MULTILINE)
    return [(len(cpu.split()), int(size), [int(value) for value in row.split()])
            for cpu, size, row in zip(cpus, sizes, rows)]


def expect_topology(name, text):
    expected = topology.parse(name)
    seen = nodes_seen(text)
    programs.expect([cpus for cpus, _, _ in seen] == [node.cpus for node in expected.nodes],
                    f"{name}: cores {[cpus for cpus, _, _ in seen]}")
    # The kernel keeps some of the memory, and of the first node most.
    programs.expect(all(0.85 * node.mib < mib <= node.mib
                        for (_, mib, _), node in zip(seen, expected.nodes)),
                    f"{name}: MiB {[mib for _, mib, _ in seen]}")
    default = [[10 if i == j else 20 for j in range(len(seen))] for i in range(len(seen))]
    programs.expect([row for _, _, row in seen] == (expected.distances or default),
                    f"{name}: distances {[row for _, _, row in seen]}")


def check_world():
    """A command that looks at all that surrounds it, and ends with 3."""
    writable = programs.work / "writable"
    writable.mkdir()
    (writable / "given").write_text("from the host")
    tree = programs.work / "tree"
    tree.mkdir()
    script = tree / "look.sh"
    script.write_text(
        "numactl --hardware\n"
        'echo "env=$GREETING"\n'
        "echo hugepages=$(cat /proc/sys/vm/nr_hugepages)\n"
        f"echo given=$(cat {writable}/given)\n"
        f"echo 'from the guest' > {writable}/made\n"
        f"touch {tree}/made || echo 'the tree is read-only'\n"
        "touch /etc/made || echo '/etc is read-only'\n"
        "touch /tmp/made && echo '/tmp is writable'\n"
        "echo folder=$PWD\n"
        "echo to stderr > /dev/stderr\n"
        "exit 3\n")
    done = guest.run("n4", "sh", "look.sh", folder=tree,
                     options=["--rw", writable, "--env", "GREETING=hello  world",
                              "--sysctl", "vm.nr_hugepages=8"])
    expect_topology("n4", done.stdout)
    programs.expect(done.returncode == 3, f"exit code {done.returncode}")
    for line in ["env=hello  world", "hugepages=8", "given=from the host", "the tree is read-only",
                 "/etc is read-only", "/tmp is writable", f"folder={tree}"]:
        programs.expect(line in done.stdout.splitlines(), line)
    made = writable / "made"
    programs.expect(made.exists() and made.read_text() == "from the guest\n", "written with --rw")
    programs.expect(not (tree / "made").exists() and not Path("/tmp/made").exists(),
                    "nothing written elsewhere")
    programs.expect("to stderr" in done.stderr.splitlines(), "stderr comes back")


def check_signal():
    done = guest.run("n8", "sh", "-c", "numactl --hardware; kill -KILL $$")
    expect_topology("n8", done.stdout)
    programs.expect(done.returncode == 128 + 9, f"killed: exit code {done.returncode}")


def check_success():
    done = guest.run("tier", "numactl", "--hardware")
    expect_topology("tier", done.stdout)
    programs.expect(done.returncode == 0 and done.stderr == "",
                    f"exit code {done.returncode}, and nothing said: '{done.stderr}'")


def check_timeout():
    done = guest.run("1:256M,3:512M", "sh", "-c", "nproc; sleep 1000", options=["--timeout", 2])
    programs.expect(done.stdout == "4\n", "output before a timeout comes back")
    programs.expect(done.returncode == 124 and "has not ended after 2 s" in done.stderr,
                    f"timeout: exit code {done.returncode}, {done.stderr.strip()}")


def check_wrong_options():
    for name, options in [("n5", []), ("n2", ["--dist", "10,20"]), ("n2", ["--env", "x"]),
                          ("0:1G,1:1G", []), ("n2", ["--rw", "/nowhere"])]:
        done = guest.run(name, "true", options=options)
        programs.expect(done.returncode == 2, f"{name} {options}: {done.stderr.splitlines()[-1]}")


check_wrong_options()
check_world()
check_signal()
check_success()
check_timeout()
programs.leave()
