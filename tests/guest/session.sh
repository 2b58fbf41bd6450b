#!/run/guest/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PID 1 of the guest, second half: runs the command on the host's tree, reports its end to the host
# and switches the machine off.
#
# Three channels of bytes lead to the host: `out` and `err` of the command, and `report`, with a
# line `started` and a line `exit CODE`.
PATH=/run/guest/bin

port() {
    while true; do
        for port in /sys/class/virtio-ports/*; do
            [ "$(cat "$port/name" 2>/dev/null)" = "$1" ] && echo "/dev/${port##*/}" && return
        done
        sleep 0.02 # the ports appear one by one
    done
}
report=$(port report)

# A channel cannot be opened twice, but a pipe can. With pipes, `echo text >/dev/stderr` works.
mkfifo /run/guest/out /run/guest/err
cat /run/guest/out >"$(port out)" &
out=$!
cat /run/guest/err >"$(port err)" &
err=$!

echo started >"$report"
(. /run/guest/command.sh) </dev/null >/run/guest/out 2>/run/guest/err
code=$?

# A pipe ends when its last writer ends. The session does not wait for processes that the command
# left behind.
(sleep 1; kill $out $err) &
wait $out $err 2>/dev/null
sync
echo "exit $code" >"$report"

# QEMU ends instead of rebooting.
echo 1 >/proc/sys/kernel/sysrq
echo b >/proc/sysrq-trigger
sleep 60
