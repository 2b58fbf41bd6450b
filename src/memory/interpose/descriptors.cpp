// SPDX-License-Identifier: Apache-2.0
// Descriptors that a handler opens. A handler that returns or throws may leave them open, because
// their state belongs to the kernel. A handler that is left by a jump cannot close them, and each
// such handler would reduce the number of descriptors that the process can still open. Therefore
// the engine closes the descriptors of such a handler (runtime_state.hpp).
#undef _FORTIFY_SOURCE  // with it, headers define some of these functions
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdarg>

#include "memory/handler/heap_scope.hpp"
#include "memory/handler/runtime_state.hpp"
#include "memory/interpose/original.hpp"

namespace {

using nw::interpose::original_of;

// The mode of open() is an optional argument. If it was passed, it is an unsigned int. If it was
// not passed, reading it returns some value, which the kernel ignores.
constinit nw::interpose::Original<int, const char*, int, mode_t> original_open("open");
constinit nw::interpose::Original<int, const char*, int, mode_t> original_open64("open64");
constinit nw::interpose::Original<int, int, const char*, int, mode_t> original_openat("openat");
constinit nw::interpose::Original<int, int, const char*, int, mode_t> original_openat64("openat64");
constinit auto original_creat = original_of(&::creat, "creat");
constinit auto original_creat64 = original_of(&::creat64, "creat64");
constinit nw::interpose::Original<int, int, int, int> original_socket("socket");
constinit nw::interpose::Original<int, int, int, int, int*> original_socketpair("socketpair");
constinit nw::interpose::Original<int, int*> original_pipe("pipe");
constinit nw::interpose::Original<int, int*, int> original_pipe2("pipe2");
constinit nw::interpose::Original<int, int> original_dup("dup");
constinit auto original_close = original_of(&::close, "close");

int noted(int descriptor) noexcept {
    if (descriptor >= 0 && nw::current_heap != nullptr) nw::note_descriptor(descriptor);
    return descriptor;
}

int noted_pair(int result, const int* pair) noexcept {
    if (result == 0) {
        noted(pair[0]);
        noted(pair[1]);
    }
    return result;
}

#define NW_MODE(last)                              \
    va_list arguments;                             \
    va_start(arguments, last);                     \
    const mode_t mode = va_arg(arguments, mode_t); \
    va_end(arguments)

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
    NW_MODE(flags);
    return noted(original_open(path, flags, mode));
}
int open64(const char* path, int flags, ...) {
    NW_MODE(flags);
    return noted(original_open64(path, flags, mode));
}
int openat(int folder, const char* path, int flags, ...) {
    NW_MODE(flags);
    return noted(original_openat(folder, path, flags, mode));
}
int openat64(int folder, const char* path, int flags, ...) {
    NW_MODE(flags);
    return noted(original_openat64(folder, path, flags, mode));
}
int creat(const char* path, mode_t mode) { return noted(original_creat(path, mode)); }
int creat64(const char* path, mode_t mode) { return noted(original_creat64(path, mode)); }
int socket(int domain, int type, int protocol) noexcept {
    return noted(original_socket(domain, type, protocol));
}
int socketpair(int domain, int type, int protocol, int pair[2]) noexcept {
    return noted_pair(original_socketpair(domain, type, protocol, pair), pair);
}
int pipe(int pair[2]) noexcept { return noted_pair(original_pipe(pair), pair); }
int pipe2(int pair[2], int flags) noexcept { return noted_pair(original_pipe2(pair, flags), pair); }
int dup(int descriptor) noexcept { return noted(original_dup(descriptor)); }

int close(int descriptor) {
    if (nw::current_heap != nullptr) nw::forget_descriptor(descriptor);
    return original_close(descriptor);
}

}  // extern "C"
