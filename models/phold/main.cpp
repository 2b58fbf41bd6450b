#include "phold.hpp"

int main(int argc, char** argv) {
    phold::Model model;
    return nw::run(argc, argv, model);
}
