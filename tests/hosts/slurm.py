# SPDX-License-Identifier: Apache-2.0
"""A real SLURM on the hosts of hosts.py: one controller, a daemon on each host.

    with Hosts(3, ...) as hosts, Slurm(hosts) as slurm:
        slurm.start(folder, "srun", "-n", 3, ...)

SLURM binds nothing here, because all hosts share the cores. In tests/guest, SLURM runs on one host,
the guest, which has NUMA nodes, and binds processes.

Each host has its own /tmp, /dev/shm and name. Otherwise several SLURM daemons with one host name
would share the folders of PMIx, and PMIx would fail. The settings are the smallest that work in a
container: no cgroups, no accounting, everything as root."""

import os
import shutil
import subprocess
import time

from hosts import MPI_ENVIRONMENT, BroughtUp, Launch, skip

SECONDS_TO_COME_UP = 30
OVER = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED")
MUNGE_KEY_BYTES = 128

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={first}({first_address})
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin={task_plugin}
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
KillWait=2
InactiveLimit=0
SlurmdTimeout={node_timeout}
SchedulerParameters=batch_sched_delay=0,sched_interval=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName={names} NodeAddr={addresses} {machine} RealMemory=100 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP PriorityTier=1 GraceTime=20
PartitionName=urgent Nodes=ALL State=UP PriorityTier=2
"""

# SLURM reads this file even if nothing uses cgroups.
CGROUP_CONFIGURATION = """\
CgroupPlugin=autodetect
IgnoreSystemd=yes
"""


def need_slurm():
    for tool in ["slurmctld", "slurmd", "srun", "munged", "ip"]:
        if shutil.which(tool) is None:
            skip(f"needs {tool} (Debian packages slurm-wlm, slurm-wlm-basic-plugins, munge, "
                 "iproute2)")


class Slurm(BroughtUp):
    """SLURM with all hosts idle, up during the `with` block.

    hosts: has `names`, a `folder`, and on() and address() like Hosts.
    machine: the description of each host, in the syntax of slurm.conf.
    node_timeout: seconds of silence after which SLURM considers a host dead.
    """

    def __init__(self, hosts, machine="CPUs=2 CoresPerSocket=2", task_plugin="task/none", node_timeout=300):
        self._hosts = hosts
        self._machine = machine
        self._task_plugin = task_plugin
        self._node_timeout = node_timeout
        self._folder = hosts.folder / "slurm"
        self._daemons = []

    def environment(self):
        """The environment for a command on one of the hosts that uses SLURM."""
        return {**MPI_ENVIRONMENT, "SLURM_CONF": str(self._folder / "slurm.conf")}

    def __exit__(self, *_):
        for process in reversed(self._daemons):
            process.kill()
            process.wait()

    def _up(self):
        (self._folder / "state").mkdir(parents=True)
        first = self._hosts.names[0]
        (self._folder / "slurm.conf").write_text(CONFIGURATION.format(
            folder=self._folder, first=first, first_address=self._hosts.address(first),
            names=",".join(self._hosts.names),
            addresses=",".join(map(self._hosts.address, self._hosts.names)),
            machine=self._machine, task_plugin=self._task_plugin, node_timeout=self._node_timeout))
        (self._folder / "cgroup.conf").write_text(CGROUP_CONFIGURATION)
        self._start_munge()
        self._daemon(first, "slurmctld", "-D")
        for name in self._hosts.names:
            (self._folder / f"spool.{name}").mkdir()
            self._daemon(name, "slurmd", "-D", "-N", name)
        deadline = time.monotonic() + SECONDS_TO_COME_UP
        while self._idle_count() != len(self._hosts.names):
            if time.monotonic() > deadline:
                print(self.log())
                skip("SLURM does not start here; see its messages above")
            time.sleep(0.1)

    def _start_munge(self):
        """Starts munge with a key for this test alone: SLURM's daemons authenticate each other by
        this key."""
        folder = self._folder / "munge"
        folder.mkdir(mode=0o755)
        key = folder / "key"
        key.write_bytes(os.urandom(MUNGE_KEY_BYTES))
        key.chmod(0o400)
        # munge runs on the first host, so that it ends with this host.
        self._daemon(self._hosts.names[0], "munged", "--foreground", "--force",
                     f"--key-file={key}", f"--socket={folder}/socket",
                     f"--pid-file={folder}/pid", f"--log-file={folder}/log",
                     f"--seed-file={folder}/seed")

    def _daemon(self, name, *command):
        with open(self._folder / f"{command[0]}.{name}.out", "w") as output:
            self._daemons.append(subprocess.Popen(
                self._hosts.on(name, *command), env=self.environment(),
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True))

    def _idle_count(self):
        done = subprocess.run(self._hosts.on(self._hosts.names[0], "sinfo", "-h", "-t", "idle",
                                             "-o", "%D"),
                              env=self.environment(), capture_output=True, text=True)
        return int(done.stdout.strip() or 0)

    def log(self):
        return "".join(f"--- {path.name}\n{path.read_text()[-2000:]}"
                       for path in sorted(self._folder.iterdir())
                       if path.suffix in (".out", ".log"))

    def run(self, folder, *command):
        """Runs a command, for example sbatch, on the first host, and returns its output. The
        command must succeed."""
        return subprocess.run(self._hosts.on(self._hosts.names[0], *command, folder=folder),
                              env=self.environment(), check=True, text=True, timeout=60,
                              stdout=subprocess.PIPE).stdout.strip()

    def job(self, number):
        """{field: value} of a job, for example JobState. The job must be known to SLURM; it may
        have ended a moment ago."""
        shown = self.run("/", "scontrol", "--oneliner", "show", "job", number)
        return dict(word.partition("=")[::2] for word in shown.splitlines()[0].split())

    def wait_for_job(self, number, *states, timeout=120):
        """Waits until the job is in one of these states or over, and returns the job."""
        deadline = time.monotonic() + timeout
        while (job := self.job(number))["JobState"] not in (*states, *OVER):
            if time.monotonic() > deadline:
                raise TimeoutError(f"job {number} is {job['JobState']} after {timeout} s")
            time.sleep(0.1)
        return job

    def start(self, folder, *command):
        """A Launch of a command on the first host, such as srun."""
        return Launch(self._hosts.on(self._hosts.names[0], *command, folder=folder), folder,
                      self.environment())
