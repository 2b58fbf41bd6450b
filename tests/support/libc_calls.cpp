// SPDX-License-Identifier: Apache-2.0
#include "tests/support/libc_calls.hpp"

#include <aliases.h>
#include <grp.h>
#include <gshadow.h>
#include <mntent.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pwd.h>
#include <rpc/netdb.h>
#include <shadow.h>
#include <uchar.h>
#include <unistd.h>
#include <wchar.h>

#include <math.h>

#include <arpa/inet.h>

#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fmt/format.h>

extern "C" {
size_t __mbrlen(const char*, size_t, mbstate_t*) noexcept;
int __wctomb_chk(char*, wchar_t, size_t) noexcept;
size_t __wcrtomb_chk(char*, wchar_t, mbstate_t*, size_t) noexcept;
size_t __mbsrtowcs_chk(wchar_t*, const char**, size_t, mbstate_t*, size_t) noexcept;
size_t __mbsnrtowcs_chk(wchar_t*, const char**, size_t, size_t, mbstate_t*, size_t) noexcept;
size_t __wcsrtombs_chk(char*, const wchar_t**, size_t, mbstate_t*, size_t) noexcept;
size_t __wcsnrtombs_chk(char*, const wchar_t**, size_t, size_t, mbstate_t*, size_t) noexcept;
}

