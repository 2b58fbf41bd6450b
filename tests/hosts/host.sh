#!/bin/bash
# One host of hosts.py: called in new network, name, IPC and mount namespaces, it furnishes them, says
# "ready", and lives until its standard input ends. Whatever then still runs on the host goes with it,
# so that nothing is left behind even if the test was killed.
#
# usage: host.sh NAME HOSTS-FILE SHARED-FOLDER...
#
# The host has its own /tmp and /dev/shm, but sees the shared folders where they are, as a cluster's
# nodes do. /tmp is covered by an empty one; folders in it are held open meanwhile and put back.
set -euo pipefail

name=$1 hosts_file=$2
shift 2
echo "$name" >/proc/sys/kernel/hostname
mount --bind "$hosts_file" /etc/hosts
mount -t tmpfs -o mode=1777 shm /dev/shm

descriptors=()
for folder; do
    exec {descriptor}<"$folder"
    descriptors+=("$descriptor")
done
mount -t tmpfs -o mode=1777 tmp /tmp
for folder; do
    descriptor=${descriptors[0]}
    descriptors=("${descriptors[@]:1}")
    if [[ $folder == /tmp/* ]]; then
        mkdir -p "$folder"
        mount --no-canonicalize --bind "/proc/self/fd/$descriptor" "$folder"
    fi
    exec {descriptor}<&-
done

echo ready
cat >/dev/null

# All but this one in its network, until none is found: processes start others.
mine=$(readlink /proc/self/ns/net)
found=1
while ((found)); do
    found=0
    # Without the brackets, which would be a pattern's.
    for link in $(find /proc/[0-9]*/ns/net -lname "${mine//[\[\]]/?}"); do
        process=${link#/proc/}
        process=${process%%/*}
        [[ $process == "$$" ]] || { kill -KILL "$process" && found=1; } || true
    done
done 2>/dev/null
