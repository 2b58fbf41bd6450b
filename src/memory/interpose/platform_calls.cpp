// SPDX-License-Identifier: Apache-2.0
// Functions of libc that make data at their first use and keep them for the process or the thread:
// messages, time zones, modules, tables of names. In a handler they run in platform mode, so that
// these data belong to libc. A result is in memory of libc, or in the caller's buffer.
//
// This file does not contain functions that keep no data and either call a function of the model or
// return memory that the model frees. Examples: qsort, scandir, glob, regcomp, getline, asprintf,
// strdup, realpath, getifaddrs.
#include <aliases.h>
#include <dlfcn.h>
#include <err.h>
#include <fmtmsg.h>
#include <grp.h>
#include <gshadow.h>
#include <langinfo.h>
#include <libintl.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <rpc/netdb.h>
#include <shadow.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <initializer_list>

#include "memory/handler/heap_scope.hpp"
#include "memory/interpose/original.hpp"

// NW_IN_PLATFORM_MODE(char*, strsignal, (int signal), (signal)) defines strsignal() so that it
// calls the original in platform mode. Weak: programs in C may define functions with some of these
// names.
#define NW_IN_PLATFORM_MODE(Result, name, parameters, arguments)                        \
    static constinit auto original_##name = nw::interpose::original_of(&::name, #name); \
    extern "C" [[gnu::weak]] Result name parameters {                                   \
        const nw::PlatformScope platform;                                               \
        return original_##name.function() arguments;                                    \
    }

// --- Messages ------------------------------------------------------------------------------------

NW_IN_PLATFORM_MODE(char*, strerror_l, (int code, locale_t locale), (code, locale))
NW_IN_PLATFORM_MODE(char*, strerror_r, (int code, char* buffer, size_t bytes),
                    (code, buffer, bytes))
extern "C" int __xpg_strerror_r(int, char*, size_t);  // strerror_r of POSIX
NW_IN_PLATFORM_MODE(int, __xpg_strerror_r, (int code, char* buffer, size_t bytes),
                    (code, buffer, bytes))
NW_IN_PLATFORM_MODE(char*, strsignal, (int signal), (signal))
NW_IN_PLATFORM_MODE(void, perror, (const char* text), (text))
NW_IN_PLATFORM_MODE(void, psignal, (int signal, const char* text), (signal, text))
NW_IN_PLATFORM_MODE(void, psiginfo, (const siginfo_t* signal, const char* text), (signal, text))
NW_IN_PLATFORM_MODE(void, herror, (const char* text), (text))
NW_IN_PLATFORM_MODE(const char*, hstrerror, (int code), (code))
NW_IN_PLATFORM_MODE(size_t, regerror,
                    (int code, const regex_t* pattern, char* buffer, size_t bytes),
                    (code, pattern, buffer, bytes))
NW_IN_PLATFORM_MODE(int, fmtmsg,
                    (long kinds, const char* label, int severity, const char* text,
                     const char* action, const char* tag),
                    (kinds, label, severity, text, action, tag))
NW_IN_PLATFORM_MODE(char*, gettext, (const char* text), (text))
NW_IN_PLATFORM_MODE(char*, dgettext, (const char* domain, const char* text), (domain, text))
NW_IN_PLATFORM_MODE(char*, dcgettext, (const char* domain, const char* text, int category),
                    (domain, text, category))
NW_IN_PLATFORM_MODE(char*, ngettext, (const char* one, const char* more, unsigned long n),
                    (one, more, n))
NW_IN_PLATFORM_MODE(char*, dngettext,
                    (const char* domain, const char* one, const char* more, unsigned long n),
                    (domain, one, more, n))
NW_IN_PLATFORM_MODE(char*, dcngettext,
                    (const char* domain, const char* one, const char* more, unsigned long n,
                     int category),
                    (domain, one, more, n, category))
NW_IN_PLATFORM_MODE(char*, nl_langinfo, (nl_item item), (item))
NW_IN_PLATFORM_MODE(char*, nl_langinfo_l, (nl_item item, locale_t locale), (item, locale))