namespace nw::test {
namespace {

std::string text_of(const char* text) { return text != nullptr ? text : "null"; }
std::string text_of(const tm* parts) {
    return parts == nullptr
               ? "null"
               : fmt::format("{} {} {}", parts->tm_year, parts->tm_yday, parts->tm_sec);
}
std::string text_of(const passwd* entry) {
    return entry == nullptr ? "null"
                            : fmt::format("{} {} {}", entry->pw_name, entry->pw_uid, entry->pw_dir);
}
std::string text_of(const group* entry) {
    return entry == nullptr ? "null" : fmt::format("{} {}", entry->gr_name, entry->gr_gid);
}
std::string text_of(const spwd* entry) { return entry == nullptr ? "null" : entry->sp_namp; }
std::string text_of(const sgrp* entry) { return entry == nullptr ? "null" : entry->sg_namp; }
std::string text_of(const servent* entry) {
    return entry == nullptr ? "null" : fmt::format("{} {}", entry->s_name, entry->s_port);
}
std::string text_of(const protoent* entry) {
    return entry == nullptr ? "null" : fmt::format("{} {}", entry->p_name, entry->p_proto);
}
std::string text_of(const rpcent* entry) {
    return entry == nullptr ? "null" : fmt::format("{} {}", entry->r_name, entry->r_number);
}
std::string text_of(const aliasent* entry) { return entry == nullptr ? "null" : entry->alias_name; }
std::string text_of(const netent* entry) {
    return entry == nullptr ? "null" : fmt::format("{} {}", entry->n_name, entry->n_net);
}
std::string text_of(const hostent* entry) {
    if (entry == nullptr) return "null";
    std::uint32_t address = 0;
    if (entry->h_addr_list[0] != nullptr)
        std::memcpy(&address, entry->h_addr_list[0], sizeof address);
    return fmt::format("{} {:x}", entry->h_name, address);
}
std::string text_of(const mntent* entry) {
    return entry == nullptr ? "null" : fmt::format("{} {}", entry->mnt_fsname, entry->mnt_dir);
}
std::string text_of(const ether_addr* address) {
    return address == nullptr ? "null"
                              : fmt::format("{:x}", fmt::join(address->ether_addr_octet, ":"));
}
std::string text_of(const lconv* conventions) {
    return fmt::format("{} {}", conventions->decimal_point, int{conventions->frac_digits});
}

// Reads through the pointer each time the text is requested.
template <class T>
LibcResult result(T* pointer) {
    return [pointer] { return text_of(pointer); };
}

LibcResult text(std::string value) {
    return [value = std::move(value)] { return value; };
}

std::time_t time_of(unsigned which) { return 1'000'000'007 * std::time_t{which}; }
const char* user(unsigned which) { return which % 2 == 0 ? "root" : "daemon"; }
double fraction(unsigned which) { return 3.0 / (which + 7); }

// Opens a stream that contains one line for `which`, calls read(stream) and closes the stream.
template <class Read>
auto read_line(const char* format, unsigned which, Read read) {
    std::string line = fmt::format(fmt::runtime(format), which);
    std::FILE* const stream = ::fmemopen(line.data(), line.size(), "r");
    auto* const entry = read(stream);
    std::fclose(stream);
    return result(entry);
}

constexpr LibcCall with_results[] = {
    {"gmtime",
     [](unsigned which) {
         const auto t = time_of(which);
         return result(std::gmtime(&t));
     }},
    {"localtime",
     [](unsigned which) {
         const auto t = time_of(which);
         return result(std::localtime(&t));
     }},
    {"asctime",
     [](unsigned which) {
         std::tm parts{};
         parts.tm_year = which % 2 == 0 ? 126 : 1'000'000;
         return result(std::asctime(&parts));
     }},
    {"ctime",
     [](unsigned which) {
         const auto t = time_of(which);
         return result(std::ctime(&t));
     }},
    {"getpwnam", [](unsigned which) { return result(::getpwnam(user(which))); }},
    {"getpwuid", [](unsigned which) { return result(::getpwuid(which)); }},
    {"fgetpwent",
     [](unsigned which) {
         return read_line("u{0}:x:{0}:7:name:/home:/bin/sh\n", which, ::fgetpwent);
     }},
    {"getgrnam", [](unsigned which) { return result(::getgrnam(user(which))); }},
    {"getgrgid", [](unsigned which) { return result(::getgrgid(which)); }},
    {"fgetgrent",
     [](unsigned which) { return read_line("g{0}:x:{0}:one,two\n", which, ::fgetgrent); }},
    {"getspnam", [](unsigned which) { return result(::getspnam(user(which))); }},
    {"fgetspent",
     [](unsigned which) { return read_line("u{0}:*:{0}:0:99999:7:::\n", which, ::fgetspent); }},
    {"sgetspent",
     [](unsigned which) {
         return result(::sgetspent(fmt::format("u{0}:*:{0}:0:99999:7:::", which).c_str()));
     }},
    {"getsgnam", [](unsigned which) { return result(::getsgnam(user(which))); }},
    {"fgetsgent",
     [](unsigned which) { return read_line("g{0}:*:root:root\n", which, ::fgetsgent); }},
    {"sgetsgent",
     [](unsigned which) {
         return result(::sgetsgent(fmt::format("g{0}:*:root:root", which).c_str()));
     }},
    {"getservbyname",
     [](unsigned which) {
         return result(::getservbyname(which % 2 == 0 ? "http" : "ssh", "tcp"));
     }},
    {"getservbyport",
     [](unsigned which) {
         return result(::getservbyport(htons(which % 2 == 0 ? 80 : 22), "tcp"));
     }},
    {"getprotobyname",
     [](unsigned which) { return result(::getprotobyname(which % 2 == 0 ? "tcp" : "udp")); }},
    {"getprotobynumber",
     [](unsigned which) { return result(::getprotobynumber(which % 2 == 0 ? 6 : 17)); }},
    {"getrpcbyname",
     [](unsigned which) { return result(::getrpcbyname(which % 2 == 0 ? "portmapper" : "nfs")); }},
    {"getrpcbynumber",
     [](unsigned which) { return result(::getrpcbynumber(which % 2 == 0 ? 100000 : 100003)); }},
    {"getaliasbyname", [](unsigned which) { return result(::getaliasbyname(user(which))); }},
    {"gethostbyname",
     [](unsigned which) {
         return result(::gethostbyname(fmt::format("127.0.0.{}", which + 1).c_str()));
     }},
    {"gethostbyname2",
     [](unsigned which) {
         return result(::gethostbyname2(fmt::format("127.0.0.{}", which + 1).c_str(), AF_INET));
     }},
    {"gethostbyaddr",
     [](unsigned which) {
         const std::uint32_t address = htonl(which % 2 == 0 ? INADDR_LOOPBACK : INADDR_ANY);
         return result(::gethostbyaddr(&address, sizeof address, AF_INET));
     }},
    {"getnetbyname",
     [](unsigned which) {
         return result(::getnetbyname(which % 2 == 0 ? "loopback" : "link-local"));
     }},
    {"getnetbyaddr",
     [](unsigned which) {
         return result(::getnetbyaddr(which % 2 == 0 ? 0x7f000000 : 0xa9fe0000, AF_INET));
     }},
    {"getmntent",
     [](unsigned which) {
         return read_line("disk{0} /folder{0} ext4 rw 0 0\n", which, ::getmntent);
     }},
    {"ttyname", [](unsigned which) { return result(::ttyname(static_cast<int>(which))); }},
    {"ptsname", [](unsigned which) { return result(::ptsname(static_cast<int>(which))); }},
    {"getlogin", [](unsigned) { return result(::getlogin()); }},
    {"ether_ntoa",
     [](unsigned which) {
         const ether_addr address{{1, 2, 3, 4, 5, static_cast<std::uint8_t>(which)}};
         return result(::ether_ntoa(&address));
     }},
    {"ether_aton",
     [](unsigned which) {
         return result(::ether_aton(fmt::format("1:2:3:4:5:{}", which).c_str()));
     }},
    {"inet_ntoa",
     [](unsigned which) { return result(::inet_ntoa(in_addr{htonl(0x7f000000 + which)})); }},
    {"inet_nsap_ntoa",
     [](unsigned which) {
         const unsigned char address[] = {1, 2, static_cast<unsigned char>(which)};
         return result(::inet_nsap_ntoa(3, address, nullptr));
     }},
    {"l64a", [](unsigned which) { return result(::l64a(1'000'007 * (long{which} + 1))); }},
    {"ecvt",
     [](unsigned which) {
         int point, sign;
         return result(::ecvt(fraction(which), 12, &point, &sign));
     }},
    {"fcvt",
     [](unsigned which) {
         int point, sign;
         return result(::fcvt(1e300 * fraction(which), 12, &point, &sign));
     }},
    {"qecvt",
     [](unsigned which) {
         int point, sign;
         return result(::qecvt(fraction(which), 12, &point, &sign));
     }},
    {"qfcvt",
     [](unsigned which) {
         int point, sign;
         return result(::qfcvt(1e300L * fraction(which), 12, &point, &sign));
     }},
    {"strerror",
     [](unsigned which) { return result(std::strerror(static_cast<int>(10'000 + which))); }},
    {"strsignal",
     [](unsigned which) { return result(::strsignal(static_cast<int>(200 + which))); }},
    {"tmpnam", [](unsigned) { return text(std::tmpnam(nullptr) != nullptr ? "made" : "null"); }},
    {"lgamma lgammaf lgammal gamma gammaf gammal",
     [](unsigned which) {
         volatile double x = -0.5 - which;
         const auto y = static_cast<float>(x);
         const long double z = x;
         return text(fmt::format("{} {} {} {} {} {}", ::lgamma(x), ::lgammaf(y), ::lgammal(z),
                                 ::gamma(x), ::gammaf(y), ::gammal(z)));
     }},
    {"lgammaf32 lgammaf32x lgammaf64 lgammaf64x lgammaf128",
     [](unsigned which) {
         volatile double x = -0.5 - which;
         const double sum = static_cast<double>(::lgammaf32(static_cast<_Float32>(x))) +
                            static_cast<double>(::lgammaf32x(x)) +
                            static_cast<double>(::lgammaf64(x)) +
                            static_cast<double>(::lgammaf64x(static_cast<_Float64x>(x)));
#if __HAVE_FLOAT128
         return text(fmt::format("{}", sum + static_cast<double>(::lgammaf128(x))));
#else
         return text(fmt::format("{}", sum));
#endif
     }},
    {"wctomb __wctomb_chk wcrtomb __wcrtomb_chk c8rtomb c16rtomb c32rtomb",
     [](unsigned which) {
         char to[16];
         const auto letter = static_cast<wchar_t>('a' + which);
         std::size_t sum =
             std::wcrtomb(to, letter, nullptr) + __wcrtomb_chk(to, letter, nullptr, 16);
         sum += static_cast<std::size_t>(std::wctomb(to, letter) + __wctomb_chk(to, letter, 16));
         sum += ::c16rtomb(to, static_cast<char16_t>(letter), nullptr);
         sum += ::c32rtomb(to, static_cast<char32_t>(letter), nullptr);
#if __GLIBC_PREREQ(2, 36)
         sum += ::c8rtomb(to, static_cast<char8_t>(letter), nullptr);
#endif
         return text(fmt::format("{} {}", sum, to[0]));
     }},
    {"mbsrtowcs __mbsrtowcs_chk mbsnrtowcs __mbsnrtowcs_chk",
     [](unsigned which) {
         wchar_t to[16];
         const char* const words = &"abcdef"[which];
         std::size_t sum = 0;
         const char* from = words;
         sum += std::mbsrtowcs(to, &from, 16, nullptr);
         from = words;
         sum += __mbsrtowcs_chk(to, &from, 16, nullptr, 16);
         from = words;
         sum += ::mbsnrtowcs(to, &from, 3, 16, nullptr);
         from = words;
         sum += __mbsnrtowcs_chk(to, &from, 3, 16, nullptr, 16);
         return text(fmt::format("{}", sum));
     }},
    {"wcsrtombs __wcsrtombs_chk wcsnrtombs __wcsnrtombs_chk",
     [](unsigned which) {
         char to[16];
         const wchar_t* const words = &L"abcdef"[which];
         std::size_t sum = 0;
         const wchar_t* from = words;
         sum += std::wcsrtombs(to, &from, 16, nullptr);
         from = words;
         sum += __wcsrtombs_chk(to, &from, 16, nullptr, 16);
         from = words;
         sum += ::wcsnrtombs(to, &from, 3, 16, nullptr);
         from = words;
         sum += __wcsnrtombs_chk(to, &from, 3, 16, nullptr, 16);
         return text(fmt::format("{}", sum));
     }},
    {"localeconv",
     [](unsigned which) {
         static const locale_t locales[] = {::newlocale(LC_ALL_MASK, "C", nullptr),
                                            ::newlocale(LC_ALL_MASK, "C.UTF-8", nullptr)};
         const locale_t before = ::uselocale(locales[which % 2]);
         LibcResult made = result(std::localeconv());
         ::uselocale(before);
         return made;
     }},
};

// Converts a letter that has two bytes in UTF-8: the first byte now, and the second byte when the
// result is read.
template <class Character, class Convert>
LibcResult half_a_letter(unsigned which, Convert convert) {
    static const locale_t utf8 = ::newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
    static constexpr const char* letters[] = {"\xc3\xa4", "\xc4\x91", "\xc5\x82", "\xc3\xb6"};
    const char* const letter = letters[which];
    const auto step = [convert](const char* from) {
        const locale_t before = ::uselocale(utf8);
        Character to{};
        const auto used = static_cast<long>(convert(&to, from, 1));
        ::uselocale(before);
        return fmt::format("{} {:x}", used, static_cast<unsigned>(to));
    };
    step(letter);
    return [step, letter] { return step(letter + 1); };
}

constexpr LibcCall with_states[] = {
    {"strtok",
     [](unsigned which) -> LibcResult {
         static thread_local char text[32];
         std::strcpy(text, fmt::format("first {0}-{0} third", which).c_str());
         std::strtok(text, " ");
         return [] { return text_of(std::strtok(nullptr, " ")); };
     }},
    {"mbrlen",
     [](unsigned which) {
         return half_a_letter<wchar_t>(which, [](wchar_t*, const char* from, std::size_t n) {
             return std::mbrlen(from, n, nullptr);
         });
     }},
    {"__mbrlen",
     [](unsigned which) {
         return half_a_letter<wchar_t>(which, [](wchar_t*, const char* from, std::size_t n) {
             return ::__mbrlen(from, n, nullptr);
         });
     }},
#if __GLIBC_PREREQ(2, 36)
    {"mbrtoc8",
     [](unsigned which) {
         return half_a_letter<char8_t>(which, [](char8_t* to, const char* from, std::size_t n) {
             return ::mbrtoc8(to, from, n, nullptr);
         });
     }},
#endif
    {"mbrtowc",
     [](unsigned which) {
         return half_a_letter<wchar_t>(which, [](wchar_t* to, const char* from, std::size_t n) {
             return std::mbrtowc(to, from, n, nullptr);
         });
     }},
    {"mbtowc",
     [](unsigned which) {
         return half_a_letter<wchar_t>(which, [](wchar_t* to, const char* from, std::size_t n) {
             return std::mbtowc(to, from, n);
         });
     }},
    {"mblen",
     [](unsigned which) {
         return half_a_letter<wchar_t>(
             which, [](wchar_t*, const char* from, std::size_t n) { return std::mblen(from, n); });
     }},
    {"mbrtoc16",
     [](unsigned which) {
         return half_a_letter<char16_t>(which, [](char16_t* to, const char* from, std::size_t n) {
             return ::mbrtoc16(to, from, n, nullptr);
         });
     }},
    {"mbrtoc32",
     [](unsigned which) {
         return half_a_letter<char32_t>(which, [](char32_t* to, const char* from, std::size_t n) {
             return ::mbrtoc32(to, from, n, nullptr);
         });
     }},
};

}  // namespace

std::span<const LibcCall> calls_with_thread_results() { return with_results; }
std::span<const LibcCall> calls_with_thread_states() { return with_states; }

}  // namespace nw::test
