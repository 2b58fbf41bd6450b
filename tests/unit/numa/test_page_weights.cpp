// SPDX-License-Identifier: Apache-2.0
// Tests BWAP's weights, and the search for the best proximity.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "numa/decide/dwp_search.hpp"
#include "numa/decide/page_weights.hpp"
#include "tests/support/catch.hpp"

using namespace nw;

namespace {

using Rows = std::vector<std::vector<double>>;

// Feeds the search one figure per window, and records each proximity that it tries.
struct Tuned {
    std::vector<double> dwps;  // in order, from 0
    std::size_t windows = 0;
    double last = 0;

    Tuned(double worker_share, const std::function<double(double dwp, std::size_t window)>& speed) {
        DwpSearch search(worker_share);
        dwps.push_back(search.dwp());
        while (!search.is_done() && windows < 1000) {
            const double before = search.dwp();
            const bool changed = search.feed(speed(before, windows++));
            CHECK(changed == (search.dwp() != before));
            if (changed) dwps.push_back(search.dwp());
        }
        last = search.dwp();
        CHECK_FALSE(search.feed(1e9));
        CHECK(search.dwp() == last);
    }
};

BandwidthMatrix four_nodes() {
    return BandwidthMatrix(Rows{{9, 4, 2, 1}, {4, 9, 1, 2}, {2, 1, 9, 4}, {1, 2, 4, 9}});
}

}  // namespace

TEST_CASE("page weights: the weight of a node follows its lowest bandwidth to a worker") {
    const PageWeights one = canonical_weights(four_nodes(), 0b0001);
    CHECK(one == PageWeights{9.0 / 16, 4.0 / 16, 2.0 / 16, 1.0 / 16});
    const PageWeights two = canonical_weights(four_nodes(), 0b0011);
    CHECK(two == PageWeights{4.0 / 10, 4.0 / 10, 1.0 / 10, 1.0 / 10});
}

TEST_CASE(
    "page weights: an unknown diagonal is ignored; with workers on a single node, the node's best "
    "bandwidth replaces it") {
    const BandwidthMatrix machine(Rows{{0, 4, 2}, {3, 0, 2}, {2, 2, 0}});
    CHECK(canonical_weights(machine, 0b011) == PageWeights{3.0 / 9, 4.0 / 9, 2.0 / 9});
    CHECK(canonical_weights(machine, 0b001) == PageWeights{4.0 / 10, 4.0 / 10, 2.0 / 10});
    CHECK(canonical_weights(BandwidthMatrix(Rows{{0}}), 1) == PageWeights{1});
}

TEST_CASE("page weights: proximity moves weight from other nodes to the workers' nodes") {
    const PageWeights canonical = canonical_weights(four_nodes(), 0b0011);
    for (const double dwp : {0.0, 0.25, 0.5, 1.0}) {
        const PageWeights weights = weights_at(canonical, 0b0011, dwp);
        CHECK(std::accumulate(weights.begin(), weights.end(), 0.0) == Approx(1));
        CHECK(share_of(weights, 0b0011) == Approx(0.8 + dwp * 0.2));
        CHECK(weights[0] / weights[1] == Approx(canonical[0] / canonical[1]));
        CHECK(weights[2] == Approx(canonical[2] * (1 - dwp)));
    }
}

TEST_CASE(
    "DwpSearch: the proximity increases past the peak in steps of a tenth of all pages, and then "
    "returns to the peak") {
    // The workers' nodes have 0.45 of the pages at proximity 0. The peak is at 0.75, three steps
    // further.
    const Tuned tuned(
        0.45, [](double dwp, std::size_t) { return 10 - std::abs(0.45 + dwp * 0.55 - 0.75); });
    REQUIRE(tuned.dwps.size() == 6);
    for (std::size_t step = 0; step < 5; ++step)
        CHECK(tuned.dwps[step] * 0.55 == Approx(0.1 * static_cast<double>(step)));
    CHECK(tuned.dwps.back() == tuned.dwps[3]);
    // Five steps with five measured windows and one warm-up window each; the last step is measured
    // twice.
    CHECK(tuned.windows == 5 * 6 + 5);
}

TEST_CASE(
    "DwpSearch: if local pages are best, the last step is shorter and there is no step back") {
    const Tuned tuned(0.45, [](double dwp, std::size_t) { return 1 + dwp; });
    REQUIRE(tuned.dwps.size() == 7);
    CHECK(tuned.dwps.back() == 1);
    CHECK((tuned.dwps[6] - tuned.dwps[5]) * 0.55 == Approx(0.05));
}

TEST_CASE("DwpSearch: if the first step is worse, the search returns to its start") {
    const Tuned tuned(0.2, [](double dwp, std::size_t) { return 1 - dwp; });
    CHECK(tuned.dwps.size() == 3);
    CHECK(tuned.last == 0);
}

TEST_CASE("DwpSearch: the window after a step and single outliers do not count") {
    const Tuned tuned(0.6, [](double dwp, std::size_t window) {
        if (window % 6 == 0) return 0.0;                // the window after a step
        if (window % 6 == 3) return 1e6 * (1.1 - dwp);  // an outlier: another program ends
        return 100 + dwp;
    });
    CHECK(tuned.last == 1);
    CHECK(tuned.windows == 5 * 6);
}

TEST_CASE("DwpSearch: a worse result is measured again; a loss below 0.1 % is not worse") {
    std::size_t measured_at_one_step = 0;
    const Tuned noisy(0.75, [&](double dwp, std::size_t) {
        if (dwp == 0 || dwp == 1) return 100.0;
        // Bad in the first measurement of a step, good in the second.
        return ++measured_at_one_step % 11 <= 6 ? 90.0 : 100.0;
    });
    CHECK(noisy.dwps.size() == 4);
    CHECK(noisy.last == 1);
    const Tuned flat(0.75, [](double dwp, std::size_t) { return 100 - 0.09 * dwp; });
    CHECK(flat.windows == 4 * 6);
    CHECK(flat.last == 0);  // the best of steps that count as equal
    CHECK(Tuned(1, [](double, std::size_t) { return 1.0; }).windows == 0);
}
