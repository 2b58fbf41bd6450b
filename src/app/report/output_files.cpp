// SPDX-License-Identifier: Apache-2.0
#include "app/report/output_files.hpp"

#include <cerrno>
#include <cstring>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <map>
#include <random>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "util/check.hpp"
#include "util/file/disk.hpp"

namespace nw {

namespace {

namespace fs = std::filesystem;

// Creates or empties the file. Returns its descriptor, or -1 and errno.
int create(const std::string& path) {
    return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

// Returns 0, or a value of errno.
int try_to_create(const std::string& path) {
    const int descriptor = create(path);
    if (descriptor < 0) return errno;
    close(descriptor);
    return 0;
}

// Opens a device or a pipe for writing. Returns its descriptor, or -1 and errno. The reader of a
// pipe may open it a little later, so opening is tried for 5 s. Opening never blocks, because
// without a reader the run would hang before it has begun.
int open_for_writing(const fs::path& path) {
    constexpr int tries = 100;
    constexpr std::chrono::milliseconds between{50};
    int descriptor = -1;
    for (int i = 0; i < tries; ++i) {
        descriptor = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (descriptor >= 0 || errno != ENXIO) break;
        std::this_thread::sleep_for(between);
    }
    if (descriptor < 0) return -1;
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    return descriptor;
}

// Returns N if the path is /proc/self/fd/N or another name of it, else -1.
int own_descriptor(const fs::path& path) {
    std::error_code error;
    const fs::path folder = fs::canonical(path.parent_path(), error);
    if (error || folder != fs::canonical("/proc/self", error) / "fd") return -1;
    const std::string name = path.filename();
    int number = -1;
    const auto [end, trouble] = std::from_chars(name.data(), name.data() + name.size(), number);
    return trouble == std::errc{} && end == name.data() + name.size() ? number : -1;
}

// Follows symbolic links to their final target, which need not exist. Requires: the links form no
// cycle.
fs::path follow_links(fs::path path) {
    std::error_code error;
    while (own_descriptor(path) < 0 && fs::is_symlink(path, error)) {
        const fs::path link = fs::read_symlink(path, error);
        if (error) break;
        path = path.parent_path() / link;  // an absolute link replaces the whole path
    }
    return path;
}

}  // namespace

void prepare_folder(std::string_view option, const std::string& path) {
    std::error_code error, ignored;
    fs::create_directories(path, error);
    if (!error && !fs::is_directory(path)) error = std::make_error_code(std::errc::not_a_directory);
    if (!error) {
        // Each process uses another name: a network file system may fail if one machine opens a
        // file while another one removes it.
        const fs::path probe =
            fs::path(path) / fmt::format(".probe-{:08x}", std::random_device{}());
        if (const int number = try_to_create(probe); number != 0)
            error = std::error_code(number, std::generic_category());
        else
            fs::remove(probe, ignored);
    }
    if (error)
        throw SetupError(
            fmt::format("--{} {}: must be a writable folder: {}", option, path, error.message()));
}

void check_different_files(const KeptTables& tables, const Settings& settings) {
    std::map<fs::path, std::string> options;  // by the path that they write
    const auto add = [&](const std::string& option, const fs::path& path) {
        std::error_code error;
        // Several options may write to one device or pipe, for example /dev/null.
        if (path.empty() || (fs::exists(path, error) && !fs::is_regular_file(path, error))) return;
        const fs::path whole = fs::absolute(path, error);
        fs::path place = fs::weakly_canonical(whole, error);
        if (error) place = whole;  // a cycle of links or a long name: opening reports it
        if (const auto [other, is_new] = options.emplace(place, option); !is_new)
            throw SetupError(
                fmt::format("--{} {}: --{} uses the same file; must be a different file", option,
                            path.string(), other->second));
    };
    for (const std::string& file : tables.files()) add("output", file);
    add("stats", settings.stats_file);
    add("trace", settings.trace_file);
}

WholeFile::WholeFile(std::string option, std::string path)
    : option_(std::move(option)), path_(std::move(path)) {
    if (path_.empty()) return;
    if (const int trouble = prepare(); trouble != 0)
        throw SetupError(fmt::format("--{} {}: must be a writable file: {}", option_, path_,
                                     std::strerror(trouble)));
}

int WholeFile::prepare() {
    std::error_code error;
    const fs::file_status status = fs::status(path_, error);
    if (status.type() == fs::file_type::none) return error.value();
    if (status.type() == fs::file_type::directory) return EISDIR;
    target_ = follow_links(path_);
    if (const int own = own_descriptor(target_); own >= 0) {
        // A second opening by name would write from the file's beginning, over earlier output.
        descriptor_ = fcntl(own, F_DUPFD_CLOEXEC, 0);
        return descriptor_ >= 0 ? 0 : errno;
    }
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        descriptor_ = open_for_writing(target_);
        return descriptor_ >= 0 ? 0 : errno;
    }
    part_.emplace(target_);
    return part_->trouble();
}

WholeFile::~WholeFile() {
    if (descriptor_ >= 0) close(descriptor_);
}

std::string WholeFile::notice() const {
    if (!part_ || part_->left_alone().empty()) return {};
    const std::vector<std::string>& files = part_->left_alone();
    return fmt::format(
        "--{} {}: the same folder contains {} from another machine, whose run is still writing or "
        "was killed; remove {} if no such run exists",
        option_, path_,
        files.size() == 1 ? files.front()
                          : fmt::format("{} and {} more files", files.front(), files.size() - 1),
        files.size() == 1 ? "it" : "them");
}

void WholeFile::append(std::string_view text) {
    if (path_.empty()) return;
    if (descriptor_ < 0) descriptor_ = create(part_->path());
    if (descriptor_ < 0 || write_all(descriptor_, text) < text.size()) fail();
}

void WholeFile::complete() {
    if (!part_) return;
    if (close(std::exchange(descriptor_, -1)) != 0) fail();
    part_->complete();
}

void WholeFile::fail() const {
    throw MachineError(
        fmt::format("--{} {}: cannot be written: {}", option_, path_, std::strerror(errno)));
}

}  // namespace nw