extern "C" [[gnu::weak]] void vwarn(const char* format, va_list rest) {
    static constinit auto original = nw::interpose::original_of(&::vwarn, "vwarn");
    const nw::PlatformScope platform;
    original.function()(format, rest);
}
extern "C" [[gnu::weak]] void warn(const char* format, ...) {
    va_list rest;
    va_start(rest, format);
    ::vwarn(format, rest);
    va_end(rest);
}

// --- Time zones ----------------------------------------------------------------------------------

NW_IN_PLATFORM_MODE(void, tzset, (), ())
NW_IN_PLATFORM_MODE(tm*, localtime_r, (const time_t* time, tm* out), (time, out))
NW_IN_PLATFORM_MODE(tm*, gmtime_r, (const time_t* time, tm* out), (time, out))
NW_IN_PLATFORM_MODE(time_t, mktime, (tm * parts), (parts))
NW_IN_PLATFORM_MODE(time_t, timegm, (tm * parts), (parts))
NW_IN_PLATFORM_MODE(time_t, timelocal, (tm * parts), (parts))
NW_IN_PLATFORM_MODE(int, getdate_r, (const char* text, tm* out), (text, out))
NW_IN_PLATFORM_MODE(char*, ctime_r, (const time_t* time, char* buffer), (time, buffer))
NW_IN_PLATFORM_MODE(size_t, strftime,
                    (char* buffer, size_t bytes, const char* format, const tm* parts),
                    (buffer, bytes, format, parts))
NW_IN_PLATFORM_MODE(size_t, strftime_l,
                    (char* buffer, size_t bytes, const char* format, const tm* parts,
                     locale_t locale),
                    (buffer, bytes, format, parts, locale))
NW_IN_PLATFORM_MODE(size_t, wcsftime,
                    (wchar_t * buffer, size_t count, const wchar_t* format, const tm* parts),
                    (buffer, count, format, parts))
NW_IN_PLATFORM_MODE(char*, strptime, (const char* text, const char* format, tm* out),
                    (text, format, out))
NW_IN_PLATFORM_MODE(size_t, wcsftime_l,
                    (wchar_t * buffer, size_t count, const wchar_t* format, const tm* parts,
                     locale_t locale),
                    (buffer, count, format, parts, locale))
NW_IN_PLATFORM_MODE(char*, strptime_l,
                    (const char* text, const char* format, tm* out, locale_t locale),
                    (text, format, out, locale))
// The names under which libstdc++ calls these functions.
extern "C" size_t __strftime_l(char*, size_t, const char*, const tm*, locale_t);
NW_IN_PLATFORM_MODE(size_t, __strftime_l,
                    (char* buffer, size_t bytes, const char* format, const tm* parts,
                     locale_t locale),
                    (buffer, bytes, format, parts, locale))
extern "C" size_t __wcsftime_l(wchar_t*, size_t, const wchar_t*, const tm*, locale_t);
NW_IN_PLATFORM_MODE(size_t, __wcsftime_l,
                    (wchar_t * buffer, size_t count, const wchar_t* format, const tm* parts,
                     locale_t locale),
                    (buffer, count, format, parts, locale))

// --- Names ---------------------------------------------------------------------------------------

NW_IN_PLATFORM_MODE(int, getpwnam_r,
                    (const char* name, passwd* entry, char* buffer, size_t bytes, passwd** found),
                    (name, entry, buffer, bytes, found))
NW_IN_PLATFORM_MODE(int, getpwuid_r,
                    (uid_t id, passwd* entry, char* buffer, size_t bytes, passwd** found),
                    (id, entry, buffer, bytes, found))

NW_IN_PLATFORM_MODE(int, getgrnam_r,
                    (const char* name, group* entry, char* buffer, size_t bytes, group** found),
                    (name, entry, buffer, bytes, found))
NW_IN_PLATFORM_MODE(int, getgrgid_r,
                    (gid_t id, group* entry, char* buffer, size_t bytes, group** found),
                    (id, entry, buffer, bytes, found))
NW_IN_PLATFORM_MODE(int, getspnam_r,
                    (const char* name, spwd* entry, char* buffer, size_t bytes, spwd** found),
                    (name, entry, buffer, bytes, found))
NW_IN_PLATFORM_MODE(int, getsgnam_r,
                    (const char* name, sgrp* entry, char* buffer, size_t bytes, sgrp** found),
                    (name, entry, buffer, bytes, found))
