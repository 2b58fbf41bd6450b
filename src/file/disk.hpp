// How bytes and names come to the disk, so that they are there after a power cut. Whatever else writes
// files is made of these.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nw {

// As write(2), until all is written or the system refuses the rest: how many bytes were, and errno.
std::size_t write_all(int descriptor, std::string_view bytes) noexcept;

// As fsync(2), but that it is not interrupted: file systems in user space may be, by any signal. False,
// with errno, if the disk has refused what was written; pipes, devices and some network file systems say
// that they hold nothing back, which is as well.
bool sync_descriptor(int descriptor) noexcept;

// These throw MachineError.

// The file, which is on the disk, gets the other name; a file that had it goes.
void replace_file(const std::string& target, const std::string& by);

// What stands in the folder under a name is then on the disk under that name. A folder that one may
// write to but not read cannot be synced, and is left to the system.
void sync_folder(const std::string& path);

// "PATH cannot be WHAT: " and what errno says.
[[noreturn]] void fail_with_errno(const std::string& path, std::string_view what);

}  // namespace nw
