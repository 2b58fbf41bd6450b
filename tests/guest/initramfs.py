"""Packs the first files of a guest: an initramfs in cpio's `newc` format, which the kernel unpacks.

One is packed for each boot, so that the command to run travels in it and the scripts in this folder
are always the current ones. It has 3 MB and takes milliseconds, hence no compression.

Source of the format: "initramfs buffer format", Linux kernel documentation.
"""

import stat


class Initramfs:
    def __init__(self):
        self._bytes = bytearray()
        self._inodes = 0

    def add_folder(self, path):
        self._add(path, stat.S_IFDIR | 0o755, b"")

    def add_file(self, path, content):
        """All files are executable: most are programs, and it does not hurt the others."""
        self._add(path, stat.S_IFREG | 0o755, content)

    def add_link(self, path, target):
        self._add(path, stat.S_IFLNK | 0o777, target.encode())

    def packed(self):
        """The whole archive; nothing can be added after it."""
        self._add("TRAILER!!!", 0, b"")
        return bytes(self._bytes)

    def _add(self, path, mode, content):
        name = path.encode() + b"\0"
        self._inodes += 1
        # inode, mode, uid, gid, links, time, size, device 4x, length of the name, checksum (unused)
        fields = [self._inodes, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0]
        self._bytes += b"070701" + b"".join(b"%08X" % field for field in fields) + name
        self._pad()
        self._bytes += content
        self._pad()

    def _pad(self):
        self._bytes += bytes(-len(self._bytes) % 4)