NW_IN_PLATFORM_MODE(int, getaliasbyname_r,
                    (const char* name, aliasent* entry, char* buffer, size_t bytes,
                     aliasent** found),
                    (name, entry, buffer, bytes, found))
NW_IN_PLATFORM_MODE(int, getservbyname_r,
                    (const char* name, const char* protocol, servent* entry, char* buffer,
                     size_t bytes, servent** found),
                    (name, protocol, entry, buffer, bytes, found))
NW_IN_PLATFORM_MODE(int, getservbyport_r,
                    (int port, const char* protocol, servent* entry, char* buffer, size_t bytes,
                     servent** found),
                    (port, protocol, entry, buffer, bytes, found))
NW_IN_PLATFORM_MODE(int, getprotobyname_r,
                    (const char* name, protoent* entry, char* buffer, size_t bytes,
                     protoent** found),
                    (name, entry, buffer, bytes, found))
NW_IN_PLATFORM_MODE(int, getprotobynumber_r,
                    (int number, protoent* entry, char* buffer, size_t bytes, protoent** found),
                    (number, entry, buffer, bytes, found))
NW_IN_PLATFORM_MODE(int, getrpcbyname_r,
                    (const char* name, rpcent* entry, char* buffer, size_t bytes, rpcent** found),
                    (name, entry, buffer, bytes, found))
NW_IN_PLATFORM_MODE(int, getrpcbynumber_r,
                    (int number, rpcent* entry, char* buffer, size_t bytes, rpcent** found),
                    (number, entry, buffer, bytes, found))
NW_IN_PLATFORM_MODE(int, gethostbyname_r,
                    (const char* name, hostent* entry, char* buffer, size_t bytes, hostent** found,
                     int* error),
                    (name, entry, buffer, bytes, found, error))
NW_IN_PLATFORM_MODE(int, gethostbyname2_r,
                    (const char* name, int family, hostent* entry, char* buffer, size_t bytes,
                     hostent** found, int* error),
                    (name, family, entry, buffer, bytes, found, error))
NW_IN_PLATFORM_MODE(int, gethostbyaddr_r,
                    (const void* address, socklen_t length, int family, hostent* entry,
                     char* buffer, size_t bytes, hostent** found, int* error),
                    (address, length, family, entry, buffer, bytes, found, error))
NW_IN_PLATFORM_MODE(int, getnetbyname_r,
                    (const char* name, netent* entry, char* buffer, size_t bytes, netent** found,
                     int* error),
                    (name, entry, buffer, bytes, found, error))
NW_IN_PLATFORM_MODE(int, getnetbyaddr_r,
                    (uint32_t address, int family, netent* entry, char* buffer, size_t bytes,
                     netent** found, int* error),
                    (address, family, entry, buffer, bytes, found, error))
NW_IN_PLATFORM_MODE(int, getgrouplist, (const char* user, gid_t id, gid_t* groups, int* count),
                    (user, id, groups, count))
NW_IN_PLATFORM_MODE(int, initgroups, (const char* user, gid_t id), (user, id))
NW_IN_PLATFORM_MODE(int, innetgr,
                    (const char* name, const char* host, const char* user, const char* domain),
                    (name, host, user, domain))
NW_IN_PLATFORM_MODE(int, getnameinfo,
                    (const sockaddr* address, socklen_t bytes, char* host, socklen_t host_bytes,
                     char* service, socklen_t service_bytes, int flags),
                    (address, bytes, host, host_bytes, service, service_bytes, flags))
NW_IN_PLATFORM_MODE(const char*, gai_strerror, (int code), (code))
NW_IN_PLATFORM_MODE(int, getpw, (uid_t id, char* line), (id, line))
NW_IN_PLATFORM_MODE(long, gethostid, (), ())
// In C++ the function has another name, because <unistd.h> may define getlogin_r, too.
extern "C" int getlogin_in_platform_mode(char* buffer, size_t bytes) __asm__("getlogin_r");
static constinit auto original_getlogin_r =
    nw::interpose::original_of(&getlogin_in_platform_mode, "getlogin_r");
