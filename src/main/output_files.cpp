#include "main/output_files.hpp"

#include <cerrno>
#include <cstring>

#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include <numawarp/model.hpp>

#include "base/check.hpp"

namespace nw {

namespace {

namespace fs = std::filesystem;

std::string temporary_name(const fs::path& path) {
    return fmt::format("{}.{}.part", path.string(), getpid());
}

// Creates or empties the file. 0, or what errno says.
int try_to_create(const std::string& path) {
    errno = 0;
    const std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (file) return 0;
    return errno != 0 ? errno : EIO;
}

}  // namespace

void prepare_output_directory(const std::string& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (!error && !fs::is_directory(path)) error = std::make_error_code(std::errc::not_a_directory);
    if (!error) {
        const std::string probe = temporary_name(fs::path(path) / "probe");
        if (const int number = try_to_create(probe); number != 0)
            error = std::error_code(number, std::generic_category());
        else
            fs::remove(probe);
    }
    if (error)
        throw SetupError(fmt::format("--output {}: must be a folder that can be written: {}", path,
                                     error.message()));
}

WholeFile::WholeFile(std::string option, std::string path)
    : option_(std::move(option)), path_(std::move(path)) {
    if (path_.empty()) return;
    std::string trouble;
    if (fs::is_directory(path_)) {
        trouble = "it is a folder";
    } else if (const int number = try_to_create(temporary_name(path_)); number != 0) {
        trouble = std::strerror(number);
    }
    if (!trouble.empty())
        throw SetupError(fmt::format("--{} {}: must be a file that can be written: {}", option_,
                                     path_, trouble));
    temporary_path_ = temporary_name(path_);
}

WholeFile::~WholeFile() {
    std::error_code ignored;
    if (!temporary_path_.empty()) fs::remove(temporary_path_, ignored);
}

void WholeFile::write(const std::string& text) {
    if (temporary_path_.empty()) return;
    std::ofstream file(temporary_path_, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    std::error_code error;
    if (file) fs::rename(temporary_path_, path_, error);
    if (!file || error)
        throw MachineError(fmt::format("--{} {}: cannot be written", option_, path_));
    temporary_path_.clear();
}

}  // namespace nw
