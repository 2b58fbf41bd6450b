// SPDX-License-Identifier: Apache-2.0
// Helpers for the fuzz targets. A target is one source file that defines LLVMFuzzerTestOneInput().
// This function passes the input to numawarp's own reader. The reader must accept the input, or
// refuse it with SetupError or MachineError. Everything else ends the process: another exception, a
// signal, or a report of a sanitizer.
//
// tests/fuzz/run builds the targets with clang's libFuzzer, and searches for new inputs. The
// ordinary build links them with replay.cpp: the tests fuzz_<target> read the inputs of
// tests/fuzz/corpus/<target>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

#include <numawarp/model.hpp>

#include "util/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace nw::test {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// Calls read(). It may refuse its input with SetupError (exit code 2) or MachineError (exit code
// 4).
template <class Read>
void read_or_refuse(Read&& read) {
    try {
        read();
    } catch (const SetupError&) {
    } catch (const MachineError&) {
    }
}

// A file in memory for readers that take a path. The path stays the same when the content changes.
class MemoryFile {
  public:
    MemoryFile() : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) { NW_CHECK(descriptor_ >= 0); }
    ~MemoryFile() { close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
    void set(std::string_view bytes) const {
        NW_CHECK(ftruncate(descriptor_, 0) == 0);
        NW_CHECK(pwrite(descriptor_, bytes.data(), bytes.size(), 0) ==
                 static_cast<ssize_t>(bytes.size()));
    }

  private:
    int descriptor_;
};

}  // namespace nw::test
