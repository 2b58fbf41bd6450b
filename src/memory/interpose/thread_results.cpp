// SPDX-License-Identifier: Apache-2.0
// Functions of libc that return a pointer to the only result in the process, or that continue from
// call to call with the only state in the process. The functions of this file give each thread its
// own result or state: in handlers, in on_commit(), and elsewhere.
//
// - A result is valid until the next such call on the thread. --check-model finds an LP that keeps
//   a pointer to a result after its event (memory/image/thread_results.hpp).
// - A state (strtok, mblen, …) is reset for each handler, because a handler must not depend on the
//   previous handler on the same worker. Outside of handlers a state continues as in libc.
//
// inet_ntoa needs no code, because libc already keeps one result per thread. The definitions are
// weak: programs in C may define functions with some of these names.
#include <aliases.h>
#include <arpa/inet.h>
#include <grp.h>
#include <gshadow.h>
#include <locale.h>
#include <math.h>
#include <mntent.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pwd.h>
#include <rpc/netdb.h>
#include <shadow.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uchar.h>
#include <unistd.h>
#include <wchar.h>

#include <array>
#include <cerrno>
#include <cfloat>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "memory/handler/fault_guard.hpp"
#include "memory/handler/heap_scope.hpp"
#include "memory/image/thread_results.hpp"
#include "memory/interpose/original.hpp"
#include "memory/interpose/refuse.hpp"
#include "numa/os/modules.hpp"
#include "util/locks.hpp"

extern "C" void* __libc_realloc(void* address, std::size_t bytes);
extern "C" void __libc_free(void* address);

namespace {

using nw::interpose::original_of;

// Memory for one result. It grows when it is too small.
class ResultBuffer {
  public:
    constexpr ResultBuffer() noexcept = default;
    ~ResultBuffer() { __libc_free(range_.data); }
    ResultBuffer(const ResultBuffer&) = delete;
    ResultBuffer& operator=(const ResultBuffer&) = delete;

    char* data() noexcept { return static_cast<char*>(range_.data); }
    std::size_t bytes() const noexcept { return range_.bytes; }

    // Returns false if there is no memory, or if the size is much larger than any result needs.
    bool grow_to(std::size_t bytes) noexcept {
        if (bytes <= range_.bytes) return true;
        void* const data = bytes <= bytes_max ? __libc_realloc(range_.data, bytes) : nullptr;
        if (data == nullptr) return false;
        if (range_.data == nullptr) nw::note_thread_result_buffer(range_);
        range_.data = data;
        range_.bytes = bytes;
        return true;
    }
    bool grow() noexcept { return grow_to(range_.bytes == 0 ? 1024 : 2 * range_.bytes); }

  private:
    static constexpr std::size_t bytes_max = std::size_t{16} << 20;
    nw::ThreadResultBuffer range_;
};

// Calls fill(buffer, bytes), which returns an error code. While the code is ERANGE, enlarges the
// buffer and calls fill() again.
template <class Fill>
bool fill_result(ResultBuffer& buffer, Fill&& fill) noexcept {
    const nw::PlatformScope platform;
    if (buffer.bytes() == 0 && !buffer.grow()) return false;
    int failure = fill(buffer.data(), buffer.bytes());
    while (failure == ERANGE && buffer.grow()) failure = fill(buffer.data(), buffer.bytes());
    if (failure != 0) errno = failure;
    return failure == 0;
}

}  // namespace

// --- Times ---------------------------------------------------------------------------------------

extern "C" [[gnu::weak]] tm* gmtime(const time_t* time) {
    static constinit thread_local tm result{};
    return ::gmtime_r(time, &result);
}

extern "C" [[gnu::weak]] tm* localtime(const time_t* time) {
    static constinit thread_local tm result{};
    ::tzset();
    return ::localtime_r(time, &result);
}

// asctime_r() refuses years beyond 9999, and asctime() does not.
extern "C" [[gnu::weak]] char* asctime(const tm* parts) {
    static constinit thread_local std::array<char, 128> result{};
    constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (parts == nullptr) {
        errno = EINVAL;
        return nullptr;
    }
    if (parts->tm_year > INT_MAX - 1900) {
        errno = EOVERFLOW;
        return nullptr;
    }
    const auto name = [](const auto& names, int i) {
        return i >= 0 && i < static_cast<int>(std::size(names)) ? names[i] : "???";
    };
    std::snprintf(result.data(), result.size(), "%s %s%3d %.2d:%.2d:%.2d %d\n",
                  name(days, parts->tm_wday), name(months, parts->tm_mon), parts->tm_mday,
                  parts->tm_hour, parts->tm_min, parts->tm_sec, 1900 + parts->tm_year);
    return result.data();
}

