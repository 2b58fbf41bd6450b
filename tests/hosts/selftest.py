#!/usr/bin/env python3
"""The hosts themselves: apart where hosts are, joined where a cluster's are, over links that do what
they are told; and nothing is left of them afterwards."""

import os
import subprocess
import sys
import time
from pathlib import Path

from hosts import HERE, HostRanks

ranks = HostRanks()
expect = ranks.expect
(ranks.work / "shared").write_text("everybody's")

with ranks.hosts as hosts:
    names = [hosts.run(name, "uname", "-n").strip() for name in hosts.names]
    expect(names == hosts.names, f"names {names}")
    for folder in ["/tmp", "/dev/shm"]:
        hosts.run("n1", "touch", f"{folder}/of-n1")
        expect("of-n1" in hosts.run("n1", "ls", folder)
               and "of-n1" not in hosts.run("n2", "ls", folder)
               and not (Path(folder) / "of-n1").exists(), f"{folder} is each host's own")
    expect(all(hosts.run(name, "cat", ranks.work / "shared") == "everybody's"
               for name in hosts.names), "a shared folder is the same on all")

    server = subprocess.Popen(hosts.on("n2", sys.executable, HERE / "echo.py", "serve"),
                              stdout=subprocess.PIPE, text=True)
    server.stdout.readline()

    def echo(count):
        """Mean round trip from n1 to n2 in ms, number of answers."""
        mean, answers = hosts.run("n1", sys.executable, HERE / "echo.py", "ask",
                                  hosts.address("n2"), count).split()
        return (0 if mean == "none" else float(mean)), int(answers)

    trip, answers = echo(100)
    expect(answers == 100 and trip < 2, f"a fast link: {trip:.2f} ms, {answers} of 100")
    hosts.set_links(delay_ms=5)
    trip, answers = echo(40)
    expect(answers == 40 and 10 <= trip < 20, f"5 ms each way: {trip:.2f} ms, {answers} of 40")
    hosts.set_links(loss=0.3)
    trip, answers = echo(100)
    expect(25 <= answers <= 75, f"30 % loss each way: {answers} of 100, 49 expected")
    hosts.set_links()
    hosts.cut("n2")
    expect(echo(3)[1] == 0, "a host that is cut off does not answer")
    hosts.heal("n2")
    expect(echo(20)[1] == 20, "a host that is healed does")

    processes = [process.pid for process in hosts.helpers()]
    began = time.monotonic()
took = time.monotonic() - began
expect(server.wait(5) != 0 and took < 5, f"what ran on a host ends with it, in {took:.2f} s")
expect(not any(Path(f"/proc/{pid}").exists() for pid in processes) and not hosts.folder.exists(),
       "no process and no folder is left")

# A test that is killed cannot tidy up; its hosts do by themselves.
stray = subprocess.run(
    [sys.executable, "-c", f"import os, sys; sys.path.insert(0, {str(HERE)!r})\n"
     "from hosts import Hosts\n"
     f"with Hosts(2, {str(ranks.bin)!r}) as hosts:\n"
     "    os.spawnvp(os.P_NOWAIT, 'nsenter', hosts.on('n2', 'sleep', '1000'))\n"
     "    print(*(process.pid for process in hosts.helpers()), flush=True)\n"
     "    os.kill(os.getpid(), 9)"], capture_output=True, text=True,
    env={**os.environ, "TMPDIR": str(ranks.work)})
left = [f"/proc/{pid}" for pid in stray.stdout.split()]
deadline = time.monotonic() + 5
while any(map(os.path.exists, left)) and time.monotonic() < deadline:
    time.sleep(0.05)
expect(len(left) == 3 and not any(map(os.path.exists, left)), "nor after a test that was killed")

ranks.leave()
