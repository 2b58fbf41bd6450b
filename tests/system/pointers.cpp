// SPDX-License-Identifier: Apache-2.0
// The model with pointers out of the LPs' heaps (tests/engine/pointer_model.hpp) as a program, for
// runs that continue in another process. It is linked twice: like other models, and so that its
// addresses differ in every process.
#include "tests/engine/pointer_model.hpp"

int main(int argc, char** argv) { return nw::run<nw::test::PointerModel>(argc, argv); }
