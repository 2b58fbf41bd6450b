// SPDX-License-Identifier: Apache-2.0
// A file that has a temporary name until it is complete, and then gets its final name by rename. A
// killed run cannot remove its temporary file. The next run that writes a file of the same final
// name removes the temporary file.
//
// The writing process holds a lock on the file (flock(2)), which ends with the process. The
// temporary name contains the process's host and boot: TARGET.HOST-BOOT-RANDOM.part. A file without
// a lock was certainly left by a killed run in two cases. First case: the host in its name is this
// host; the boot may be an earlier boot. Second case: the boot in its name is the boot of the
// running kernel, which all containers and namespaces of a machine share. For a file of another
// machine, a missing lock proves nothing: some mounts do not show locks of other machines, and a
// network failure may have released the lock. Such a file is not removed, but reported.
#pragma once

#include <string>
#include <vector>

namespace nw {

// Thread: one at a time.
class PartFile {
  public:
    // Removes the files that killed runs have left beside `target`, and creates an empty file.
    explicit PartFile(std::string target);
    // Removes the file, unless it has its final name.
    ~PartFile();
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;

    // 0, or the value of errno if the file could not be created.
    int trouble() const noexcept { return trouble_; }
    const std::string& path() const noexcept { return path_; }
    // Names of files beside `target` that were not removed, because they may belong to running
    // runs.
    const std::vector<std::string>& left_alone() const noexcept { return left_alone_; }

    // Brings the file to the disk, then gives it its final name. Throws MachineError. Requires: the
    // code that wrote to path() has closed the file, and has not replaced it with another file.
    void complete();

  private:
    const std::string target_;
    std::vector<std::string> left_alone_;
    std::string path_;
    int descriptor_ = -1;  // holds the lock
    int trouble_ = 0;
};

}  // namespace nw
