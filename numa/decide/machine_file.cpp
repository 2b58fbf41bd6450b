// SPDX-License-Identifier: Apache-2.0
#include "numa/decide/machine_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <numawarp/model.hpp>

namespace nw {

using nlohmann::json;

MachineFile machine_of(const json& description) {
    if (!description.is_object() || !description.contains("bw"))
        throw SetupError(
            "\"bw\" is missing; allowed: an object with \"bw\", a row of MB/s for each node");
    const json& rows = description["bw"];
    std::vector<std::vector<double>> mb_s;
    if (!rows.is_array()) throw SetupError("bw is not an array; allowed: an array of rows");
    for (const json& row : rows) {
        std::vector<double>& numbers = mb_s.emplace_back();
        if (!row.is_array())
            throw SetupError(fmt::format(
                "row {} of bw is not an array; allowed: an array of numbers", mb_s.size() - 1));
        for (const json& value : row) {
            if (!value.is_number())
                throw SetupError(fmt::format("bw[{}][{}] is not a number; allowed: MB/s",
                                             mb_s.size() - 1, numbers.size()));
            numbers.push_back(value.get<double>());
        }
    }
    const auto source = description.find("source");
    return {source != description.end() && source->is_string() ? source->get<std::string>() : "",
            BandwidthMatrix(mb_s)};
}

json read_json(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw SetupError(fmt::format("{}: {}", file, std::strerror(errno)));
    try {
        return json::parse(in);
    } catch (const json::parse_error& error) {
        throw SetupError(fmt::format("{}: not valid JSON from byte {}", file, error.byte));
    } catch (const json::exception&) {  // a number beyond the range of double
        throw SetupError(fmt::format(
            "{}: a number is too large; allowed: numbers that JSON can represent", file));
    } catch (const std::ios_base::failure&) {
        throw SetupError(fmt::format("{}: cannot be read", file));
    }
}

MachineFile read_machine_file(const std::string& file_and_name) {
    const std::size_t hash = file_and_name.find('#');
    const std::string file = file_and_name.substr(0, hash);
    json content = read_json(file);
    if (hash != std::string::npos) {
        const std::string name = file_and_name.substr(hash + 1);
        if (!content.is_object() || !content.contains(name))
            throw SetupError(fmt::format("{}: no machine \"{}\" in it", file, name));
        content = json(content[name]);
    }
    try {
        return machine_of(content);
    } catch (const SetupError& error) {
        throw SetupError(fmt::format("{}: {}", file_and_name, error.what()));
    }
}

}  // namespace nw