extern "C" int getlogin_in_platform_mode(char* buffer, size_t bytes) {
    const nw::PlatformScope platform;
    return original_getlogin_r(buffer, bytes);
}
NW_IN_PLATFORM_MODE(char*, cuserid, (char* name), (name))
NW_IN_PLATFORM_MODE(int, ether_hostton, (const char* host, ether_addr* address), (host, address))
NW_IN_PLATFORM_MODE(int, ether_ntohost, (char* host, const ether_addr* address), (host, address))

// --- Values of the thread ------------------------------------------------------------------------

// For keys from 32 on, libc allocates a table.
NW_IN_PLATFORM_MODE(int, pthread_setspecific, (pthread_key_t key, const void* value), (key, value))
NW_IN_PLATFORM_MODE(int, tss_set, (tss_t key, void* value), (key, value))

// --- Functions that are called at the end, or at fork() ------------------------------------------

NW_IN_PLATFORM_MODE(int, on_exit, (void (*function)(int, void*), void* data), (function, data))
extern "C" int __cxa_at_quick_exit(void (*)(void*), void*);
NW_IN_PLATFORM_MODE(int, __cxa_at_quick_exit, (void (*function)(void*), void* library),
                    (function, library))
extern "C" int __register_atfork(void (*)(), void (*)(), void (*)(), void*);
NW_IN_PLATFORM_MODE(int, __register_atfork,
                    (void (*before)(), void (*in_parent)(), void (*in_child)(), void* library),
                    (before, in_parent, in_child, library))

// --- Modules -------------------------------------------------------------------------------------

NW_IN_PLATFORM_MODE(char*, dlerror, (), ())
NW_IN_PLATFORM_MODE(void*, dlmopen, (Lmid_t space, const char* file, int mode), (space, file, mode))
NW_IN_PLATFORM_MODE(int, dlinfo, (void* library, int request, void* out), (library, request, out))
// Finds dlerror now, because a later call of dlsym would clear the last error.
[[maybe_unused]] static const bool dlerror_is_known = (original_dlerror.function(), true);

// Makes GCC end a function with a jump, also in a build without optimization. Clang has no such
// attribute, and does not need it in optimized builds.
#if defined(__clang__)
#define NW_JUMPS_AT_ITS_END
#else
#define NW_JUMPS_AT_ITS_END [[gnu::optimize("O2")]]
#endif

namespace {

// The loader examines the caller of dlopen and dlsym. Outside of handlers these two functions end
// with a jump to the original, so that the loader finds the program's return address.
constinit auto original_dlopen = nw::interpose::original_of(&::dlopen, "dlopen");
constinit std::atomic<void*> original_dlsym{nullptr};

using DlSym = void* (*)(void*, const char*);

[[gnu::noinline]] DlSym find_dlsym() noexcept {
    void* address = original_dlsym.load(std::memory_order_relaxed);
    for (const char* const version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"})
        if (address == nullptr) address = ::dlvsym(RTLD_NEXT, "dlsym", version);
    original_dlsym.store(address, std::memory_order_relaxed);
    return reinterpret_cast<DlSym>(address);
}

[[gnu::noinline]] void* dlopen_in_platform_mode(const char* file, int mode) noexcept {
    const nw::PlatformScope platform;
    return original_dlopen(file, mode);
}

[[gnu::noinline]] void* dlsym_in_platform_mode(void* library, const char* name) noexcept {
    const nw::PlatformScope platform;
    return find_dlsym()(library, name);
}

constinit auto original_dlclose = nw::interpose::original_of(&::dlclose, "dlclose");

}  // namespace

extern "C" {

NW_JUMPS_AT_ITS_END void* dlopen(const char* file, int mode) {
    if (nw::current_heap != nullptr) return dlopen_in_platform_mode(file, mode);
    return original_dlopen.function()(file, mode);
}

NW_JUMPS_AT_ITS_END void* dlsym(void* library, const char* name) {
    if (nw::current_heap != nullptr) return dlsym_in_platform_mode(library, name);
    return find_dlsym()(library, name);
}

// Does nothing in a handler, because the handler may be undone. So a library that was opened stays
// open.
int dlclose(void* library) { return nw::current_heap != nullptr ? 0 : original_dlclose(library); }

}  // extern "C"
