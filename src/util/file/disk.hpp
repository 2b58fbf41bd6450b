// SPDX-License-Identifier: Apache-2.0
// Brings bytes and names of files to the disk, so that they survive a power cut. The classes that
// write files are built on these functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nw {

// Like write(2), but continues until all bytes are written or the system refuses the rest. Returns
// the number of bytes that were written. If fewer bytes than given were written, errno contains the
// reason.
std::size_t write_all(int descriptor, std::string_view bytes) noexcept;

// Like fsync(2), but continues if a signal interrupts it, which can happen in file systems in user
// space. Returns false, with errno, if the disk has refused bytes that were written. Returns true
// for pipes, devices and some network file systems, which report that they have nothing to bring to
// the disk (EINVAL, EROFS).
bool sync_descriptor(int descriptor) noexcept;

// The functions below throw MachineError.

// Renames the file `by` to `target`, and replaces a file of that name. Requires: the content of
// `by` is on the disk.
void replace_file(const std::string& target, const std::string& by);

// Brings the names in the folder to the disk. A folder that the process may write to but not read
// cannot be synchronized; the function then returns without an error.
void sync_folder(const std::string& path);

// Throws "PATH cannot be WHAT: ", followed by the text for errno.
[[noreturn]] void fail_with_errno(const std::string& path, std::string_view what);

}  // namespace nw
