#include "tests/bench/launched.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace nw::bench {

Launched::Launched(std::string launcher, std::string folder)
    : launcher_(std::move(launcher)),
      folder_(std::move(folder)),
      scratch_((std::filesystem::temp_directory_path() / "numawarp-bench-XXXXXX").string()) {
    if (mkdtemp(scratch_.data()) == nullptr)
        throw std::runtime_error("no folder for results in " + scratch_);
}

Launched::~Launched() {
    std::error_code ignored;
    std::filesystem::remove_all(scratch_, ignored);
}

nlohmann::json Launched::run(const std::string& program, std::uint32_t ranks, std::uint32_t workers,
                             const std::string& options) const {
    const std::string stats = scratch_ + "/stats.json", said = scratch_ + "/said";
    const std::string start = ranks > 1 ? fmt::format("python3 '{}' {} ", launcher_, ranks) : "";
    const std::string command =
        fmt::format("{}'{}/{}' --workers {} {} --quiet --stats '{}' >'{}' 2>&1", start, folder_,
                    program, workers, options, stats, said);
    if (std::system(command.c_str()) != 0) {
        std::ifstream text(said);
        throw std::runtime_error(command + "\n" +
                                 std::string(std::istreambuf_iterator<char>(text), {}));
    }
    std::ifstream file(stats);
    return nlohmann::json::parse(file);
}

}  // namespace nw::bench
