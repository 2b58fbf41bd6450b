// SPDX-License-Identifier: Apache-2.0
#include "util/file/section_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <numawarp/model.hpp>

#include "util/check.hpp"
#include "util/file/disk.hpp"

namespace nw {
namespace {

AppendedFile new_file(const std::string& path) {
    try {
        return {path, AppendedFile::Open::new_name};
    } catch (const std::system_error& error) {
        errno = error.code().value();
        fail_with_errno(path, "written");
    }
}

}  // namespace

SectionWriter::SectionWriter(const std::string& path) : file_(new_file(path)) {}

void SectionWriter::write(const void* bytes, std::size_t size) {
    if (size == 0) return;  // `bytes` may be null if `size` is 0; also in read()
    file_.append({static_cast<const char*>(bytes), size});
    checksum_.append(bytes, size);
    section_.bytes += size;
}

Section SectionWriter::end_section() {
    Section ended = section_;
    ended.checksum = checksum_.value();
    section_ = {ended.offset + ended.bytes, 0, {}};
    checksum_.restart();
    return ended;
}

void SectionWriter::finish() { file_.sync(); }

detail::OpenFile detail::open_to_read(const std::string& path) noexcept {
    const int descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return nullptr;
    struct stat status {};
    const bool is_known = fstat(descriptor, &status) == 0;
    std::FILE* file = nullptr;
    if (is_known && S_ISREG(status.st_mode)) file = fdopen(descriptor, "rb");
    if (file == nullptr) {
        const int why = !is_known || S_ISREG(status.st_mode) ? errno
                        : S_ISDIR(status.st_mode)            ? EISDIR
                                                             : EINVAL;
        close(descriptor);
        errno = why;
    }
    return OpenFile(file);
}

SectionReader::SectionReader(std::string path)
    : path_(std::move(path)), file_(detail::open_to_read(path_)) {
    if (file_ == nullptr)
        throw SetupError(
            fmt::format("--restart: {} cannot be read: {}; allowed: a complete checkpoint", path_,
                        std::strerror(errno)));
}

void SectionReader::seek(std::uint64_t offset) {
    if (fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET) != 0) refuse();
}

void SectionReader::open(const Section& section) {
    constexpr std::uint64_t piece_max = std::uint64_t{1} << 20;
    seek(section.offset);
    Checksum checksum;
    std::vector<std::byte> piece(std::min(section.bytes, piece_max));
    for (std::uint64_t left = section.bytes; left > 0;) {
        const std::size_t size = std::min(left, piece_max);
        read(piece.data(), size);
        checksum.append(piece.data(), size);
        left -= size;
    }
    if (!(checksum.value() == section.checksum)) refuse();
    seek(section.offset);
}

void SectionReader::read(void* bytes, std::size_t size) {
    if (size == 0) return;
    if (std::fread(bytes, 1, size, file_.get()) != size) refuse();
}

void SectionReader::refuse() const {
    throw SetupError(
        fmt::format("--restart: {} is damaged; allowed: an undamaged checkpoint", path_));
}

}  // namespace nw
