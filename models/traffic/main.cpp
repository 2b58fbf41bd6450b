// SPDX-License-Identifier: Apache-2.0
// The program `traffic`: motorways, simulated car by car (docs/models/traffic.md).
#include "models/traffic/traffic_model.hpp"

int main(int argc, char** argv) { return nw::run<traffic::TrafficModel>(argc, argv); }
