#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One host of hosts.py. This script is called in new network, name, IPC and mount namespaces. It
# sets up the namespaces, prints "ready", and waits until its standard input ends. Then it ends all
# processes on the host, so that nothing is left behind even if the test was killed.
#
# usage: host.sh NAME HOSTS-FILE SHARED-FOLDER...
#
# The host has its own /tmp and /dev/shm. The shared folders have their usual paths on the host, as
# on the nodes of a cluster. An empty /tmp is mounted over the machine's /tmp; shared folders below
# /tmp are kept open during this mount, and mounted again.
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

# Kills all other processes in this network namespace, until none is found, because processes may
# start other processes.
mine=$(readlink /proc/self/ns/net)
found=1
while ((found)); do
    found=0
    # Question marks replace the brackets, which have a meaning in patterns.
    for link in $(find /proc/[0-9]*/ns/net -lname "${mine//[\[\]]/?}"); do
        process=${link#/proc/}
        process=${process%%/*}
        [[ $process == "$$" ]] || { kill -KILL "$process" && found=1; } || true
    done
done 2>/dev/null
