// SPDX-License-Identifier: Apache-2.0
// Calls of the libc functions whose memory belongs to the LP.
#include <argz.h>
#include <dirent.h>
#include <envz.h>
#include <ftw.h>
#include <glob.h>
#include <ifaddrs.h>
#include <malloc.h>
#include <net/if.h>
#include <obstack.h>
#include <pthread.h>
#include <regex.h>
#include <search.h>
#include <spawn.h>
#include <threads.h>
#include <unistd.h>
#include <wchar.h>
#include <wordexp.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "tests/support/libc_calls.hpp"

#define obstack_chunk_alloc std::malloc
#define obstack_chunk_free std::free

extern "C" {
int __pthread_key_create(pthread_key_t*, void (*)(void*)) noexcept;
}

namespace nw::test {
namespace {

// Frees a text that the caller owns, and returns a copy.
std::string take(char* text) {
    std::string copy = text != nullptr ? text : "null";
    std::free(text);
    return copy;
}

// Writes to the memory, frees it and returns its size as text.
std::string use(void* memory, std::size_t bytes) {
    if (memory == nullptr) return "null";
    std::memset(memory, 7, bytes);
    std::free(memory);
    return number(static_cast<long>(bytes));
}

std::size_t size_of(unsigned which) { return 100 + 5000 * which; }

std::FILE* lines(const char* mode = "r") {
    static char text[] = "one two\nthree four\n";
    return ::fmemopen(text, sizeof text - 1, mode);
}

template <class Read>
std::string read_line(Read read) {
    std::FILE* const stream = lines();
    char* line = nullptr;
    std::size_t bytes = 0;
    const auto count = read(&line, &bytes, stream);
    std::fclose(stream);
    return number(count) + take(line);
}

std::string print_into(std::FILE* stream, int width) {
    const int count = std::fprintf(stream, "%*d", width, 7);
    std::fclose(stream);
    return number(count);
}

int compare(const void* a, const void* b) {
    return std::strcmp(static_cast<const char*>(a), static_cast<const char*>(b));
}

std::string print_all(const char* format, ...) {
    va_list rest;
    va_start(rest, format);
    char* text = nullptr;
    const int count = ::vasprintf(&text, format, rest);
    va_end(rest);
    return count < 0 ? "failed" : take(text);
}

template <class Scan>
std::string scan(Scan scan_folder) {
    dirent** found = nullptr;
    const int count = scan_folder(&found);
    for (int i = 0; i < count; ++i) std::free(found[i]);
    std::free(found);
    return number(count);
}

// Returns the value that is read through a new key of the thread.
template <class Key, class Create, class Set, class Get, class Delete>
std::string through_key(unsigned which, Create create, Set set, Get get, Delete forget) {
    Key key{};
    if (create(&key, nullptr) != 0) return "no key";
    set(key, reinterpret_cast<void*>(std::uintptr_t{which}));
    const auto value = reinterpret_cast<std::uintptr_t>(get(key));
    forget(key);
    return number(static_cast<long>(value));
}

constexpr PlainCall of_lp[] = {
    {"malloc free malloc_usable_size",
     [](unsigned which) {
         void* const m = std::malloc(size_of(which));
         const bool fits = ::malloc_usable_size(m) >= size_of(which);
         return use(m, size_of(which)) + number(fits);
     }},
    {"calloc", [](unsigned which) { return use(std::calloc(which + 1, 100), 100); }},
    {"realloc",
     [](unsigned which) {
         return use(std::realloc(std::malloc(10), size_of(which)), size_of(which));
     }},
    {"reallocarray",
     [](unsigned which) { return use(::reallocarray(std::malloc(10), which + 1, 100), 100); }},
    {"memalign",
     [](unsigned which) { return use(::memalign(64, size_of(which)), size_of(which)); }},
    {"aligned_alloc",
     [](unsigned which) { return use(std::aligned_alloc(64, 64 * (which + 1)), 64); }},
    {"posix_memalign",
     [](unsigned which) {
         void* m = nullptr;
         return number(::posix_memalign(&m, 64, size_of(which))) + use(m, size_of(which));
     }},
    {"valloc", [](unsigned which) { return use(::valloc(size_of(which)), size_of(which)); }},
    {"pvalloc", [](unsigned which) { return use(::pvalloc(size_of(which)), size_of(which)); }},
    {"strdup", [](unsigned which) { return take(::strdup(number(which).c_str())); }},
    {"strndup", [](unsigned which) { return take(::strndup("abcdef", which)); }},
    {"wcsdup",
     [](unsigned which) {
         wchar_t* const text = ::wcsdup(which % 2 == 0 ? L"even" : L"odd");
         const std::size_t length = std::wcslen(text);
         std::free(text);
         return number(static_cast<long>(length));
     }},
    {"asprintf",
     [](unsigned which) {
         char* text = nullptr;
         return ::asprintf(&text, "%0*u", static_cast<int>(size_of(which)), which) < 0 ? "failed"
                                                                                       : take(text);
     }},
    {"vasprintf", [](unsigned which) { return print_all("%u %s", which, "words"); }},
    {"getline",
     [](unsigned) {
         return read_line(
             [](char** to, std::size_t* n, std::FILE* from) { return ::getline(to, n, from); });
     }},
    {"getdelim",
     [](unsigned) {
         return read_line([](char** to, std::size_t* n, std::FILE* from) {
             return ::getdelim(to, n, ' ', from);
         });
     }},
    {"__getdelim",
     [](unsigned) {
         return read_line([](char** to, std::size_t* n, std::FILE* from) {
             return ::__getdelim(to, n, ' ', from);
         });
     }},
    {"getcwd", [](unsigned) { return take(::getcwd(nullptr, 0)); }},
    {"get_current_dir_name", [](unsigned) { return take(::get_current_dir_name()); }},
    {"realpath", [](unsigned) { return take(::realpath("/proc/../etc/./", nullptr)); }},
    {"canonicalize_file_name",
     [](unsigned) { return take(::canonicalize_file_name("/etc/../proc")); }},
    {"tempnam",
     [](unsigned) { return number(static_cast<long>(take(::tempnam("/tmp", "nw")).size())); }},
    {"argz_append argz_delete argz_insert argz_replace",
     [](unsigned which) {
         char* words = nullptr;
         std::size_t bytes = 0;
         ::argz_add(&words, &bytes, "one");
         ::argz_add_sep(&words, &bytes, "two three", ' ');
         ::argz_append(&words, &bytes, "four", 5);
         ::argz_insert(&words, &bytes, words, "zero");
         ::argz_replace(&words, &bytes, "three", "a longer word", nullptr);
         if (which % 2 == 0) ::argz_delete(&words, &bytes, words);
         return number(static_cast<long>(bytes)) + take(words);
     }},
    {"envz_add envz_merge",
     [](unsigned which) {
         char* words = nullptr;
         std::size_t bytes = 0;
         char* more = nullptr;
         std::size_t more_bytes = 0;
         ::envz_add(&words, &bytes, "name", number(which).c_str());
         ::envz_add(&more, &more_bytes, "other", "b");
         ::envz_merge(&words, &bytes, more, more_bytes, 1);
         std::free(more);
         return number(static_cast<long>(bytes)) + take(words);
     }},
    {"open_memstream",
     [](unsigned which) {
         char* text = nullptr;
         std::size_t bytes = 0;
         print_into(::open_memstream(&text, &bytes), static_cast<int>(size_of(which)));
         return take(text);
     }},
    {"open_wmemstream",
     [](unsigned which) {
         wchar_t* text = nullptr;
         std::size_t count = 0;
         std::FILE* const stream = ::open_wmemstream(&text, &count);
         std::fwprintf(stream, L"%u", 1000 * which);
         std::fclose(stream);
         std::free(text);
         return number(static_cast<long>(count));
     }},
    {"obstack_printf obstack_vprintf",
     [](unsigned which) {
         obstack stack;
         obstack_init(&stack);
         const int count = ::obstack_printf(&stack, "%*u", static_cast<int>(size_of(which)), which);
         obstack_free(&stack, nullptr);
         return number(count);
     }},
    {"tsearch tdelete tdestroy",
     [](unsigned which) {
         void* root = nullptr;
         std::string words[] = {"b", "a", "c", number(which)};
         for (std::string& word : words) ::tsearch(word.c_str(), &root, compare);
         ::tdelete("a", &root, compare);
         const bool has = ::tfind("c", &root, compare) != nullptr;
         ::tdestroy(root, [](void*) {});
         return number(has);
     }},
    {"hcreate_r hdestroy_r",
     [](unsigned which) {
         hsearch_data table{};
         ::hcreate_r(20, &table);
         static char key[] = "key";
         ENTRY* found = nullptr;
         ::hsearch_r({key, reinterpret_cast<void*>(std::uintptr_t{which})}, ENTER, &found, &table);
         ::hsearch_r({key, nullptr}, FIND, &found, &table);
         const auto data = reinterpret_cast<std::uintptr_t>(found->data);
         ::hdestroy_r(&table);
         return number(static_cast<long>(data));
     }},
    {"regcomp regfree",
     [](unsigned which) {
         regex_t pattern;
         ::regcomp(&pattern, "(a|b)+[0-9]{2}", REG_EXTENDED);
         const int found =
             ::regexec(&pattern, fmt::format("xab{}", 9 + which).c_str(), 0, nullptr, 0);
         ::regfree(&pattern);
         return number(found);
     }},
    {"glob globfree",
     [](unsigned) {
         glob_t found{};
         const int status = ::glob("/etc/host*", 0, nullptr, &found);
         const auto count = found.gl_pathc;
         ::globfree(&found);
         return fmt::format("{} {}", status, count);
     }},
    {"glob64 globfree64",
     [](unsigned) {
         glob64_t found{};
         const int status = ::glob64("/etc/host*", 0, nullptr, &found);
         const auto count = found.gl_pathc;
         ::globfree64(&found);
         return fmt::format("{} {}", status, count);
     }},
    {"glob_pattern_p",
     [](unsigned which) { return number(::glob_pattern_p(which % 2 == 0 ? "a*" : "a", 0)); }},
    {"ftw",
     [](unsigned) {
         return number(::ftw(
             "/etc/apt", [](const char*, const struct stat*, int) { return 0; }, 4));
     }},
    {"ftw64",
     [](unsigned) {
         return number(::ftw64(
             "/etc/apt", [](const char*, const struct stat64*, int) { return 0; }, 4));
     }},
    {"scandir",
     [](unsigned) {
         return scan([](dirent*** to) { return ::scandir("/etc/apt", to, nullptr, ::alphasort); });
     }},
    {"getifaddrs freeifaddrs",
     [](unsigned) {
         ifaddrs* all = nullptr;
         const int status = ::getifaddrs(&all);
         if (status == 0) ::freeifaddrs(all);
         return number(status);
     }},
    {"if_nameindex if_freenameindex",
     [](unsigned) {
         struct if_nameindex* const all = ::if_nameindex();
         const bool some = all != nullptr;
         if (some) ::if_freenameindex(all);
         return number(some);
     }},
    {"pthread_key_create pthread_setspecific pthread_key_delete",
     [](unsigned which) {
         return through_key<pthread_key_t>(which, ::pthread_key_create, ::pthread_setspecific,
                                           ::pthread_getspecific, ::pthread_key_delete);
     }},
    {"__pthread_key_create",
     [](unsigned which) {
         return through_key<pthread_key_t>(which, ::__pthread_key_create, ::pthread_setspecific,
                                           ::pthread_getspecific, ::pthread_key_delete);
     }},
    {"tss_create tss_set tss_delete",
     [](unsigned which) {
         return through_key<tss_t>(which, ::tss_create, ::tss_set, ::tss_get, ::tss_delete);
     }},
    {"wordfree",
     [](unsigned) {
         wordexp_t words{};
         ::wordfree(&words);
         return std::string();
     }},
    {"posix_spawn_file_actions_addclose",
     [](unsigned which) {
         posix_spawn_file_actions_t actions;
         ::posix_spawn_file_actions_init(&actions);
         for (unsigned i = 0; i <= 10 * which; ++i)
             ::posix_spawn_file_actions_addclose(&actions, 5);
         return number(::posix_spawn_file_actions_destroy(&actions));
     }},
};

}  // namespace

std::span<const PlainCall> calls_in_lp() { return of_lp; }

}  // namespace nw::test
