// SPDX-License-Identifier: Apache-2.0
#include "util/file/part_file.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file/disk.hpp"

namespace nw {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".part";
constexpr std::size_t digits = 8;  // digits of the boot's name, and of the random number
constexpr std::string_view unknown_boot = "00000000";

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : ".";
}

std::string host_name() {
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    return name;
}

// A name that changes with every boot of the kernel.
std::string boot_name() {
    std::string id;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
    return id.size() < digits ? std::string(unknown_boot) : id.substr(0, digits);
}

struct Writer {
    std::string_view host;
    std::string_view boot;
};

// The writer in a file name of the form NAME.HOST-BOOT-RANDOM.part, where `name` is NAME and a dot.
// Returns nullopt if the file name has another form.
std::optional<Writer> writer_in(std::string_view file, std::string_view name) noexcept {
    constexpr std::size_t numbers = 2 * (1 + digits);
    if (!file.starts_with(name) || !file.ends_with(ending)) return std::nullopt;
    file.remove_suffix(ending.size());
    file.remove_prefix(std::min(name.size(), file.size()));
    if (file.size() <= numbers) return std::nullopt;
    const std::string_view host = file.substr(0, file.size() - numbers);
    const std::string_view boot = file.substr(host.size() + 1, digits);
    const std::string_view random = file.substr(file.size() - digits);
    const auto is_number = [](std::string_view text) {
        return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    };
    if (file[host.size()] != '-' || file[host.size() + 1 + digits] != '-' || !is_number(boot) ||
        !is_number(random))
        return std::nullopt;
    return Writer{host, boot};
}

enum class Use { in_use, left, unknown };

// Removes the file if it is left by a killed run. No other process can have created a new file of
// that name meanwhile, because names are random.
Use look_at(const fs::path& path, bool is_of_here) {
    const int file = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return Use::unknown;
    Use use = Use::unknown;
    struct stat status {};
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        const bool is_free = flock(file, LOCK_EX | LOCK_NB) == 0;
        if (!is_free && errno == EWOULDBLOCK) use = Use::in_use;
        if (is_free && is_of_here) use = Use::left;
    }
    std::error_code in_vain;
    if (use == Use::left) fs::remove(path, in_vain);
    close(file);
    return use;
}

// Removes the files that killed runs have left beside `target`. Returns the names of the files that
// may belong to a killed run or to a running run. These files are not removed.
std::vector<std::string> remove_leftovers(const fs::path& target) {
    const std::string name = target.filename().string() + ".";
    const std::string host = host_name(), boot = boot_name();
    std::vector<std::string> unknown;
    std::error_code ignored;
    for (fs::directory_iterator entry(folder_of(target), ignored), end; !ignored && entry != end;
         entry.increment(ignored)) {
        const std::string file = entry->path().filename().string();
        const std::optional<Writer> writer = writer_in(file, name);
        if (!writer) continue;
        const bool is_of_here =
            writer->host == host || (writer->boot == boot && boot != unknown_boot);
        if (look_at(entry->path(), is_of_here) == Use::unknown) unknown.push_back(file);
    }
    std::sort(unknown.begin(), unknown.end());
    return unknown;
}

// Creates a new file, and locks it if the file system has locks. Returns -1, with errno, if the
// file cannot be created. A process that searches for leftovers may lock the new file before this
// function locks it. That process removes the file if it is on this machine. In either case this
// function returns -1 with errno EEXIST.
int make_locked(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return -1;
    struct stat status {};
    const bool is_taken = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!is_taken && fstat(file, &status) == 0 && status.st_nlink > 0) return file;
    close(file);
    errno = EEXIST;
    return -1;
}

}  // namespace

PartFile::PartFile(std::string target)
    : target_(std::move(target)), left_alone_(remove_leftovers(target_)) {
    constexpr int tries = 100;
    for (int i = 0; i < tries && descriptor_ < 0 && (i == 0 || trouble_ == EEXIST); ++i) {
        path_ = fmt::format("{}.{}-{}-{:08x}{}", target_, host_name(), boot_name(),
                            std::random_device{}(), ending);
        descriptor_ = make_locked(path_);
        trouble_ = descriptor_ < 0 ? errno : 0;
    }
}

PartFile::~PartFile() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
    if (descriptor_ >= 0) close(descriptor_);
}

// The lock is released only after the file has its final name.
void PartFile::complete() {
    if (descriptor_ < 0) errno = trouble_;
    if (descriptor_ < 0 || !sync_descriptor(descriptor_)) fail_with_errno(target_, "written");
    replace_file(target_, path_);
    path_.clear();
    close(std::exchange(descriptor_, -1));
    sync_folder(folder_of(target_));
}

}  // namespace nw
