// The name under which a file is written until it is whole, when it gets its own by rename. A run that is
// killed cannot remove it, so the next run that writes a file of that name does.
//
// Who writes it holds a lock on it (flock(2)), which ends with the process, and its name has a host and a
// boot of it: TARGET.HOST-BOOT-RANDOM.part. So what nobody holds is certainly left by a killed run if
// it is of this host, also of an earlier boot, or of this kernel, as are all containers and namespaces
// of a machine. From another machine a lock may not be seen here, however its file system is mounted, or
// may have been lost while a network was cut: what is there is left alone, and said.
#pragma once

#include <string>
#include <vector>

namespace nw {

// Thread: any one.
class PartFile {
  public:
    // Removes what runs that were killed have left beside `target`, and makes an empty file.
    explicit PartFile(std::string target);
    // Removes the file, if it has not got its name.
    ~PartFile();
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;

    // 0, or what errno says of why it could not be made.
    int trouble() const noexcept { return trouble_; }
    const std::string& path() const noexcept { return path_; }
    // Names of files that are no living run's, or are: nobody here can tell.
    const std::vector<std::string>& left_alone() const noexcept { return left_alone_; }

    // Brings the file to the disk, then gives it its name. Throws MachineError. Requires: it is closed,
    // and was not replaced by another.
    void complete();

  private:
    const std::string target_;
    std::vector<std::string> left_alone_;
    std::string path_;
    int descriptor_ = -1;  // that the lock is on
    int trouble_ = 0;
};

}  // namespace nw
