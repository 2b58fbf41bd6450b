// SPDX-License-Identifier: Apache-2.0
// Positions, tables and settings of libc that exist once in the process, and that no rollback
// restores. The functions that use them are refused in handlers: if several LPs continued from the
// same position, the result would depend on the order of execution.
//
// Functions that get one entry by its name or number are in thread_results.cpp.
#define _REGEX_RE_COMP  // enables re_comp() and re_exec()

#include <aliases.h>
#include <argp.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmtmsg.h>
#include <fstab.h>
#include <fts.h>
#include <ftw.h>
#include <getopt.h>
#include <grp.h>
#include <gshadow.h>
#include <libintl.h>
#include <mcheck.h>
#include <netdb.h>
#include <printf.h>
#include <pwd.h>
#include <regex.h>
#include <resolv.h>
#include <rpc/netdb.h>
#include <search.h>
#include <semaphore.h>
#include <shadow.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>
#include <time.h>
#include <ttyent.h>
#include <unistd.h>
#include <utmp.h>
#include <utmpx.h>

#include <cerrno>
#include <cstdarg>

#include "memory/interpose/refuse.hpp"

// Some of these functions are deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// --- Positions in databases ----------------------------------------------------------------------

#define NW_POSITION(name)                                                    \
    NW_LINE(name, "continues from a position that the whole process shares", \
            "one entry by its name or number, or all entries before the run")

