// SPDX-License-Identifier: Apache-2.0
#include "app/fingerprint.hpp"

#include <cstddef>
#include <fstream>
#include <vector>

#include "util/digest.hpp"

namespace nw {

std::string file_fingerprint(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return "unknown";
    Digest digest;
    std::vector<char> chunk(std::size_t{1} << 20);
    while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0)
        digest.append(0, 0, reinterpret_cast<const std::byte*>(chunk.data()),
                      static_cast<std::size_t>(file.gcount()));
    return digest.hex();
}

std::string program_fingerprint() { return file_fingerprint("/proc/self/exe"); }

}  // namespace nw
