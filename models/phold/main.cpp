// SPDX-License-Identifier: Apache-2.0
#include "phold.hpp"

int main(int argc, char** argv) { return nw::run<phold::Model>(argc, argv); }
