// traffic: motorways at the grain of a single car (docs/models/traffic.md).
#include "models/traffic/traffic_model.hpp"

int main(int argc, char** argv) {
    traffic::TrafficModel model;
    return nw::run(argc, argv, model);
}
