// SPDX-License-Identifier: Apache-2.0
// Tests how the network is cut into objects: the number of objects is exact, routes are cut in
// proportion to their lengths, and links are symmetric.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

#include "models/traffic/network.hpp"
#include "models/traffic/road_plan.hpp"
#include "tests/support/catch.hpp"

using traffic::RoadObject;
using traffic::RoadPlan;

TEST_CASE(
    "RoadPlan: any allowed number of objects is reached exactly and routes keep their lengths") {
    const traffic::Network italy = traffic::italian_network();
    for (const std::uint32_t objects : {137u, 138u, 500u, 1024u, 4000u, 20000u}) {
        INFO(objects << " objects");
        const RoadPlan plan = traffic::cut(italy, objects);
        REQUIRE(plan.size() == objects);
        std::vector<double> route_km(italy.routes.size());
        std::vector<std::uint32_t> pieces(italy.routes.size());
        std::size_t junctions = 0;
        for (const RoadObject& object : plan) {
            if (object.is_junction) {
                ++junctions;
                CHECK(object.length_km == italy.junctions[object.origin].length_km);
                continue;
            }
            route_km[object.origin] += object.length_km;
            ++pieces[object.origin];
            CHECK(object.length_km >= traffic::segment_km_min * 0.999);
        }
        CHECK(junctions == italy.junctions.size());
        for (std::size_t i = 0; i < italy.routes.size(); ++i) {
            CHECK(std::abs(route_km[i] - italy.routes[i].length_km) < 1e-6);
        }
    }
}

TEST_CASE("RoadPlan: no segment is longer than two other segments together") {
    const traffic::Network italy = traffic::italian_network();
    for (const std::uint32_t objects : {500u, 1024u, 4000u}) {
        INFO(objects << " objects");
        // By d'Hondt's rule, the route with the longest segments gets the next cut. So with one cut
        // less, the segments of any route would be at least as long as the longest segment of the
        // plan.
        double longest = 0;
        const RoadPlan plan = traffic::cut(italy, objects);
        for (const RoadObject& object : plan) {
            if (!object.is_junction) longest = std::max(longest, object.length_km);
        }
        for (const RoadObject& object : plan) {
            if (object.is_junction || object.pieces == 1) continue;
            const double cut_once_less =
                italy.routes[object.origin].length_km / (object.pieces - 1);
            CHECK(cut_once_less >= longest * (1 - 1e-12));
        }
    }
}

TEST_CASE("RoadPlan: links are symmetric and segments have two ends and form chains") {
    const traffic::Network italy = traffic::italian_network();
    for (const std::uint32_t objects : {137u, 1024u}) {
        const RoadPlan plan = traffic::cut(italy, objects);
        for (std::uint32_t i = 0; i < plan.size(); ++i) {
            INFO(plan[i].name);
            if (!plan[i].is_junction) {
                REQUIRE(plan[i].neighbors.size() == 2);
                CHECK(plan[i].neighbors[0] != plan[i].neighbors[1]);
            }
            for (const nw::LpId neighbor : plan[i].neighbors) {
                REQUIRE(nw::index(neighbor) < plan.size());
                const RoadObject& other = plan[nw::index(neighbor)];
                CHECK(std::count(other.neighbors.begin(), other.neighbors.end(), nw::LpId{i}) == 1);
                // A junction is linked only to roads. Two linked pieces are adjacent pieces of one
                // route.
                CHECK_FALSE((plan[i].is_junction && other.is_junction));
                if (!plan[i].is_junction && !other.is_junction) {
                    CHECK(plan[i].origin == other.origin);
                    CHECK(std::max(plan[i].piece, other.piece) -
                              std::min(plan[i].piece, other.piece) ==
                          1);
                }
            }
        }
    }
}

TEST_CASE("RoadPlan: neighbors have near numbers so that blocks of numbers are regions") {
    const RoadPlan plan = traffic::cut(traffic::italian_network(), 1024);
    std::size_t links = 0, cut_links = 0;
    for (std::uint32_t i = 0; i < plan.size(); ++i) {
        for (const nw::LpId neighbor : plan[i].neighbors) {
            ++links;
            if (i / 128 != nw::index(neighbor) / 128) ++cut_links;
        }
    }
    INFO(cut_links << " of " << links);
    CHECK(cut_links * 20 < links);
}

TEST_CASE("RoadPlan: too few and too many objects are refused with the allowed range") {
    const traffic::Network italy = traffic::italian_network();
    const std::string most = std::to_string(traffic::objects_max(italy));
    CHECK(traffic::cut(italy, traffic::objects_max(italy)).size() == traffic::objects_max(italy));
    for (const std::uint32_t objects :
         {0u, 136u, traffic::objects_max(italy) + 1, 4'000'000'000u}) {
        try {
            traffic::cut(italy, objects);
            FAIL("no error for " << objects);
        } catch (const nw::SetupError& error) {
            const std::string message = error.what();
            INFO(message);
            CHECK(message.rfind("--objects " + std::to_string(objects), 0) == 0);
            CHECK(message.find("137") != std::string::npos);
            CHECK(message.find(most) != std::string::npos);
            CHECK(message.find('\n') == std::string::npos);
        }
    }
}
