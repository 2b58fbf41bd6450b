// SPDX-License-Identifier: Apache-2.0
// The network file: the properties of the shipped file, and a message of one line for each mistake.
#include <cmath>
#include <numbers>
#include <string>

#include <numawarp/model.hpp>

#include "models/traffic/network.hpp"
#include "models/traffic/road_plan.hpp"
#include "tests/support/catch.hpp"

namespace {

double air_distance_km(const traffic::Position& a, const traffic::Position& b) {
    const double radian = std::numbers::pi / 180;
    const double north = (b.latitude - a.latitude) * radian;
    const double east =
        (b.longitude - a.longitude) * radian * std::cos((a.latitude + b.latitude) / 2 * radian);
    return 6371 * std::hypot(north, east);
}

const std::string two_junctions = R"(
[[junction]]
name = "North"
inter_arrival_s = 30
leave_probability = 0.5
length_km = 1
lanes = 2
[[junction]]
name = "South"
inter_arrival_s = 30
leave_probability = 0.5
length_km = 1
lanes = 2
)";

const std::string one_route = R"(
[[route]]
motorway = "M1"
from = "North"
to = "South"
length_km = 10
lanes = 2
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), by);
}

// Returns the message for a text. The message must be a SetupError of one line that names the file.
std::string error_of(const std::string& text) {
    try {
        traffic::parse_network(text, "net.toml");
    } catch (const nw::SetupError& error) {
        const std::string message = error.what();
        CHECK(message.find('\n') == std::string::npos);
        CHECK(message.rfind("net.toml", 0) == 0);
        return message;
    }
    FAIL("no error for:\n" << text);
    return {};
}

void check_error(const std::string& text, std::initializer_list<const char*> parts) {
    const std::string message = error_of(text);
    INFO(message);
    for (const char* part : parts) {
        INFO("the message must contain:" << part);
        CHECK(message.find(part) != std::string::npos);
    }
}

}  // namespace

TEST_CASE(
    "Network: uncut Italy has 62 junctions and 75 routes of at most 130 km and over 5000 km in "
    "total") {
    const traffic::Network italy = traffic::italian_network();
    CHECK(italy.junctions.size() == 62);
    CHECK(italy.routes.size() == 75);
    CHECK(traffic::objects_min(italy) == 137);
    CHECK(italy.length_km() >= 5000);
    for (const traffic::Route& route : italy.routes) {
        INFO(route.motorway << " from " << italy.junctions[route.from].name);
        CHECK(route.length_km <= 130);
    }
}

TEST_CASE("Network: no Italian route is shorter than the air distance and few are much longer") {
    const traffic::Network italy = traffic::italian_network();
    for (const traffic::Route& route : italy.routes) {
        const traffic::Junction& from = italy.junctions[route.from];
        const traffic::Junction& to = italy.junctions[route.to];
        REQUIRE(from.position);
        REQUIRE(to.position);
        const double air = air_distance_km(*from.position, *to.position);
        // Positions are city centers, rounded to 0.01 degrees. Half of the length of each junction
        // is part of the road between two cities.
        const double road = route.length_km + (from.length_km + to.length_km) / 2;
        INFO(route.motorway << ' ' << from.name << '-' << to.name << ": air " << air << " km");
        CHECK(road >= 0.96 * air);
        CHECK(road <= 1.65 * air);
    }
}

TEST_CASE("Network: complete Italian motorways have their published lengths within 3 %") {
    const traffic::Network italy = traffic::italian_network();
    const auto check = [&italy](const char* motorway, double published_km) {
        double sum = 0;
        for (const traffic::Route& route : italy.routes) {
            if (route.motorway == motorway) sum += route.length_km;
        }
        INFO(motorway << ": " << sum << " km");
        CHECK(std::abs(sum - published_km) <= 0.03 * published_km);
    };
    check("A1", 760.3);
    check("A2", 432.6);
    check("A3", 52.0);
    check("A4", 524.0);
    check("A5", 143.4);
    check("A6", 124.3);
    check("A7", 133.6);
    check("A8", 43.6);
    check("A10", 158.1);
    check("A11", 81.7);
    check("A13", 116.7);
    check("A14", 743.4);
    check("A16", 172.5);
    check("A21", 238.3);
    check("A22", 315.0);
    check("A23", 119.9);
    check("A24", 159.2);
    check("A25", 114.9);
    check("A26", 197.1);
    check("A27", 82.2);
    check("A30", 55.3);
    check("A32", 72.4);
}

