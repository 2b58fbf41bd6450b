#include "options/own_command_line.hpp"

#include <fstream>

#include "base/check.hpp"

namespace nw {

std::vector<std::string> own_command_line() {
    std::ifstream file("/proc/self/cmdline");
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    if (words.empty()) throw MachineError("the command line cannot be read: /proc/self/cmdline");
    return words;
}

}  // namespace nw