extern "C" [[gnu::weak]] char* ctime(const time_t* time) { return ::asctime(::localtime(time)); }

// --- Entries of databases ------------------------------------------------------------------------

// NW_ENTRY(passwd, getpwnam, (const char* name), name) defines getpwnam(), which calls
// getpwnam_r().
#define NW_ENTRY_AND(Entry, name, parameters, more, ...)                           \
    extern "C" [[gnu::weak]] Entry* name parameters {                              \
        static thread_local Entry entry{};                                         \
        static thread_local ResultBuffer buffer;                                   \
        Entry* found = nullptr;                                                    \
        fill_result(buffer, [&](char* room, std::size_t room_bytes) {              \
            return ::name##_r(__VA_ARGS__, &entry, room, room_bytes, &found more); \
        });                                                                        \
        return found;                                                              \
    }
#define NW_NOTHING_MORE
#define NW_AND_HOST_ERROR , &h_errno
#define NW_ENTRY(Entry, name, parameters, ...) \
    NW_ENTRY_AND(Entry, name, parameters, NW_NOTHING_MORE, __VA_ARGS__)
#define NW_HOST(Entry, name, parameters, ...) \
    NW_ENTRY_AND(Entry, name, parameters, NW_AND_HOST_ERROR, __VA_ARGS__)

NW_ENTRY(passwd, getpwnam, (const char* name), name)
NW_ENTRY(passwd, getpwuid, (uid_t id), id)
NW_ENTRY(passwd, fgetpwent, (FILE * stream), stream)
NW_ENTRY(group, getgrnam, (const char* name), name)
NW_ENTRY(group, getgrgid, (gid_t id), id)
NW_ENTRY(group, fgetgrent, (FILE * stream), stream)
NW_ENTRY(spwd, getspnam, (const char* name), name)
NW_ENTRY(spwd, fgetspent, (FILE * stream), stream)
NW_ENTRY(spwd, sgetspent, (const char* text), text)
NW_ENTRY(sgrp, getsgnam, (const char* name), name)
NW_ENTRY(sgrp, fgetsgent, (FILE * stream), stream)
NW_ENTRY(sgrp, sgetsgent, (const char* text), text)
NW_ENTRY(servent, getservbyname, (const char* name, const char* protocol), name, protocol)
NW_ENTRY(servent, getservbyport, (int port, const char* protocol), port, protocol)
NW_ENTRY(protoent, getprotobyname, (const char* name), name)
NW_ENTRY(protoent, getprotobynumber, (int number), number)
NW_ENTRY(rpcent, getrpcbyname, (const char* name), name)
NW_ENTRY(rpcent, getrpcbynumber, (int number), number)
NW_ENTRY(aliasent, getaliasbyname, (const char* name), name)
NW_HOST(hostent, gethostbyname, (const char* name), name)
NW_HOST(hostent, gethostbyname2, (const char* name, int family), name, family)
NW_HOST(hostent, gethostbyaddr, (const void* address, socklen_t length, int family), address,
        length, family)
NW_HOST(netent, getnetbyname, (const char* name), name)
NW_HOST(netent, getnetbyaddr, (uint32_t address, int family), address, family)

extern "C" [[gnu::weak]] mntent* getmntent(FILE* stream) {
    static thread_local mntent entry{};
    static thread_local ResultBuffer buffer;
    constexpr std::size_t line_bytes_max = 4096;
    if (!buffer.grow_to(line_bytes_max)) return nullptr;
    return ::getmntent_r(stream, &entry, buffer.data(), line_bytes_max);
}

// --- Texts ---------------------------------------------------------------------------------------

// NW_TEXT(ttyname, (int file), file) defines ttyname(), which calls ttyname_r().
#define NW_TEXT(name, parameters, ...)                                                   \
    extern "C" [[gnu::weak]] char* name parameters {                                     \
        static thread_local ResultBuffer buffer;                                         \
        const bool is_filled = fill_result(buffer, [&](char* bytes, std::size_t count) { \
            return ::name##_r(__VA_ARGS__ __VA_OPT__(, ) bytes, count);                  \
        });                                                                              \
        return is_filled ? buffer.data() : nullptr;                                      \
    }

