// The name under which a file is written until it is whole, when it gets its own by rename. Host and
// process are in it, so that runs may share a folder; a run that is killed cannot remove it, so the next
// run that writes a file of that name does.
#pragma once

#include <string>

namespace nw {

// Thread: any one. Hosts: only what processes of this host have left is removed, since nobody here can
// tell whether another host's are alive.
class PartFile {
  public:
    // Removes what runs that were killed have left beside `target`. Makes nothing yet.
    explicit PartFile(std::string target);
    // Removes the file, if it has not got its name.
    ~PartFile();
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;

    const std::string& path() const noexcept { return path_; }

    // Brings the file to the disk, then gives it its name. Throws MachineError. Requires: it is closed.
    void complete();

    // What a part of `target` is called that process `pid` of this host writes.
    static std::string name_for(const std::string& target, int pid);

  private:
    const std::string target_;
    const std::string path_;
};

}  // namespace nw
