// SPDX-License-Identifier: Apache-2.0
// Calls of the libc functions whose memory belongs to libc.
#include <aliases.h>
#include <dirent.h>
#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <fmtmsg.h>
#include <grp.h>
#include <gshadow.h>
#include <iconv.h>
#include <langinfo.h>
#include <libintl.h>
#include <link.h>
#include <mntent.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <nl_types.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <rpc/netdb.h>
#include <shadow.h>
#include <sys/socket.h>
#include <threads.h>
#include <unistd.h>
#include <wchar.h>

#include <clocale>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include <fmt/format.h>

#include "tests/support/libc_calls.hpp"

extern "C" {
int __xpg_strerror_r(int, char*, size_t);
int __cxa_atexit(void (*)(void*), void*, void*) noexcept;
int __cxa_at_quick_exit(void (*)(void*), void*) noexcept;
int __register_atfork(void (*)(), void (*)(), void (*)(), void*) noexcept;
size_t __strftime_l(char*, size_t, const char*, const tm*, locale_t);
size_t __wcsftime_l(wchar_t*, size_t, const wchar_t*, const tm*, locale_t);
locale_t __newlocale(int, const char*, locale_t);
locale_t __duplocale(locale_t);
void __freelocale(locale_t);
}

namespace nw::test {
namespace {

void warn_all(const char* format, ...) {
    va_list rest;
    va_start(rest, format);
    ::vwarn(format, rest);
    va_end(rest);
}

std::time_t time_of(unsigned which) { return 1'000'000'007 * std::time_t{which}; }
std::tm parts_of(unsigned which) {
    const std::time_t time = time_of(which);
    std::tm parts{};
    ::gmtime_r(&time, &parts);
    return parts;
}
std::string text_of(const std::tm& parts) {
    return fmt::format("{} {} {} {}", parts.tm_year, parts.tm_yday, parts.tm_hour, parts.tm_sec);
}
const char* user(unsigned which) { return which % 2 == 0 ? "root" : "daemon"; }

// Calls look_up(&entry, buffer, bytes, &found) and returns the name of the found entry.
template <class Entry, class LookUp>
std::string entry_of(char* Entry::*name, LookUp look_up) {
    Entry entry{};
    Entry* found = nullptr;
    std::string buffer(10'000, '\0');
    const int status = look_up(&entry, buffer.data(), buffer.size(), &found);
    return number(status) + (found != nullptr ? found->*name : "null");
}

locale_t utf8(unsigned which) {
    return ::newlocale(LC_ALL_MASK, which % 2 == 0 ? "C.UTF-8" : "C", nullptr);
}

std::string wide(const wchar_t* text, std::size_t count) {
    long sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum = sum * 31 + text[i];
    return number(sum);
}

template <class Stream>
std::string first_byte(Stream* stream) {
    if (stream == nullptr) return "null";
    const int byte = std::fgetc(stream);
    std::fclose(stream);
    return number(byte);
}

char text_in_memory[] = "one two";

void do_nothing() {}
void do_nothing_with(void*) {}
int times_done = 0;

// {name, …} for functions that fill an entry and a buffer of the caller.
#define NW_BY_ENTRY(Entry, member, name, ...)                                          \
    PlainCall {                                                                        \
#name, [](unsigned which) {                                                          \
            static_cast<void>(which);                                                        \
            return entry_of(&Entry::member, [&](Entry* entry, char* buffer, std::size_t room, \
                                                Entry** found) {                             \
                return ::name(__VA_ARGS__, entry, buffer, room, found);                      \
            });                                                                              \
        } \
    }
// Like the macro above, for functions of <netdb.h>, which also return an error number.
#define NW_BY_HOST(Entry, member, name, ...)                                           \
    PlainCall {                                                                        \
#name, [](unsigned which) {                                                          \
            static_cast<void>(which);                                                        \
            int error = 0;                                                                   \
            return entry_of(&Entry::member, [&](Entry* entry, char* buffer, std::size_t room, \
                                                Entry** found) {                             \
                return ::name(__VA_ARGS__, entry, buffer, room, found, &error);              \
            });                                                                              \
        } \
    }

constexpr PlainCall of_platform[] = {
    {"strsignal",
     [](unsigned which) { return std::string(::strsignal(static_cast<int>(60 + 40 * which))); }},
    {"strerror_l",
     [](unsigned which) {
         return std::string(::strerror_l(static_cast<int>(which), utf8(which)));
     }},
    {"strerror_r",
     [](unsigned which) {
         char text[100];
         return std::string(::strerror_r(static_cast<int>(1000 * which), text, sizeof text));
     }},
    {"__xpg_strerror_r",
     [](unsigned which) {
         char text[100];
         ::__xpg_strerror_r(static_cast<int>(1000 * which), text, sizeof text);
         return std::string(text);
     }},
    {"perror",
     [](unsigned) {
         std::perror("perror");
         return std::string();
     }},
    {"psignal",
     [](unsigned) {
         ::psignal(SIGHUP, "psignal");
         return std::string();
     }},
    {"psiginfo",
     [](unsigned) {
         siginfo_t info{};
         info.si_signo = SIGHUP;
         ::psiginfo(&info, "psiginfo");
         return std::string();
     }},
    {"herror",
     [](unsigned) {
         ::herror("herror");
         return std::string();
     }},
    {"hstrerror", [](unsigned which) { return std::string(::hstrerror(static_cast<int>(which))); }},
    {"gai_strerror",
     [](unsigned which) { return std::string(::gai_strerror(-static_cast<int>(which))); }},
    {"regerror",
     [](unsigned which) {
         char text[100];
         ::regerror(static_cast<int>(which), nullptr, text, sizeof text);
         return std::string(text);
     }},
    {"fmtmsg",
     [](unsigned) {
         return number(::fmtmsg(MM_PRINT, "nw:test", MM_INFO, "text", "action", "nw:test:1"));
     }},
    {"warn",
     [](unsigned) {
         ::warn("%s", "warn");
         return std::string();
     }},
    {"vwarn",
     [](unsigned) {
         warn_all("%s", "vwarn");
         return std::string();
     }},
    {"gettext", [](unsigned) { return std::string(::gettext("text")); }},
    {"dgettext", [](unsigned) { return std::string(::dgettext("domain", "text")); }},
    {"dcgettext", [](unsigned) { return std::string(::dcgettext("domain", "text", LC_MESSAGES)); }},
    {"ngettext", [](unsigned which) { return std::string(::ngettext("one", "more", which)); }},
    {"dngettext",
     [](unsigned which) { return std::string(::dngettext("domain", "one", "more", which)); }},
    {"dcngettext",
     [](unsigned which) {
         return std::string(::dcngettext("domain", "one", "more", which, LC_MESSAGES));
     }},
    {"nl_langinfo",
     [](unsigned which) { return std::string(::nl_langinfo(which % 2 == 0 ? MON_3 : ERA)); }},
    {"nl_langinfo_l",
     [](unsigned which) { return std::string(::nl_langinfo_l(CODESET, utf8(which))); }},
    {"tzset",
     [](unsigned) {
         ::tzset();
         return std::string();
     }},
    {"localtime_r",
     [](unsigned which) {
         const auto time = time_of(which);
         std::tm parts{};
         return text_of(*::localtime_r(&time, &parts));
     }},
    {"gmtime_r", [](unsigned which) { return text_of(parts_of(which)); }},
    {"ctime_r",
     [](unsigned which) {
         const auto time = time_of(which);
         char text[100];
         return std::string(::ctime_r(&time, text));
     }},
    {"mktime",
     [](unsigned which) {
         std::tm parts = parts_of(which);
         return number(std::mktime(&parts));
     }},
    {"timegm",
     [](unsigned which) {
         std::tm parts = parts_of(which);
         return number(::timegm(&parts));
     }},
    {"timelocal",
     [](unsigned which) {
         std::tm parts = parts_of(which);
         return number(::timelocal(&parts));
     }},
    {"getdate_r",
     [](unsigned) {
         std::tm parts{};
         return number(::getdate_r("today", &parts));
     }},
    {"strftime",
     [](unsigned which) {
         const std::tm parts = parts_of(which);
         char text[200];
         std::strftime(text, sizeof text, "%c %Z %Ey", &parts);
         return std::string(text);
     }},
    {"strftime_l",
     [](unsigned which) {
         const std::tm parts = parts_of(which);
         char text[200];
         ::strftime_l(text, sizeof text, "%c %Z %Ey", &parts, utf8(which));
         return std::string(text);
     }},
    {"__strftime_l",
     [](unsigned which) {
         const std::tm parts = parts_of(which);
         char text[200];
         ::__strftime_l(text, sizeof text, "%c %Z %Ey", &parts, utf8(which));
         return std::string(text);
     }},
    {"wcsftime",
     [](unsigned which) {
         const std::tm parts = parts_of(which);
         wchar_t text[200];
         return wide(text, std::wcsftime(text, 200, L"%c %Z %Ey", &parts));
     }},
    {"wcsftime_l",
     [](unsigned which) {
         const std::tm parts = parts_of(which);
         wchar_t text[200];
         return wide(text, ::wcsftime_l(text, 200, L"%c %Z %Ey", &parts, utf8(which)));
     }},
    {"__wcsftime_l",
     [](unsigned which) {
         const std::tm parts = parts_of(which);
         wchar_t text[200];
         return wide(text, ::__wcsftime_l(text, 200, L"%c %Z %Ey", &parts, utf8(which)));
     }},
    {"strptime",
     [](unsigned which) {
         std::tm parts{};
         ::strptime(fmt::format("201{}-07-03", which).c_str(), "%Y-%m-%d", &parts);
         return text_of(parts);
     }},
    {"strptime_l",
     [](unsigned which) {
         std::tm parts{};
         ::strptime_l(fmt::format("201{}-07-03", which).c_str(), "%Y-%m-%d", &parts, utf8(which));
         return text_of(parts);
     }},
    NW_BY_ENTRY(passwd, pw_name, getpwnam_r, user(which)),
    NW_BY_ENTRY(passwd, pw_name, getpwuid_r, which),
    NW_BY_ENTRY(group, gr_name, getgrnam_r, user(which)),
    NW_BY_ENTRY(group, gr_name, getgrgid_r, which),
    NW_BY_ENTRY(spwd, sp_namp, getspnam_r, user(which)),
    NW_BY_ENTRY(sgrp, sg_namp, getsgnam_r, user(which)),
    NW_BY_ENTRY(aliasent, alias_name, getaliasbyname_r, user(which)),
    NW_BY_ENTRY(servent, s_name, getservbyname_r, which % 2 == 0 ? "http" : "ssh", "tcp"),
    NW_BY_ENTRY(servent, s_name, getservbyport_r, htons(which % 2 == 0 ? 80 : 22), "tcp"),
    NW_BY_ENTRY(protoent, p_name, getprotobyname_r, which % 2 == 0 ? "tcp" : "udp"),
    NW_BY_ENTRY(protoent, p_name, getprotobynumber_r, which % 2 == 0 ? 6 : 17),
    NW_BY_ENTRY(rpcent, r_name, getrpcbyname_r, which % 2 == 0 ? "portmapper" : "nfs"),
    NW_BY_ENTRY(rpcent, r_name, getrpcbynumber_r, which % 2 == 0 ? 100000 : 100003),
    NW_BY_HOST(hostent, h_name, gethostbyname_r, "localhost"),
    NW_BY_HOST(hostent, h_name, gethostbyname2_r, "localhost", AF_INET),
    {"gethostbyaddr_r",
     [](unsigned) {
         int error = 0;
         const std::uint32_t address = htonl(INADDR_LOOPBACK);
         return entry_of(&hostent::h_name, [&](hostent* e, char* b, std::size_t n, hostent** f) {
             return ::gethostbyaddr_r(&address, sizeof address, AF_INET, e, b, n, f, &error);
         });
     }},
    NW_BY_HOST(netent, n_name, getnetbyname_r, "loopback"),
    NW_BY_HOST(netent, n_name, getnetbyaddr_r, 0x7f000000, AF_INET),
    {"getgrouplist",
     [](unsigned which) {
         gid_t groups[50];
         int count = 50;
         ::getgrouplist(user(which), which, groups, &count);
         return number(count);
     }},
    {"initgroups", [](unsigned) { return number(::initgroups("no-such-user-here", 0) <= 0); }},
    {"innetgr",
     [](unsigned which) { return number(::innetgr("friends", nullptr, user(which), nullptr)); }},
    {"getpw",
     [](unsigned which) {
         char line[1000];
         return ::getpw(which, line) == 0 ? std::string(line) : "null";
     }},
    {"getlogin_r",
     [](unsigned) {
         char name[100];
         return number(::getlogin_r(name, sizeof name));
     }},
    {"cuserid",
     [](unsigned) {
         char name[100];
         return std::string(::cuserid(name));
     }},
    {"getnameinfo",
     [](unsigned) {
         sockaddr_in address{};
         address.sin_family = AF_INET;
         address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
         char host[100];
         const int status = ::getnameinfo(reinterpret_cast<sockaddr*>(&address), sizeof address,
                                          host, sizeof host, nullptr, 0, 0);
         return status == 0 ? std::string(host) : number(status);
     }},
    {"gethostid", [](unsigned) { return number(::gethostid()); }},
    {"ether_hostton",
     [](unsigned) {
         ether_addr address{};
         return number(::ether_hostton("no-such-host", &address));
     }},
    {"ether_ntohost",
     [](unsigned) {
         ether_addr address{};
         char host[1024];
         return number(::ether_ntohost(host, &address));
     }},
    {"dlopen dlclose dlsym",
     [](unsigned) {
         void* const library = ::dlopen("libm.so.6", RTLD_NOW);
         const bool has = ::dlsym(library, "cos") != nullptr;
         return number(has) + number(::dlclose(library));
     }},
    {"dlerror",
     [](unsigned which) {
         static_cast<void>(::dlopen(fmt::format("no-library-{}.so", which).c_str(), RTLD_NOW));
         return std::string(::dlerror());
     }},
    {"dlmopen",
     [](unsigned) { return number(::dlmopen(LM_ID_BASE, "libm.so.6", RTLD_NOW) != nullptr); }},
    {"dlinfo",
     [](unsigned) {
         Lmid_t space = -1;
         ::dlinfo(::dlopen("libm.so.6", RTLD_NOW), RTLD_DI_LMID, &space);
         return number(space);
     }},
    {"newlocale duplocale freelocale",
     [](unsigned which) {
         const locale_t made = utf8(which);
         const locale_t copy = ::duplocale(made);
         const std::string name = ::nl_langinfo_l(CODESET, copy);
         ::freelocale(copy);
         ::freelocale(made);
         return name;
     }},
    {"__newlocale __duplocale __freelocale",
     [](unsigned) {
         const locale_t made = ::__newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
         const locale_t copy = ::__duplocale(made);
         const std::string name = ::nl_langinfo_l(CODESET, copy);
         ::__freelocale(copy);
         ::__freelocale(made);
         return name;
     }},
    {"uselocale",
     [](unsigned which) {
         const locale_t before = ::uselocale(utf8(which));
         const std::string name = ::nl_langinfo(CODESET);
         ::uselocale(before);
         return name;
     }},
    {"iconv iconv_open iconv_close",
     [](unsigned which) {
         const iconv_t converter =
             ::iconv_open("UTF-16LE", which % 2 == 0 ? "UTF-8" : "ISO-8859-1");
         char from[] = "text \xc3\xa4";
         char to[64];
         char* in = from;
         char* out = to;
         std::size_t left = sizeof from, room = sizeof to;
         ::iconv(converter, &in, &left, &out, &room);
         ::iconv_close(converter);
         return number(static_cast<long>(room));
     }},
    {"pthread_once",
     [](unsigned) {
         static pthread_once_t once = PTHREAD_ONCE_INIT;
         ::pthread_once(&once, [] {
             static std::string* const kept = new std::string(100, 'x');
             times_done = static_cast<int>(kept->size());
         });
         return number(times_done);
     }},
    {"call_once",
     [](unsigned) {
         static ::once_flag once = ONCE_FLAG_INIT;
         ::call_once(&once, [] {
             static std::string* const kept = new std::string(100, 'x');
             times_done = static_cast<int>(kept->size());
         });
         return number(times_done);
     }},
    {"__cxa_atexit",
     [](unsigned) { return number(::__cxa_atexit(do_nothing_with, nullptr, nullptr)); }},
    {"__cxa_at_quick_exit",
     [](unsigned) { return number(::__cxa_at_quick_exit(do_nothing_with, nullptr)); }},
    {"__register_atfork",
     [](unsigned) {
         return number(::__register_atfork(do_nothing, do_nothing, do_nothing, nullptr));
     }},
    {"on_exit", [](unsigned) { return number(::on_exit([](int, void*) {}, nullptr)); }},
    {"fopen fclose", [](unsigned) { return first_byte(std::fopen("/etc/passwd", "r")); }},
    {"fopen64", [](unsigned) { return first_byte(::fopen64("/etc/passwd", "r")); }},
    {"fdopen", [](unsigned) { return first_byte(::fdopen(::open("/etc/passwd", O_RDONLY), "r")); }},
    {"fmemopen",
     [](unsigned) {
         return first_byte(::fmemopen(text_in_memory, sizeof text_in_memory - 1, "r"));
     }},
    {"fopencookie",
     [](unsigned) {
         cookie_io_functions_t functions{};
         functions.read = [](void*, char* to, std::size_t) -> ssize_t {
             *to = 'c';
             return 1;
         };
         return first_byte(::fopencookie(nullptr, "r", functions));
     }},
    {"tmpfile", [](unsigned) { return first_byte(std::tmpfile()); }},
    {"tmpfile64", [](unsigned) { return first_byte(::tmpfile64()); }},
    {"opendir closedir",
     [](unsigned) {
         DIR* const folder = ::opendir("/etc");
         const bool has = ::readdir(folder) != nullptr;
         return number(has) + number(::closedir(folder));
     }},
    {"fdopendir",
     [](unsigned) {
         DIR* const folder = ::fdopendir(::open("/etc", O_RDONLY | O_DIRECTORY));
         const bool has = ::readdir(folder) != nullptr;
         return number(has) + number(::closedir(folder));
     }},
    {"setmntent endmntent",
     [](unsigned) {
         std::FILE* const stream = ::setmntent("/proc/mounts", "r");
         const bool has = ::getmntent(stream) != nullptr;
         return number(has) + number(::endmntent(stream));
     }},
    {"catopen catclose",
     [](unsigned) {
         const nl_catd catalog = ::catopen("no-such-catalog", 0);
         const bool is = catalog != reinterpret_cast<nl_catd>(-1);
         if (is) ::catclose(catalog);
         return number(is);
     }},
    {"getaddrinfo freeaddrinfo",
     [](unsigned) {
         addrinfo* found = nullptr;
         const int status = ::getaddrinfo("localhost", "80", nullptr, &found);
         if (status == 0) ::freeaddrinfo(found);
         return number(status);
     }},
};

}  // namespace

std::span<const PlainCall> calls_in_platform_mode() { return of_platform; }

}  // namespace nw::test
