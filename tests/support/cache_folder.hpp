// SPDX-License-Identifier: Apache-2.0
// Replaces the folder from which known_machine() reads the measurement of this machine.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "numa/measure/known_machine.hpp"
#include "tests/support/temporary_folder.hpp"

namespace nw::test {

// A separate cache folder for the duration of a test.
class CacheFolder {
  public:
    CacheFolder() { ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }
    ~CacheFolder() { ::unsetenv("XDG_CACHE_HOME"); }
    void keep(const std::string& content) const {
        const std::string file = cached_machine_file();
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        std::ofstream(file) << content;
    }

  private:
    TemporaryFolder folder_;
};

}  // namespace nw::test
