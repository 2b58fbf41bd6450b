#include "file/part_file.hpp"

#include <cerrno>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "file/disk.hpp"

namespace nw {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".part";

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : ".";
}

std::string host_name() {
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    return name;
}

// The process in a name: 123 in PREFIX123.part, and 0 in any other name.
int process_in(std::string_view name, std::string_view prefix) noexcept {
    if (!name.starts_with(prefix) || !name.ends_with(ending)) return 0;
    name.remove_suffix(ending.size());
    name.remove_prefix(std::min(prefix.size(), name.size()));
    int pid = 0;
    const auto [end, trouble] = std::from_chars(name.data(), name.data() + name.size(), pid);
    return trouble == std::errc{} && end == name.data() + name.size() ? pid : 0;
}

bool is_over(int pid) noexcept { return kill(pid, 0) != 0 && errno == ESRCH; }

void remove_leftovers(const fs::path& target) {
    const std::string prefix = fmt::format("{}.{}-", target.filename().string(), host_name());
    std::error_code ignored;
    for (fs::directory_iterator entry(folder_of(target), ignored), end; !ignored && entry != end;
         entry.increment(ignored)) {
        const int pid = process_in(entry->path().filename().string(), prefix);
        std::error_code in_vain;
        if (pid > 0 && is_over(pid)) fs::remove(entry->path(), in_vain);
    }
}

// False, with errno, if it is not on the disk.
bool sync_file(const std::string& path) noexcept {
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool is_synced = sync_descriptor(file);
    const int reason = errno;
    close(file);
    errno = reason;
    return is_synced;
}

}  // namespace

PartFile::PartFile(std::string target)
    : target_(std::move(target)), path_(name_for(target_, getpid())) {
    remove_leftovers(target_);
}

PartFile::~PartFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
}

void PartFile::complete() {
    if (!sync_file(path_)) fail_with_errno(target_, "written");
    replace_file(target_, path_);
    sync_folder(folder_of(target_));
}

std::string PartFile::name_for(const std::string& target, int pid) {
    return fmt::format("{}.{}-{}{}", target, host_name(), pid, ending);
}

}  // namespace nw