// NW_ENTRIES(passwd, pwent, (), ()) defines setpwent(), getpwent(), getpwent_r() and endpwent().
#define NW_ENTRIES_AND(Entry, name, set_parameters, set_arguments, more_parameters,               \
                       more_arguments)                                                            \
    NW_REFUSED(void, set##name, set_parameters, set_arguments, true, NW_POSITION("set" #name))    \
    NW_REFUSED(Entry*, get##name, (), (), true, NW_POSITION("get" #name))                         \
    NW_REFUSED(int, get##name##_r,                                                                \
               (Entry * entry, char* buffer, size_t bytes, Entry** found more_parameters),        \
               (entry, buffer, bytes, found more_arguments), true, NW_POSITION("get" #name "_r")) \
    NW_REFUSED(void, end##name, (), (), true, NW_POSITION("end" #name))
#define NW_NO_MORE
#define NW_ERROR_PARAMETER , int* error
#define NW_ERROR_ARGUMENT , error
#define NW_ENTRIES(Entry, name, set_parameters, set_arguments) \
    NW_ENTRIES_AND(Entry, name, set_parameters, set_arguments, NW_NO_MORE, NW_NO_MORE)
#define NW_HOSTS(Entry, name)                                                       \
    NW_ENTRIES_AND(Entry, name, (int stays_open), (stays_open), NW_ERROR_PARAMETER, \
                   NW_ERROR_ARGUMENT)

NW_ENTRIES(passwd, pwent, (), ())
NW_ENTRIES(group, grent, (), ())
NW_ENTRIES(spwd, spent, (), ())
NW_ENTRIES(sgrp, sgent, (), ())
NW_ENTRIES(aliasent, aliasent, (), ())
NW_ENTRIES(servent, servent, (int stays_open), (stays_open))
NW_ENTRIES(protoent, protoent, (int stays_open), (stays_open))
NW_ENTRIES(rpcent, rpcent, (int stays_open), (stays_open))
NW_HOSTS(hostent, hostent)
NW_HOSTS(netent, netent)

NW_REFUSED(int, setnetgrent, (const char* name), (name), true, NW_POSITION("setnetgrent"))
NW_REFUSED(int, getnetgrent, (char** host, char** user, char** domain), (host, user, domain), true,
           NW_POSITION("getnetgrent"))
NW_REFUSED(int, getnetgrent_r,
           (char** host, char** user, char** domain, char* buffer, size_t bytes),
           (host, user, domain, buffer, bytes), true, NW_POSITION("getnetgrent_r"))
NW_REFUSED(void, endnetgrent, (), (), true, NW_POSITION("endnetgrent"))

NW_REFUSED(int, setfsent, (), (), true, NW_POSITION("setfsent"))
NW_REFUSED(fstab*, getfsent, (), (), true, NW_POSITION("getfsent"))
NW_REFUSED(fstab*, getfsspec, (const char* name), (name), true, NW_POSITION("getfsspec"))
NW_REFUSED(fstab*, getfsfile, (const char* name), (name), true, NW_POSITION("getfsfile"))
NW_REFUSED(void, endfsent, (), (), true, NW_POSITION("endfsent"))
NW_REFUSED(int, setttyent, (), (), true, NW_POSITION("setttyent"))
NW_REFUSED(ttyent*, getttyent, (), (), true, NW_POSITION("getttyent"))
NW_REFUSED(ttyent*, getttynam, (const char* name), (name), true, NW_POSITION("getttynam"))
NW_REFUSED(int, endttyent, (), (), true, NW_POSITION("endttyent"))
NW_REFUSED(int, ttyslot, (), (), true, NW_POSITION("ttyslot"))
NW_REFUSED(void, setusershell, (), (), true, NW_POSITION("setusershell"))
NW_REFUSED(char*, getusershell, (), (), true, NW_POSITION("getusershell"))
NW_REFUSED(void, endusershell, (), (), true, NW_POSITION("endusershell"))

NW_REFUSED(void, setutent, (), (), true, NW_POSITION("setutent"))
NW_REFUSED(utmp*, getutent, (), (), true, NW_POSITION("getutent"))
NW_REFUSED(int, getutent_r, (utmp * entry, utmp** found), (entry, found), true,
           NW_POSITION("getutent_r"))
NW_REFUSED(utmp*, getutid, (const utmp* key), (key), true, NW_POSITION("getutid"))
NW_REFUSED(int, getutid_r, (const utmp* key, utmp* entry, utmp** found), (key, entry, found), true,
           NW_POSITION("getutid_r"))
NW_REFUSED(utmp*, getutline, (const utmp* key), (key), true, NW_POSITION("getutline"))
NW_REFUSED(int, getutline_r, (const utmp* key, utmp* entry, utmp** found), (key, entry, found),
           true, NW_POSITION("getutline_r"))
NW_REFUSED(utmp*, pututline, (const utmp* entry), (entry), true, NW_POSITION("pututline"))
NW_REFUSED(void, endutent, (), (), true, NW_POSITION("endutent"))
NW_REFUSED(int, utmpname, (const char* file), (file), true, NW_POSITION("utmpname"))
NW_REFUSED(void, setutxent, (), (), true, NW_POSITION("setutxent"))
NW_REFUSED(utmpx*, getutxent, (), (), true, NW_POSITION("getutxent"))
NW_REFUSED(utmpx*, getutxid, (const utmpx* key), (key), true, NW_POSITION("getutxid"))
NW_REFUSED(utmpx*, getutxline, (const utmpx* key), (key), true, NW_POSITION("getutxline"))
NW_REFUSED(utmpx*, pututxline, (const utmpx* entry), (entry), true, NW_POSITION("pututxline"))
NW_REFUSED(void, endutxent, (), (), true, NW_POSITION("endutxent"))
NW_REFUSED(int, utmpxname, (const char* file), (file), true, NW_POSITION("utmpxname"))
NW_REFUSED(void, login, (const utmp* entry), (entry), true, NW_POSITION("login"))
NW_REFUSED(int, logout, (const char* line), (line), true, NW_POSITION("logout"))
NW_REFUSED(void, logwtmp, (const char* line, const char* name, const char* host),
           (line, name, host), true, NW_POSITION("logwtmp"))

// --- Tables and patterns -------------------------------------------------------------------------

#define NW_TABLE(name, allowed) NW_LINE(name, "uses a state that the whole process shares", allowed)

NW_REFUSED(int, hcreate, (size_t count), (count), true, NW_TABLE("hcreate", "hcreate_r()"))
NW_REFUSED(ENTRY*, hsearch, (ENTRY entry, ACTION action), (entry, action), true,
           NW_TABLE("hsearch", "hsearch_r()"))
NW_REFUSED(void, hdestroy, (), (), true, NW_TABLE("hdestroy", "hdestroy_r()"))
NW_REFUSED(tm*, getdate, (const char* text), (text), true, NW_TABLE("getdate", "getdate_r()"))
NW_REFUSED(char*, re_comp, (const char* pattern), (pattern), true, NW_TABLE("re_comp", "regcomp()"))
NW_REFUSED(int, re_exec, (const char* text), (text), true, NW_TABLE("re_exec", "regexec()"))
NW_REFUSED(reg_syntax_t, re_set_syntax, (reg_syntax_t syntax), (syntax), true,
           NW_TABLE("re_set_syntax", "regcomp()"))
NW_REFUSED(int, rpmatch, (const char* text), (text), true, NW_TABLE("rpmatch", "std::regex"))

namespace {

// Finds a function of libcrypt. The linker leaves libcrypt out of the program if it finds the
// library's names in this file. In this case the library is loaded here. Returns null if there is
// no libcrypt.
template <class Function>
Function* of_libcrypt(Function*, const char* name) noexcept {
    const nw::PlatformScope platform;
    void* found = ::dlsym(RTLD_NEXT, name);
    for (const char* const file : {"libcrypt.so.1", "libcrypt.so.2"})
        if (void* const library = found == nullptr ? ::dlopen(file, RTLD_NOW) : nullptr)
            found = ::dlsym(library, name);
    if (found == nullptr) errno = ENOSYS;
    return reinterpret_cast<Function*>(found);
}

}  // namespace

extern "C" [[gnu::weak]] char* crypt(const char* word, const char* salt) {
    nw::interpose::refuse_in_handler(NW_TABLE("crypt", "crypt_r() with its data in the LP"));
    auto* const original = of_libcrypt(&::crypt, "crypt");
    return original != nullptr ? original(word, salt) : nullptr;
}
extern "C" [[gnu::weak]] void setkey(const char* key) {
    nw::interpose::refuse_in_handler(NW_TABLE("setkey", "crypt_r() with its data in the LP"));
    if (auto* const original = of_libcrypt(&::setkey, "setkey")) original(key);
}
extern "C" [[gnu::weak]] void encrypt(char* block, int mode) {
    nw::interpose::refuse_in_handler(NW_TABLE("encrypt", "crypt_r() with its data in the LP"));
    if (auto* const original = of_libcrypt(&::encrypt, "encrypt")) original(block, mode);
}

#define NW_WORDS(name) NW_TABLE(name, "command lines before the run")
NW_REFUSED(int, getopt, (int count, char* const* words, const char* options),
           (count, words, options), true, NW_WORDS("getopt"))
NW_REFUSED(int, getopt_long,
           (int count, char* const* words, const char* options, const option* all, int* index),
           (count, words, options, all, index), true, NW_WORDS("getopt_long"))
NW_REFUSED(int, getopt_long_only,
           (int count, char* const* words, const char* options, const option* all, int* index),
           (count, words, options, all, index), true, NW_WORDS("getopt_long_only"))
NW_REFUSED(error_t, argp_parse,
           (const argp* parser, int count, char** words, unsigned flags, int* index, void* input),
           (parser, count, words, flags, index, input), true, NW_WORDS("argp_parse"))
NW_REFUSED(char*, getpass, (const char* prompt), (prompt), true,
           NW_TABLE("getpass", "questions before the run"))

// --- Settings ------------------------------------------------------------------------------------

#define NW_SETTING(name) \
    NW_LINE(name, "changes the whole process", "before the run, or in on_process_start()")

NW_REFUSED(char*, textdomain, (const char* domain), (domain), domain != nullptr,
           NW_SETTING("textdomain"))
NW_REFUSED(char*, bindtextdomain, (const char* domain, const char* folder), (domain, folder),
           folder != nullptr, NW_SETTING("bindtextdomain"))
NW_REFUSED(char*, bind_textdomain_codeset, (const char* domain, const char* codes), (domain, codes),
           codes != nullptr, NW_SETTING("bind_textdomain_codeset"))
NW_REFUSED(void, openlog, (const char* name, int options, int facility), (name, options, facility),
           true, NW_SETTING("openlog"))
NW_REFUSED(void, closelog, (), (), true, NW_SETTING("closelog"))
NW_REFUSED(int, setlogmask, (int mask), (mask), mask != 0, NW_SETTING("setlogmask"))
NW_REFUSED(int, fcloseall, (), (), true, NW_SETTING("fcloseall"))
NW_REFUSED(int, addseverity, (int level, const char* text), (level, text), true,
           NW_SETTING("addseverity"))
NW_REFUSED(int, register_printf_function,
           (int letter, printf_function print, printf_arginfo_function describe),
           (letter, print, describe), true, NW_SETTING("register_printf_function"))
NW_REFUSED(int, register_printf_specifier,
           (int letter, printf_function print, printf_arginfo_size_function describe),
           (letter, print, describe), true, NW_SETTING("register_printf_specifier"))
NW_REFUSED(int, register_printf_modifier, (const wchar_t* letters), (letters), true,
           NW_SETTING("register_printf_modifier"))
NW_REFUSED(int, register_printf_type, (printf_va_arg_function read), (read), true,
           NW_SETTING("register_printf_type"))
NW_REFUSED(void, mtrace, (), (), true, NW_SETTING("mtrace"))
NW_REFUSED(void, muntrace, (), (), true, NW_SETTING("muntrace"))

// Functions that walk through directories, and may change the working directory of the process.
#define NW_WALK(name)                                        \
    NW_LINE(name, "changes the folder of the whole process", \
            "nftw() without FTW_CHDIR, or std::filesystem")

NW_REFUSED(FTS*, fts_open,
           (char* const* paths, int options, int (*compare)(const FTSENT**, const FTSENT**)),
           (paths, options, compare), true, NW_WALK("fts_open"))
NW_REFUSED(FTS64*, fts64_open,
           (char* const* paths, int options, int (*compare)(const FTSENT64**, const FTSENT64**)),
           (paths, options, compare), true, NW_WALK("fts64_open"))
NW_REFUSED(int, nftw, (const char* path, __nftw_func_t visit, int folders, int flags),
           (path, visit, folders, flags), (flags & FTW_CHDIR) != 0, NW_WALK("nftw"))
NW_REFUSED(int, nftw64, (const char* path, __nftw64_func_t visit, int folders, int flags),
           (path, visit, folders, flags), (flags & FTW_CHDIR) != 0, NW_WALK("nftw64"))

// --- Other processes and hosts -------------------------------------------------------------------

#define NW_REMOTE(name)                                        \
    NW_LINE(name, "communicates with another process or host", \
            "before the run, or in on_process_start()")

static constinit nw::interpose::Original<sem_t*, const char*, int, mode_t, unsigned>
    original_sem_open("sem_open");
extern "C" sem_t* sem_open(const char* name, int flags, ...) {
    nw::interpose::refuse_in_handler(NW_REMOTE("sem_open"));
    if ((flags & O_CREAT) == 0) return original_sem_open(name, flags, 0, 0);
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = va_arg(rest, mode_t);
    const unsigned value = va_arg(rest, unsigned);
    va_end(rest);
    return original_sem_open(name, flags, mode, value);
}
NW_REFUSED(int, sem_close, (sem_t * semaphore), (semaphore), true, NW_REMOTE("sem_close"))
NW_REFUSED(int, rcmd,
           (char** host, unsigned short port, const char* here, const char* there,
            const char* command, int* errors),
           (host, port, here, there, command, errors), true, NW_REMOTE("rcmd"))
NW_REFUSED(int, rcmd_af,
           (char** host, unsigned short port, const char* here, const char* there,
            const char* command, int* errors, sa_family_t family),
           (host, port, here, there, command, errors, family), true, NW_REMOTE("rcmd_af"))
NW_REFUSED(int, rexec,
           (char** host, int port, const char* user, const char* word, const char* command,
            int* errors),
           (host, port, user, word, command, errors), true, NW_REMOTE("rexec"))
NW_REFUSED(int, rexec_af,
           (char** host, int port, const char* user, const char* word, const char* command,
            int* errors, sa_family_t family),
           (host, port, user, word, command, errors, family), true, NW_REMOTE("rexec_af"))
NW_REFUSED(int, ruserok, (const char* host, int is_root, const char* there, const char* here),
           (host, is_root, there, here), true, NW_REMOTE("ruserok"))
NW_REFUSED(int, ruserok_af,
           (const char* host, int is_root, const char* there, const char* here, sa_family_t family),
           (host, is_root, there, here, family), true, NW_REMOTE("ruserok_af"))

#define NW_QUERY(name, parameters, arguments, n_name, n_parameters, n_arguments) \
    NW_REFUSED(int, name, parameters, arguments, true, NW_REMOTE(#name))         \
    NW_REFUSED(int, n_name, n_parameters, n_arguments, true, NW_REMOTE(#n_name))
// Each function has two forms: with the thread's state, and with a state that the caller passes.
#define NW_LIST(...) __VA_ARGS__
#define NW_QUERIES(name, parameters, arguments)                                  \
    NW_QUERY(res_##name, (NW_LIST parameters), (NW_LIST arguments), res_n##name, \
             (res_state state, NW_LIST parameters), (state, NW_LIST arguments))

NW_QUERIES(query, (const char* name, int kind, int type, unsigned char* answer, int bytes),
           (name, kind, type, answer, bytes))
NW_QUERIES(search, (const char* name, int kind, int type, unsigned char* answer, int bytes),
           (name, kind, type, answer, bytes))
NW_QUERIES(querydomain,
           (const char* name, const char* domain, int kind, int type, unsigned char* answer,
            int bytes),
           (name, domain, kind, type, answer, bytes))
NW_QUERIES(mkquery,
           (int what, const char* name, int kind, int type, const unsigned char* data, int count,
            const unsigned char* record, unsigned char* to, int bytes),
           (what, name, kind, type, data, count, record, to, bytes))
NW_QUERIES(send, (const unsigned char* query, int count, unsigned char* answer, int bytes),
           (query, count, answer, bytes))
