// traffic: motorways at the grain of a single car (docs/models/traffic.md).
#include "models/traffic/traffic_model.hpp"

int main(int argc, char** argv) { return nw::run<traffic::TrafficModel>(argc, argv); }
