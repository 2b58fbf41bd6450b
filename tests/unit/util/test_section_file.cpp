// SPDX-License-Identifier: Apache-2.0
// Sections are read back as they were written, or they are refused.
#include "util/file/section_file.hpp"

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

#include <sys/resource.h>

#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/engine/damaged_files.hpp"
#include "util/check.hpp"

namespace nw::test {
namespace {

std::string random_bytes(Dice& dice, std::size_t size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(dice.below(256));
    return bytes;
}

// Five sections. One is empty, and one is longer than a reader's buffer.
struct Sections {
    explicit Sections(std::uint64_t seed) {
        Dice dice(seed);
        SectionWriter file(path);
        for (const std::size_t size : {std::size_t{100}, std::size_t{0}, std::size_t{1},
                                       std::size_t{5000}, std::size_t{3} << 20}) {
            contents.push_back(random_bytes(dice, size));
            const std::size_t first = dice.below(size + 1);
            file.write(contents.back().data(), first);
            file.write(contents.back().data() + first, size - first);
            known.push_back(file.end_section());
        }
        file.finish();
    }

    // Returns whether the section can be read. A section that can be read must have the bytes that
    // were written. For a section that cannot be read, the reader must throw SetupError.
    bool is_whole(std::size_t i) const {
        SectionReader file(path);
        try {
            file.open(known[i]);
            std::string bytes(known[i].bytes, '\0');
            file.read(bytes.data(), bytes.size());
            CHECK((bytes == contents[i]));
            return true;
        } catch (const SetupError& error) {
            CHECK(std::string(error.what()).starts_with("--restart: " + path));
            return false;
        }
    }

    TemporaryFolder folder;
    std::string path = folder.path() + "/sections";
    std::vector<Section> known;
    std::vector<std::string> contents;
};

// Limits the length of files that this process writes.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(std::size_t bytes) : old_handler_(signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &old_limit_);
        rlimit limit = old_limit_;
        limit.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        setrlimit(RLIMIT_FSIZE, &old_limit_);
        signal(SIGXFSZ, old_handler_);
    }

  private:
    rlimit old_limit_{};
    void (*old_handler_)(int);
};

TEST_CASE("section file: sections can be read in any order and more than once") {
    const Sections sections(1);
    for (const std::size_t i : {4u, 0u, 2u, 1u, 3u, 4u}) CHECK(sections.is_whole(i));
}

TEST_CASE("section file: after a truncation exactly the sections before the cut are whole") {
    const Sections sections(2);
    const std::string bytes = bytes_of(sections.path);
    std::vector<std::size_t> lengths{0, 1, bytes.size() - 1};
    for (const Section& section : sections.known)
        for (const std::uint64_t length :
             {section.offset, section.offset + section.bytes / 2, section.offset + section.bytes})
            lengths.push_back(length);
    for (const std::size_t length : lengths) {
        INFO("truncated after" << length);
        set_bytes(sections.path, bytes.substr(0, length));
        for (std::size_t i = 0; i < sections.known.size(); ++i) {
            const Section& section = sections.known[i];
            const bool lies_before = section.bytes == 0 || section.offset + section.bytes <= length;
            CHECK(sections.is_whole(i) == lies_before);
        }
    }
}

TEST_CASE("section file: a flipped bit is found in its section and in no other section") {
    const Sections sections(3);
    const std::string bytes = bytes_of(sections.path);
    for (const std::uint64_t seed : test_seeds(40)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        Dice dice(seed);
        const std::size_t bit = dice.below(8 * (dice.chance(0.5) ? 5101 : bytes.size()));
        set_bytes(sections.path, with_bit_flipped(bytes, bit));
        for (std::size_t i = 0; i < sections.known.size(); ++i) {
            const Section& section = sections.known[i];
            const bool is_hit =
                bit / 8 >= section.offset && bit / 8 < section.offset + section.bytes;
            CHECK(sections.is_whole(i) == !is_hit);
        }
    }
}

TEST_CASE(
    "section file: to read a missing file is a SetupError; to create an existing one is a "
    "MachineError") {
    const Sections sections(4);
    CHECK_THROWS_AS(SectionReader(sections.path + "-not"), SetupError);
    CHECK_THROWS_AS(SectionWriter(sections.path), MachineError);
    CHECK_THROWS_AS(SectionWriter(sections.path + "/below"), MachineError);
}

TEST_CASE("section file: a full disk is an error that names the file") {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/full";
    SectionWriter file(path);
    const FileSizeLimit limit(1 << 20);
    const std::string bytes(1 << 16, 'x');
    std::string said;
    try {
        for (int i = 0; i < 100; ++i) file.write(bytes.data(), bytes.size());
        file.finish();
    } catch (const MachineError& error) {
        said = error.what();
    }
    CHECK(said.starts_with(path + " cannot be written"));
}

}  // namespace
}  // namespace nw::test
