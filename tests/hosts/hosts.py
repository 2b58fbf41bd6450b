# SPDX-License-Identifier: Apache-2.0
"""Several simulated hosts on one machine. Each host is a set of namespaces with its own network
card, name, /tmp and shared memory. A switch (switch.cpp) connects the hosts. The links of the
switch can be slow, lossy or cut. MPI ranks on the hosts communicate by TCP, as on a cluster. The
hosts start within a second; they need root.

    with Hosts(3, bin_folder, shared=[work_folder]) as hosts:
        hosts.run("n2", "uname", "-n")
        hosts.cut("n2")

Differences from real hosts: all hosts share the cores, so ranks must not be bound to cores; and the
hosts share one /proc, so a test can stop or kill every process by its number."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Options of a model for shared cores. Without these options, each host would bind its workers as if
# it had all cores.
SHARED_CORES = ["--workers", 1, "--pin", "off"]
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mpi"))
from ranks import MPI_ENVIRONMENT, Launch, Ranks, joined, skip  # noqa: E402


def need_hosts():
    if os.geteuid() != 0:
        skip("several hosts on one machine need root")
    for tool, package in [("unshare", "util-linux"), ("nsenter", "util-linux"), ("ip", "iproute2")]:
        if shutil.which(tool) is None:
            skip(f"needs {tool} (Debian package {package})")
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        skip("needs /dev/net/tun")
    probe = subprocess.run(["unshare", "--net", "--uts", "--ipc", "--mount", "true"],
                           capture_output=True, text=True)
    if probe.returncode != 0:
        skip(f"no namespaces here: {probe.stderr.strip()}")


class BroughtUp:
    """A base class. _up() sets the object up; __exit__() undoes this, also if _up() failed half
    way."""

    def __enter__(self):
        try:
            self._up()
        except BaseException:
            self.__exit__()
            raise
        return self


class Hosts(BroughtUp):
    """Hosts n1, n2, ... with addresses 10.77.0.1, 10.77.0.2, ..., up during the `with` block."""

    def __init__(self, count, bin_folder, shared=()):
        self.names = [f"n{i}" for i in range(1, count + 1)]
        self._folder = tempfile.TemporaryDirectory(prefix="numawarp-hosts-")
        self.folder = Path(self._folder.name)
        self._shared = {HERE.parent.parent, Path(bin_folder), self.folder, *map(Path, shared)}
        self._bin = Path(bin_folder)
        self._processes = {}
        self._switch = None

    def __exit__(self, *_):
        for process in self.helpers():
            process.stdin.close()
        for process in self.helpers():
            process.wait()
            process.stdout.close()
        self._folder.cleanup()

    def _up(self):
        lines = ["127.0.0.1 localhost"]
        lines += [f"{self.address(name)} {name}" for name in self.names]
        hosts_file = self.folder / "hosts"
        hosts_file.write_text("\n".join(lines) + "\n")
        for name in self.names:
            self._processes[name] = self._helper(
                "unshare", "--net", "--uts", "--ipc", "--mount", "--propagation", "private",
                HERE / "host.sh", name, hosts_file, *self._shared)
            (self.folder / name).write_text(str(self._processes[name].pid))
        for process in self._processes.values():
            self._expect(process, "ready")
        self._switch = self._helper(self._bin / "host_switch",
                                    *(process.pid for process in self._processes.values()))
        self._expect(self._switch, "ready")
        for number, name in enumerate(self.names, 1):
            self.run(name, "sh", "-c", f"ip link set lo up && "
                     f"ip link set eth0 address 02:00:00:00:00:{number:02x} up && "
                     f"ip address add {self.address(name)}/24 dev eth0")

    def _helper(self, *command):
        """A process that ends when its standard input ends. It has its own session, because
        otherwise Ctrl-C would end this process before the processes that need it."""
        return subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True, start_new_session=True)

    def _expect(self, process, answer):
        line = process.stdout.readline().strip()
        if line != answer:
            raise RuntimeError(f"{process.args[:1]} printed {line!r}; expected: {answer!r}")

    def _order(self, text):
        self._switch.stdin.write(text + "\n")
        self._switch.stdin.flush()
        self._expect(self._switch, "ok")

    def environment(self):
        """The environment for an mpirun on one of the hosts. If there are as many ranks as hosts,
        each host gets one rank. Ranks are not bound, because otherwise the first rank of every host
        would be bound to core 0. Ranks yield their core while they wait."""
        hostfile = self.folder / "hostfile"
        hostfile.write_text("".join(f"{name} slots=1\n" for name in self.names))
        return {**MPI_ENVIRONMENT, "NUMAWARP_HOSTS": str(self.folder),
                "OMPI_MCA_plm_rsh_agent": str(HERE / "remote_shell"),
                "OMPI_MCA_orte_default_hostfile": str(hostfile),
                "OMPI_MCA_hwloc_base_binding_policy": "none"}

    def helpers(self):
        """The processes of the hosts and of the switch."""
        return [*self._processes.values(), *([self._switch] if self._switch else [])]

    def address(self, name):
        return f"10.77.0.{self.names.index(name) + 1}"

    def on(self, name, *command, folder="/"):
        """The words that run a command on a host, in one of the host's folders or in a shared
        folder."""
        return ["nsenter", "--target", str(self._processes[name].pid), "--net", "--uts", "--ipc",
                "--mount", "--", "env", f"--chdir={folder}", *map(str, command)]

    def run(self, name, *command, timeout=60):
        """The output of a command that must succeed."""
        return subprocess.run(self.on(name, *command), check=True, text=True, timeout=timeout,
                              stdout=subprocess.PIPE).stdout

    def switch_off(self, name):
        """Ends the host and all its processes permanently."""
        self._processes[name].stdin.close()
        self._processes[name].wait()

    def set_links(self, delay_ms=0, loss=0):
        """Sets the delay of each frame and the probability that a frame is lost, for all links."""
        self._order(f"links {round(delay_ms * 1000)} {loss}")

    def cut(self, name):
        """All frames from and to the host are lost from now on."""
        self._order(f"cut {self.names.index(name) + 1}")

    def heal(self, name):
        self._order(f"heal {self.names.index(name) + 1}")


class HostRanks(Ranks):
    """The programs of one build, under mpirun on the hosts, one rank on each."""

    def __init__(self, hosts=3):
        need_hosts()
        super().__init__()
        self.hosts = Hosts(hosts, self.bin, [self.work])

    def start(self, *parts):
        first = self.hosts.names[0]
        return Launch(self.hosts.on(first, "mpirun", *joined(parts, self.work), folder=self.work), self.work,
                      self.hosts.environment())
