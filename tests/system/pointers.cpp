// LPs that point out of their heaps (tests/engine/pointer_model.hpp) as a program of its own, for runs
// that go on in another process. Linked twice: as models are, and so that it lies at another address in
// every process.
#include "tests/engine/pointer_model.hpp"

int main(int argc, char** argv) { return nw::run<nw::test::PointerModel>(argc, argv); }
