// SPDX-License-Identifier: Apache-2.0
// Resources other than memory that a handler opens: files, descriptors of iconv, results of address
// look-ups. A rollback cannot open or close them again. So a handler must close the resources that
// it opens. Otherwise the event has failed, and the engine closes them (runtime_state.hpp). The
// memory of resources belongs to libc.
//
// A stream that is opened outside of handlers gets its buffers immediately (warm_up.hpp).
#include <dirent.h>
#include <iconv.h>
#include <mntent.h>
#include <netdb.h>
#include <nl_types.h>
#include <stdio.h>
#include <wchar.h>

#include <cerrno>

#include "memory/handler/heap_scope.hpp"
#include "memory/handler/runtime_state.hpp"
#include "memory/handler/warm_up.hpp"
#include "memory/interpose/original.hpp"
#include "memory/interpose/refuse.hpp"

namespace {

using nw::interpose::original_of;

constinit auto original_fopen = original_of(&::fopen, "fopen");
constinit auto original_fopen64 = original_of(&::fopen64, "fopen64");
constinit auto original_freopen = original_of(&::freopen, "freopen");
constinit auto original_freopen64 = original_of(&::freopen64, "freopen64");
constinit auto original_fdopen = original_of(&::fdopen, "fdopen");
constinit auto original_fmemopen = original_of(&::fmemopen, "fmemopen");
constinit auto original_fopencookie = original_of(&::fopencookie, "fopencookie");
constinit auto original_popen = original_of(&::popen, "popen");
constinit auto original_tmpfile = original_of(&::tmpfile, "tmpfile");
constinit auto original_tmpfile64 = original_of(&::tmpfile64, "tmpfile64");
constinit auto original_open_memstream = original_of(&::open_memstream, "open_memstream");
constinit auto original_open_wmemstream = original_of(&::open_wmemstream, "open_wmemstream");
constinit auto original_setmntent = original_of(&::setmntent, "setmntent");
constinit auto original_endmntent = original_of(&::endmntent, "endmntent");
constinit auto original_opendir = original_of(&::opendir, "opendir");
constinit auto original_fdopendir = original_of(&::fdopendir, "fdopendir");
constinit auto original_closedir = original_of(&::closedir, "closedir");
constinit auto original_catopen = original_of(&::catopen, "catopen");
constinit auto original_catclose = original_of(&::catclose, "catclose");
constinit auto original_fclose = original_of(&::fclose, "fclose");
constinit auto original_iconv_open = original_of(&::iconv_open, "iconv_open");
constinit auto original_iconv_close = original_of(&::iconv_close, "iconv_close");
constinit auto original_iconv = original_of(&::iconv, "iconv");
constinit auto original_getaddrinfo = original_of(&::getaddrinfo, "getaddrinfo");
constinit auto original_freeaddrinfo = original_of(&::freeaddrinfo, "freeaddrinfo");

constexpr const char* not_its_own =
    "the handler closed a resource that it had not opened (a file, a descriptor of iconv, …); a "
    "resource that stays open across events cannot be rolled back; allowed: resources that the "
    "same handler opened";

// Opens a resource in platform mode. A handler that has too many open resources gets EMFILE.
template <class Open>
auto open_for(Open&& open, decltype(open()) failure, void (*close)(void*)) noexcept {
    const bool can_be_undone = nw::current_heap != nullptr;
    const nw::PlatformScope platform;
    const auto resource = open();
    if (resource == failure || !can_be_undone || nw::note_opened(resource, close)) return resource;
    close(resource);
    errno = EMFILE;
    return failure;
}

// Closes a resource in platform mode. If the call may be undone, the caller may close only
// resources that it has opened.
template <class Close>
auto close_for(void* resource, Close&& close, decltype(close()) failure) noexcept {
    const bool can_be_undone = nw::current_heap != nullptr;
    {
        const nw::PlatformScope platform;
        if (!can_be_undone || nw::forget_opened(resource)) return close();
    }
    nw::interpose::refuse_in_handler(not_its_own);
    return failure;
}

void close_stream(void* stream) { original_fclose(static_cast<FILE*>(stream)); }
void close_folder(void* folder) { original_closedir(static_cast<DIR*>(folder)); }
void close_catalog(void* catalog) { original_catclose(catalog); }
void close_descriptor(void* descriptor) { original_iconv_close(descriptor); }
void free_addresses(void* addresses) { original_freeaddrinfo(static_cast<addrinfo*>(addresses)); }

template <class Open>
FILE* open_stream(Open&& open) noexcept {
    FILE* const stream = open_for(open, static_cast<FILE*>(nullptr), close_stream);
    if (stream != nullptr && nw::current_heap == nullptr) nw::give_buffers(stream);
    return stream;
}

// Not called in a handler whose effects may be undone.
template <class Reopen>
FILE* reopen_stream(FILE* stream, Reopen&& reopen) noexcept {
    const nw::PlatformScope platform;
    nw::take_wide_buffer(stream);
    FILE* const reopened = reopen();
    if (reopened != nullptr) nw::give_buffers(reopened);
    return reopened;
}

}  // namespace

