// SPDX-License-Identifier: Apache-2.0
// A library that is loaded before a program and simulates another machine, for tests of the ranks'
// messages. With NUMAWARP_TEST_THREAD_LEVEL=funneled, the MPI provides a lower thread level than
// requested. With NUMAWARP_TEST_PAGE_BYTES=65536, the kernel has larger pages.
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    const char* level = std::getenv("NUMAWARP_TEST_THREAD_LEVEL");
    const bool less = level != nullptr && std::strcmp(level, "funneled") == 0;
    return PMPI_Init_thread(argc, argv, less ? MPI_THREAD_FUNNELED : required, provided);
}

extern "C" long sysconf(int name) noexcept {
    const char* bytes = std::getenv("NUMAWARP_TEST_PAGE_BYTES");
    if (name == _SC_PAGESIZE && bytes != nullptr) return std::atol(bytes);
    static const auto real = reinterpret_cast<long (*)(int)>(::dlsym(RTLD_NEXT, "sysconf"));
    return real(name);
}
