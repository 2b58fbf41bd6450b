// SPDX-License-Identifier: Apache-2.0
// A temporary folder for the files of one test.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include <unistd.h>

namespace nw::test {

// A folder that is deleted with the object.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        static std::atomic<unsigned> count{0};
        path_ = std::filesystem::temp_directory_path() /
                ("numawarp-" + std::to_string(getpid()) + "-" + std::to_string(count++));
        std::filesystem::create_directories(path_);
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string path() const { return path_.string(); }
    std::string read(const std::string& file) const {
        std::ostringstream text;
        text << std::ifstream(path_ / file).rdbuf();
        return text.str();
    }

  private:
    std::filesystem::path path_;
};

}  // namespace nw::test