extern "C" {

FILE* fopen(const char* path, const char* mode) {
    return open_stream([&] { return original_fopen(path, mode); });
}
FILE* fopen64(const char* path, const char* mode) {
    return open_stream([&] { return original_fopen64(path, mode); });
}
FILE* fdopen(int file, const char* mode) {
    FILE* const stream = open_stream([&] { return original_fdopen(file, mode); });
    if (stream != nullptr) nw::forget_descriptor(file);
    return stream;
}
FILE* fmemopen(void* buffer, size_t bytes, const char* mode) {
    return open_stream([&] { return original_fmemopen(buffer, bytes, mode); });
}
FILE* fopencookie(void* cookie, const char* mode, cookie_io_functions_t functions) {
    return open_stream([&] { return original_fopencookie(cookie, mode, functions); });
}
[[gnu::weak]] FILE* popen(const char* command, const char* mode) {
    nw::interpose::refuse_in_handler(NW_CHILD("popen"));
    return open_stream([&] { return original_popen(command, mode); });
}
FILE* tmpfile() {
    return open_stream([&] { return original_tmpfile(); });
}
FILE* tmpfile64() {
    return open_stream([&] { return original_tmpfile64(); });
}

// The buffer will belong to the caller, so it is allocated in the caller's current heap.
FILE* open_memstream(char** text, size_t* bytes) {
    FILE* const stream = original_open_memstream(text, bytes);
    if (stream == nullptr || nw::current_heap == nullptr) return stream;
    return open_for([&] { return stream; }, static_cast<FILE*>(nullptr), close_stream);
}

FILE* open_wmemstream(wchar_t** text, size_t* count) {
    FILE* const stream = original_open_wmemstream(text, count);
    if (stream == nullptr || nw::current_heap == nullptr) return stream;
    return open_for([&] { return stream; }, static_cast<FILE*>(nullptr), close_stream);
}

FILE* setmntent(const char* path, const char* mode) {
    return open_stream([&] { return original_setmntent(path, mode); });
}
int endmntent(FILE* stream) {
    return close_for(
        stream,
        [&] {
            nw::take_wide_buffer(stream);
            return original_endmntent(stream);
        },
        1);
}

DIR* opendir(const char* path) {
    return open_for([&] { return original_opendir(path); }, static_cast<DIR*>(nullptr),
                    close_folder);
}
DIR* fdopendir(int file) {
    DIR* const folder = open_for([&] { return original_fdopendir(file); },
                                 static_cast<DIR*>(nullptr), close_folder);
    if (folder != nullptr) nw::forget_descriptor(file);
    return folder;
}
int closedir(DIR* folder) {
    return close_for(
        folder, [&] { return original_closedir(folder); }, -1);
}

nl_catd catopen(const char* name, int flags) {
    return open_for([&] { return original_catopen(name, flags); }, reinterpret_cast<nl_catd>(-1),
                    close_catalog);
}
int catclose(nl_catd catalog) {
    return close_for(
        catalog, [&] { return original_catclose(catalog); }, -1);
}

#define NW_REOPENING(name) NW_LINE(name, "changes a stream of the whole process", "fopen()")
FILE* freopen(const char* path, const char* mode, FILE* stream) {
    nw::interpose::refuse_in_handler(NW_REOPENING("freopen"));
    return reopen_stream(stream, [&] { return original_freopen(path, mode, stream); });
}
FILE* freopen64(const char* path, const char* mode, FILE* stream) {
    nw::interpose::refuse_in_handler(NW_REOPENING("freopen64"));
    return reopen_stream(stream, [&] { return original_freopen64(path, mode, stream); });
}

// The first write of a handler may have allocated the buffers in the LP's heap. free() finds the
// heap by the address.
int fclose(FILE* stream) {
    return close_for(
        stream,
        [&] {
            nw::take_wide_buffer(stream);
            return original_fclose(stream);
        },
        EOF);
}

iconv_t iconv_open(const char* to, const char* from) {
    return open_for([&] { return original_iconv_open(to, from); }, reinterpret_cast<iconv_t>(-1),
                    close_descriptor);
}

size_t iconv(iconv_t descriptor, char** in, size_t* in_left, char** out, size_t* out_left) {
    const nw::PlatformScope platform;
    return original_iconv(descriptor, in, in_left, out, out_left);
}

int iconv_close(iconv_t descriptor) {
    return close_for(
        descriptor, [&] { return original_iconv_close(descriptor); }, -1);
}

int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** found) {
    int status = 0;
    const auto look_up = [&]() -> addrinfo* {
        status = original_getaddrinfo(host, service, hints, found);
        return status == 0 ? *found : nullptr;
    };
    addrinfo* const first = open_for(look_up, static_cast<addrinfo*>(nullptr), free_addresses);
    return first == nullptr && status == 0 ? EAI_MEMORY : status;
}

void freeaddrinfo(addrinfo* addresses) {
    const auto free_them = [&] {
        original_freeaddrinfo(addresses);
        return true;
    };
    close_for(addresses, free_them, false);
}

}  // extern "C"