NW_TEXT(ttyname, (int file), file)
NW_TEXT(ptsname, (int file), file)
NW_TEXT(getlogin, ())

// Needed because libc would allocate the text of an unknown error.
extern "C" [[gnu::weak]] char* strerror(int code) {
    static constinit thread_local std::array<char, 64> result{};
    return ::strerror_r(code, result.data(), result.size());
}

extern "C" [[gnu::weak]] char* ether_ntoa(const ether_addr* address) {
    static constinit thread_local std::array<char, 18> result{};
    return ::ether_ntoa_r(address, result.data());
}

extern "C" [[gnu::weak]] ether_addr* ether_aton(const char* text) {
    static constinit thread_local ether_addr result{};
    return ::ether_aton_r(text, &result);
}

// A digit holds six bits. The lowest digit comes first.
extern "C" [[gnu::weak]] char* l64a(long value) {
    static constinit thread_local std::array<char, 7> result{};
    constexpr char digits[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    std::size_t count = 0;
    for (auto rest = static_cast<std::uint32_t>(value); rest != 0; rest >>= 6)
        result[count++] = digits[rest & 63];
    result[count] = '\0';
    return result.data();
}

// Writes into the caller's buffer, or into the thread's buffer if the caller passes none.
static constinit auto original_tmpnam = original_of(&::tmpnam, "tmpnam");
extern "C" [[gnu::weak]] char* tmpnam(char* name) {
    static constinit thread_local std::array<char, L_tmpnam> result{};
    return original_tmpnam(name != nullptr ? name : result.data());
}
static constinit auto original_inet_nsap_ntoa = original_of(&::inet_nsap_ntoa, "inet_nsap_ntoa");
extern "C" [[gnu::weak]] char* inet_nsap_ntoa(int bytes, const unsigned char* address, char* text) {
    static constinit thread_local std::array<char, 3 * 256> result{};
    return original_inet_nsap_ntoa(bytes, address, text != nullptr ? text : result.data());
}

// --- Numbers -------------------------------------------------------------------------------------

// The buffer is larger than any result of these functions: it has room for the digits before the
// decimal point of the largest number, and for the digits behind the point.
#define NW_DIGITS(Real, name, exponent_max)                                                  \
    extern "C" [[gnu::weak]] char* name(Real value, int digits, int* point, int* sign) {     \
        static thread_local ResultBuffer buffer;                                             \
        constexpr std::size_t bytes_max = exponent_max + 128;                                \
        if (!buffer.grow_to(bytes_max)) return nullptr;                                      \
        static_cast<void>(::name##_r(value, digits, point, sign, buffer.data(), bytes_max)); \
        return buffer.data();                                                                \
    }

NW_DIGITS(double, ecvt, DBL_MAX_10_EXP)
NW_DIGITS(double, fcvt, DBL_MAX_10_EXP)
NW_DIGITS(long double, qecvt, LDBL_MAX_10_EXP)
NW_DIGITS(long double, qfcvt, LDBL_MAX_10_EXP)

// --- The locale's conventions --------------------------------------------------------------------

// libc fills one object from the locale of the calling thread, so the calls are serialized.
static constinit auto original_localeconv = original_of(&::localeconv, "localeconv");
extern "C" [[gnu::weak]] lconv* localeconv() {
    static constinit thread_local lconv result{};
    static constinit nw::Mutex mutex;
    const nw::PlatformScope platform;
    const nw::LockGuard lock(mutex);
    result = *original_localeconv();
    return &result;
}

// --- States that continue from call to call ------------------------------------------------------

namespace {

enum class Conversion : unsigned char {
    mblen,
    mbtowc,
    wctomb,
    mbrlen,
    mbrtowc,
    wcrtomb,
    mbsrtowcs,
    mbsnrtowcs,
    wcsrtombs,
    wcsnrtombs,
    mbrtoc8,
    c8rtomb,
    mbrtoc16,
    c16rtomb,
    mbrtoc32,
    c32rtomb,
    count
};

struct States {
    char* strtok_rest = nullptr;
    std::array<mbstate_t, static_cast<std::size_t>(Conversion::count)> conversions{};
};

// The states of the running handler, or the thread's own states outside of handlers.
States& states() noexcept {
    static constinit thread_local States outside;
    static constinit thread_local States of_handler;
    static constinit thread_local std::uint64_t handler = 0;  // the call that uses `of_handler`
    if (!nw::in_handler()) return outside;
    const std::uint64_t now = nw::handler_call.number.load(std::memory_order_relaxed);
    if (handler != now) {
        handler = now;
        of_handler = {};
    }
    return of_handler;
}

mbstate_t* own_state(Conversion conversion) noexcept {
    return &states().conversions[static_cast<std::size_t>(conversion)];
}

}  // namespace

extern "C" [[gnu::weak]] char* strtok(char* text, const char* separators) {
    States& own = states();
    if (text == nullptr && own.strtok_rest == nullptr)
        nw::interpose::refuse_in_handler(
            "the handler called strtok(nullptr, …) to continue the text of another event; allowed: "
            "strtok_r() with a pointer that belongs to the LP");
    return ::strtok_r(text, separators, &own.strtok_rest);
}

// If `state` is null, the thread's state is used. In C++ the function has another name, because
// <wchar.h> may define the function, too.
#define NW_CONVERSION(name, conversion, parameters, arguments)                                    \
    extern "C" std::size_t name##_of_thread parameters __asm__(#name);                            \
    static constinit auto original_##name = nw::interpose::original_of(&name##_of_thread, #name); \
    extern "C" std::size_t name##_of_thread parameters {                                          \
        if (state == nullptr) state = own_state(Conversion::conversion);                          \
        return original_##name.function() arguments;                                              \
    }

NW_CONVERSION(mbrlen, mbrlen, (const char* from, size_t bytes, mbstate_t* state),
              (from, bytes, state))
// The name under which <wchar.h> calls mbrlen().
NW_CONVERSION(__mbrlen, mbrlen, (const char* from, size_t bytes, mbstate_t* state),
              (from, bytes, state))
NW_CONVERSION(mbrtowc, mbrtowc, (wchar_t * to, const char* from, size_t bytes, mbstate_t* state),
              (to, from, bytes, state))
NW_CONVERSION(wcrtomb, wcrtomb, (char* to, wchar_t from, mbstate_t* state), (to, from, state))
NW_CONVERSION(mbsrtowcs, mbsrtowcs,
              (wchar_t * to, const char** from, size_t count, mbstate_t* state),
              (to, from, count, state))
NW_CONVERSION(mbsnrtowcs, mbsnrtowcs,
              (wchar_t * to, const char** from, size_t bytes, size_t count, mbstate_t* state),
              (to, from, bytes, count, state))
NW_CONVERSION(wcsrtombs, wcsrtombs,
              (char* to, const wchar_t** from, size_t bytes, mbstate_t* state),
              (to, from, bytes, state))
NW_CONVERSION(wcsnrtombs, wcsnrtombs,
              (char* to, const wchar_t** from, size_t count, size_t bytes, mbstate_t* state),
              (to, from, count, bytes, state))
NW_CONVERSION(mbrtoc16, mbrtoc16, (char16_t* to, const char* from, size_t bytes, mbstate_t* state),
              (to, from, bytes, state))
NW_CONVERSION(c16rtomb, c16rtomb, (char* to, char16_t from, mbstate_t* state), (to, from, state))
NW_CONVERSION(mbrtoc32, mbrtoc32, (char32_t* to, const char* from, size_t bytes, mbstate_t* state),
              (to, from, bytes, state))
NW_CONVERSION(c32rtomb, c32rtomb, (char* to, char32_t from, mbstate_t* state), (to, from, state))
#if __GLIBC_PREREQ(2, 36)
NW_CONVERSION(mbrtoc8, mbrtoc8, (char8_t* to, const char* from, size_t bytes, mbstate_t* state),
              (to, from, bytes, state))
NW_CONVERSION(c8rtomb, c8rtomb, (char* to, char8_t from, mbstate_t* state), (to, from, state))
#endif

// Programs that are compiled with -D_FORTIFY_SOURCE call these functions.
NW_CONVERSION(__wcrtomb_chk, wcrtomb, (char* to, wchar_t from, mbstate_t* state, size_t room),
              (to, from, state, room))
NW_CONVERSION(__mbsrtowcs_chk, mbsrtowcs,
              (wchar_t * to, const char** from, size_t count, mbstate_t* state, size_t room),
              (to, from, count, state, room))
NW_CONVERSION(__mbsnrtowcs_chk, mbsnrtowcs,
              (wchar_t * to, const char** from, size_t bytes, size_t count, mbstate_t* state,
               size_t room),
              (to, from, bytes, count, state, room))
NW_CONVERSION(__wcsrtombs_chk, wcsrtombs,
              (char* to, const wchar_t** from, size_t bytes, mbstate_t* state, size_t room),
              (to, from, bytes, state, room))
NW_CONVERSION(__wcsnrtombs_chk, wcsnrtombs,
              (char* to, const wchar_t** from, size_t count, size_t bytes, mbstate_t* state,
               size_t room),
              (to, from, count, bytes, state, room))

// These functions have no parameter for a state. A null `from` resets the state. The result 0 means
// that the encoding has no shift states; this is true for all encodings that glibc supports.
static int begin_anew(Conversion conversion) noexcept {
    *own_state(conversion) = {};
    return 0;
}

extern "C" [[gnu::weak]] int mblen(const char* from, size_t bytes) {
    if (from == nullptr) return begin_anew(Conversion::mblen);
    const auto length = static_cast<int>(::mbrlen(from, bytes, own_state(Conversion::mblen)));
    return length < 0 ? -1 : length;
}

extern "C" [[gnu::weak]] int mbtowc(wchar_t* to, const char* from, size_t bytes) {
    if (from == nullptr) return begin_anew(Conversion::mbtowc);
    const auto length = static_cast<int>(::mbrtowc(to, from, bytes, own_state(Conversion::mbtowc)));
    return length < 0 ? -1 : length;
}

extern "C" int wctomb_of_thread(char* to, wchar_t from) __asm__("wctomb");  // see NW_CONVERSION
extern "C" int wctomb_of_thread(char* to, wchar_t from) {
    if (to == nullptr) return begin_anew(Conversion::wctomb);
    return static_cast<int>(::wcrtomb(to, from, own_state(Conversion::wctomb)));
}

extern "C" int __wctomb_chk(char* to, wchar_t from, size_t room) {
    if (to == nullptr) return begin_anew(Conversion::wctomb);
    return static_cast<int>(__wcrtomb_chk_of_thread(to, from, own_state(Conversion::wctomb), room));
}

// --- The sign of the gamma function --------------------------------------------------------------

// lgamma() returns the sign in `signgam`, a variable of the process, to which all workers would
// write. In handlers `signgam` is not written, and lgamma() is refused if the program reads
// `signgam`.
static bool program_reads_signgam() {
    // The linker may choose either name of the variable.
    static const bool does = nw::is_variable_used("signgam") || nw::is_variable_used("__signgam");
    return does;
}

#define NW_LGAMMA(Real, name, reentrant)                                                      \
    static constinit nw::interpose::Original<Real, Real> original_##name(#name);              \
    extern "C" [[gnu::weak]] Real name(Real value) {                                          \
        if (!nw::interpose::may_be_undone()) return original_##name(value);                   \
        if (program_reads_signgam())                                                          \
            nw::abandon_handler("the handler called " #name                                   \
                                "(), which writes signgam, a variable of the whole process, " \
                                "and the program reads signgam; allowed: " #reentrant "()");  \
        int sign = 0;                                                                         \
        return ::reentrant(value, &sign);                                                     \
    }

NW_LGAMMA(double, lgamma, lgamma_r)
NW_LGAMMA(float, lgammaf, lgammaf_r)
NW_LGAMMA(long double, lgammal, lgammal_r)
NW_LGAMMA(double, gamma, lgamma_r)
NW_LGAMMA(float, gammaf, lgammaf_r)
NW_LGAMMA(long double, gammal, lgammal_r)
NW_LGAMMA(_Float32, lgammaf32, lgammaf32_r)
NW_LGAMMA(_Float32x, lgammaf32x, lgammaf32x_r)
NW_LGAMMA(_Float64, lgammaf64, lgammaf64_r)
NW_LGAMMA(_Float64x, lgammaf64x, lgammaf64x_r)
#if __HAVE_FLOAT128
NW_LGAMMA(_Float128, lgammaf128, lgammaf128_r)
#endif