TEST_CASE("Network: a minimal file is read with positions and names of motorways") {
    const traffic::Network network = traffic::parse_network(two_junctions + one_route, "net.toml");
    REQUIRE(network.junctions.size() == 2);
    REQUIRE(network.routes.size() == 1);
    CHECK(network.junctions[1].name == "South");
    CHECK(network.junctions[1].inter_arrival_s == 30);
    CHECK_FALSE(network.junctions[1].position);
    CHECK(network.routes[0].motorway == "M1");
    CHECK(network.routes[0].from == 0);
    CHECK(network.routes[0].to == 1);
    CHECK(network.routes[0].length_km == 10);
}

TEST_CASE(
    "Network: a mistake is reported with the file and the entry and the key and the allowed "
    "values") {
    const std::string good = two_junctions + one_route;
    check_error(replaced(good, "length_km = 10\n", ""),
                {"route of the M1", "missing key length_km", "km above 0"});
    check_error(replaced(good, "inter_arrival_s = 30\n", ""),
                {"line", "junction \"North\"", "missing key inter_arrival_s", "seconds above 0"});
    check_error(replaced(good, "length_km = 10\n", "length_km = -10\n"),
                {"length_km = -10", "km above 0"});
    check_error(replaced(good, "length_km = 10\n", "length_km = nan\n"),
                {"length_km", "km above 0"});
    check_error(replaced(good, "length_km = 10\n", "length_km = \"ten\"\n"),
                {"length_km must be a number"});
    check_error(replaced(good, "leave_probability = 0.5", "leave_probability = 1.5"),
                {"leave_probability = 1.5", "0 to 1"});
    check_error(replaced(good, "lanes = 2", "lanes = 0"), {"lanes = 0", "from 1 to 10"});
    check_error(replaced(good, "lanes = 2", "lanes = 2.5"), {"lanes", "whole number from 1 to 10"});
    check_error(replaced(good, "to = \"South\"", "to = \"West\""),
                {"to = \"West\" is unknown", "[[junction]]"});
    check_error(replaced(good, "to = \"South\"", "to = \"North\""), {"two different junctions"});
    check_error(replaced(good, "name = \"South\"", "name = \"North\""), {"used twice"});
    check_error(replaced(good, "lanes = 2", "lanes = 2\nlains = 2"),
                {"unknown key \"lains\"", "allowed:", "lanes"});
    check_error(replaced(good, "lanes = 2", "lanes = 2\nlatitude = 45"), {"longitude"});
    check_error(replaced(good, "lanes = 2", "lanes = "), {"line", "not TOML"});
    check_error(two_junctions, {"missing routes", "[[route]]"});
    check_error("", {"missing junctions", "[[junction]]"});
}

TEST_CASE("Network: a network in two pieces is refused with the name of a junction in each piece") {
    const std::string third = replaced(two_junctions, "North", "East");
    const std::string fourth = replaced(third, "South", "West");
    const std::string second_route =
        replaced(replaced(one_route, "North", "East"), "South", "West");
    check_error(two_junctions + fourth + one_route + second_route,
                {"disconnected", "\"North\"", "\"East\""});
}

TEST_CASE("Network: a missing file is a SetupError that names --network") {
    try {
        traffic::read_network("/nowhere/net.toml");
        FAIL("no error");
    } catch (const nw::SetupError& error) {
        const std::string message = error.what();
        CHECK(message.rfind("--network /nowhere/net.toml", 0) == 0);
        CHECK(message.find('\n') == std::string::npos);
    }
}
