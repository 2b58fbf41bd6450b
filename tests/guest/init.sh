#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PID 1 of the guest, first half: runs in the initramfs and makes the host's file tree the guest's
# root.
#
# The host exports its tree through QEMU's 9p server: one read-only export `host` of the whole tree,
# and an export rw0, rw1, ... for each writable folder. The guest's own /proc, /sys, /dev, /run and
# /tmp are mounted over the tree. Then session.sh becomes PID 1.
#
# Content of the initramfs: /bin (busybox), /modules (in the order of their names), /guest:
#   session.sh, command.sh   second half, and the command
#   writable                 one folder of the host per line, in the order of the exports
#   visible                  one folder below /tmp per line, visible in the fresh /tmp
#   sysctls                  one setting `name=value` per line
PATH=/bin
set -e # the end of PID 1 is a panic, which ends QEMU; the console's last lines contain the reason

for module in /modules/*.ko; do
    insmod "$module"
done

plan9=trans=virtio,version=9p2000.L,msize=512000
mkdir -p /proc /tree /host
mount -t proc proc /proc
mount -t 9p -o ro,$plan9,cache=loose host /host
mount --bind /host /tree # stays as it is while /host is covered below

mount -t proc proc /host/proc
mount -t sysfs sysfs /host/sys
mount -t cgroup2 cgroup /host/sys/fs/cgroup
mount -t devtmpfs devices /host/dev
mkdir -p /host/dev/pts /host/dev/shm /host/dev/hugepages
for link in fd:fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do
    ln -s "/proc/self/${link#*:}" "/host/dev/${link%:*}"
done
mount -t devpts devpts /host/dev/pts
mount -t tmpfs shm /host/dev/shm
mount -t hugetlbfs hugepages /host/dev/hugepages
mount -t tmpfs run /host/run
mount -t tmpfs tmp /host/tmp

while read -r folder; do
    mkdir -p "/host$folder"
    mount --bind "/tree$folder" "/host$folder"
done </guest/visible

# With cache=mmap, programs can map these files. session.sh calls sync after the command, so that
# all data that the command has written is on the host.
export=0
while read -r folder; do
    mkdir -p "/host$folder" # not there yet below /tmp
    mount -t 9p -o rw,$plan9,cache=mmap "rw$export" "/host$folder"
    export=$((export + 1))
done </guest/writable

ifconfig lo up
hostname numaguest
echo "127.0.0.1 localhost numaguest" >/host/run/hosts
mount --bind /host/run/hosts /host/etc/hosts

# Pages that the kernel moves would distort the observations of a test. A --sysctl can switch NUMA
# balancing on again.
echo 0 >/proc/sys/kernel/numa_balancing
while IFS='=' read -r name value; do
    echo "$value" >"/proc/sys/$(echo "$name" | tr . /)"
done </guest/sysctls

cp -a /guest /bin /host/run/
mv /host/run/bin /host/run/guest/bin
umount /tree /proc
exec switch_root /host /run/guest/session.sh
