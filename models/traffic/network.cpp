// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/network.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <numeric>
#include <sstream>
#include <system_error>

#include <toml++/toml.h>

#include <numawarp/model.hpp>

namespace traffic {
namespace {

// A place in the file, for error messages: net.toml, line 7, junction "Milano".
struct Place {
    std::string source;
    std::uint32_t line = 0;
    std::string entry;

    [[noreturn]] void fail(const std::string& what) const {
        std::string text = source;
        if (line > 0) text += ", line " + std::to_string(line);
        if (!entry.empty()) text += ", " + entry;
        throw nw::SetupError(text + ": " + what);
    }
};

// The unit and the allowed range of a number. Example of rule(): "km above 0, up to 10000".
struct Figure {
    const char* unit;
    nw::Range allowed;

    std::string rule() const { return std::string(unit) + ' ' + allowed.text(); }
};

constexpr Figure an_interval{"seconds", nw::above(0).to(1e9)};
constexpr Figure a_share{"a probability", nw::from(0).to(1)};
constexpr Figure a_length{"km", nw::above(0).to(10'000)};
constexpr Figure a_latitude{"degrees", nw::from(-90).to(90)};
constexpr Figure a_longitude{"degrees", nw::from(-180).to(180)};
constexpr Figure some_lanes{"a whole number", nw::from(1).to(10)};

std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

class Reader {
  public:
    explicit Reader(const std::string& source) : source_(source) {}

    Network read(const toml::table& root) {
        const Place top{source_, 0, ""};
        allow_only(root, top, {"name", "junction", "route", "outline"});
        Network network;
        network.name = root.contains("name") ? text(root, "name", top) : source_;
        for (const toml::table* table : tables(root, "junction", top)) {
            network.junctions.push_back(junction(*table));
        }
        for (const toml::table* table : tables(root, "route", top)) {
            network.routes.push_back(route(*table));
        }
        if (root.contains("outline")) {
            for (const toml::table* table : tables(root, "outline", top)) {
                const Place place = place_of(*table, "outline");
                allow_only(*table, place, {"points"});
                network.outlines.push_back(points(*table, "points", place));
            }
        }
        check_connected(network);
        return network;
    }

  private:
    Place place_of(const toml::node& node, std::string entry) const {
        return {source_, static_cast<std::uint32_t>(node.source().begin.line), std::move(entry)};
    }

    std::vector<const toml::table*> tables(const toml::table& root, const char* key,
                                           const Place& place) const {
        const toml::array* array = root[key].as_array();
        if (array == nullptr || array->empty()) {
            place.fail(std::string("missing ") + key + "s: at least one [[" + key + "]] is needed");
        }
        std::vector<const toml::table*> result;
        for (const toml::node& node : *array) {
            if (!node.is_table()) place.fail(std::string(key) + " must be tables: [[" + key + "]]");
            result.push_back(node.as_table());
        }
        return result;
    }

    static void allow_only(const toml::table& table, const Place& place,
                           std::initializer_list<std::string_view> keys) {
        for (const auto& [toml_key, value] : table) {
            const std::string_view key = toml_key;
            bool known = false;
            std::string list;
            for (std::string_view allowed : keys) {
                known = known || key == allowed;
                list += (list.empty() ? "" : ", ") + std::string(allowed);
            }
            if (!known) place.fail("unknown key " + in_quotes(key) + "; allowed: " + list);
        }
    }

    static const toml::node& required(const toml::table& table, const char* key, const Place& place,
                                      const std::string& allowed) {
        const toml::node* node = table.get(key);
        if (node == nullptr) place.fail(std::string("missing key ") + key + " (" + allowed + ")");
        return *node;
    }

    static std::string text(const toml::table& table, const char* key, const Place& place) {
        const auto value = required(table, key, place, "a text").value<std::string>();
        if (!value || value->empty() || value->find_first_of(",\"\n") != std::string::npos) {
            place.fail(std::string(key) + " must be a text, not empty, without commas and quotes");
        }
        return *value;
    }

    static double number(const toml::table& table, const char* key, const Place& place,
                         const Figure& figure) {
        const toml::node& node = required(table, key, place, figure.rule());
        const auto value = node.value<double>();
        if (!value) place.fail(std::string(key) + " must be a number: " + figure.rule());
        if (!figure.allowed.contains(*value)) {
            std::ostringstream out;
            out << key << " = " << *value << ": must be " << figure.rule();
            place.fail(out.str());
        }
        return *value;
    }

    static std::uint32_t lanes(const toml::table& table, const Place& place) {
        const double value = number(table, "lanes", place, some_lanes);
        if (value != std::floor(value)) place.fail("lanes must be " + some_lanes.rule());
        return static_cast<std::uint32_t>(value);
    }

    static std::vector<Position> points(const toml::table& table, const char* key,
                                        const Place& place) {
        const std::string allowed =
            std::string(key) + " must be [[latitude, longitude], ...] in degrees";
        const toml::array* array = required(table, key, place, "a list of positions").as_array();
        if (array == nullptr) place.fail(allowed);
        std::vector<Position> result;
        for (const toml::node& node : *array) {
            const toml::array* pair = node.as_array();
            if (pair == nullptr || pair->size() != 2) place.fail(allowed);
            const auto latitude = pair->get(0)->value<double>();
            const auto longitude = pair->get(1)->value<double>();
            if (!latitude || !longitude) place.fail(allowed);
            if (!a_latitude.allowed.contains(*latitude) ||
                !a_longitude.allowed.contains(*longitude))
                place.fail(allowed);
            result.push_back({*latitude, *longitude});
        }
        return result;
    }

    Junction junction(const toml::table& table) {
        Place place = place_of(table, "junction " + std::to_string(indices_.size() + 1));
        Junction result;
        result.name = text(table, "name", place);
        place.entry = "junction " + in_quotes(result.name);
        allow_only(table, place,
                   {"name", "latitude", "longitude", "inter_arrival_s", "leave_probability",
                    "length_km", "lanes", "label"});
        if (!indices_.emplace(result.name, indices_.size()).second) {
            place.fail("name is used twice; every junction must have a different name");
        }
        if (table.contains("latitude") || table.contains("longitude")) {
            result.position = Position{number(table, "latitude", place, a_latitude),
                                       number(table, "longitude", place, a_longitude)};
        }
        result.inter_arrival_s = number(table, "inter_arrival_s", place, an_interval);
        result.leave_probability = number(table, "leave_probability", place, a_share);
        result.length_km = number(table, "length_km", place, a_length);
        result.lanes = lanes(table, place);
        if (table.contains("label")) {
            result.label = text(table, "label", place);
            if (result.label != "left" && result.label != "right" && result.label != "above" &&
                result.label != "below") {
                place.fail("label = " + in_quotes(result.label) +
                           " is unknown; allowed: left, right, above or below");
            }
        }
        return result;
    }

    std::size_t end_point(const toml::table& table, const char* key, const Place& place) const {
        const std::string name = text(table, key, place);
        const auto found = indices_.find(name);
        if (found == indices_.end()) {
            place.fail(std::string(key) + " = " + in_quotes(name) +
                       " is unknown; allowed: the name of a [[junction]]");
        }
        return found->second;
    }

    Route route(const toml::table& table) const {
        Place place = place_of(table, "route");
        Route result;
        result.motorway = text(table, "motorway", place);
        place.entry = "route of the " + result.motorway;
        allow_only(table, place, {"motorway", "from", "to", "length_km", "lanes", "via"});
        result.from = end_point(table, "from", place);
        result.to = end_point(table, "to", place);
        if (result.from == result.to) {
            place.fail("from and to are the same; allowed: two different junctions");
        }
        result.length_km = number(table, "length_km", place, a_length);
        result.lanes = lanes(table, place);
        if (table.contains("via")) result.via = points(table, "via", place);
        return result;
    }

    // Checks, with union-find, that every junction is reachable from the first one.
    void check_connected(const Network& network) const {
        std::vector<std::size_t> parent(network.junctions.size());
        std::iota(parent.begin(), parent.end(), std::size_t{0});
        const auto root = [&parent](std::size_t i) {
            while (parent[i] != i) i = parent[i] = parent[parent[i]];
            return i;
        };
        for (const Route& route : network.routes) parent[root(route.from)] = root(route.to);
        for (std::size_t i = 1; i < parent.size(); ++i) {
            if (root(i) == root(0)) continue;
            Place{source_, 0, ""}.fail("the network is disconnected: no route leads from " +
                                       in_quotes(network.junctions[0].name) + " to " +
                                       in_quotes(network.junctions[i].name) +
                                       "; every junction must be reachable");
        }
    }

    std::string source_;
    std::map<std::string, std::size_t> indices_;  // of junctions, by name
};

}  // namespace

double Network::length_km() const {
    double sum = 0;
    for (const Route& route : routes) sum += route.length_km;
    return sum;
}

Network parse_network(std::string_view text, const std::string& source) {
    try {
        return Reader(source).read(toml::parse(text, source));
    } catch (const toml::parse_error& error) {
        Place{source, static_cast<std::uint32_t>(error.source().begin.line), ""}.fail(
            "not TOML: " + std::string(error.description()));
    }
}

Network read_network(const std::string& file) {
    // Read regular files only: reading a pipe without a writer, or an endless device, never ends.
    std::error_code error;
    std::ifstream in;
    if (std::filesystem::is_regular_file(file, error))
        in.open(file, std::ios::binary);
    else
        in.setstate(std::ios::failbit);
    std::string text;
    try {
        text.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    } catch (const std::ios_base::failure&) {
        in.setstate(std::ios::failbit);
    }
    if (!in) {
        throw nw::SetupError(
            "--network " + file +
            ": cannot be read; must be a TOML file with [[junction]] and [[route]]");
    }
    return parse_network(text, file);
}

Network italian_network() { return parse_network(italian_network_text(), "italy.toml"); }

}  // namespace traffic
