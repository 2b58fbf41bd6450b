// SPDX-License-Identifier: Apache-2.0
// Libraries that build internal state at their first use, in a handler that is undone later. Every
// LP uses each library at every event, and once more out of order.
#include <dlfcn.h>
#include <grp.h>
#include <iconv.h>
#include <langinfo.h>
#include <netdb.h>
#include <pwd.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cwchar>
#include <filesystem>
#include <iostream>
#include <locale>
#include <random>
#include <regex>
#include <sstream>
#include <string>

#include "kind.hpp"

namespace hostile {
namespace {

template <void (*use)()>
void once_more(Scene&) {
    use();
}

template <void (*use)()>
void and_crash(Scene&) {
    use();
    crash();
}

void say_error() { hidden(std::strlen(std::strerror(hidden(12345)))); }

void say_loader_error() {
    hidden(::dlopen("no-such-library.so", RTLD_NOW));
    hidden(std::strlen(::dlerror()));
}

void open_library() {
    if (void* const library = ::dlopen("libm.so.6", RTLD_NOW)) {
        hidden(::dlsym(library, "cos"));
        ::dlclose(library);
    }
}

void tell_time() {
    const std::time_t now = 1'700'000'000;
    hidden(std::localtime(&now)->tm_hour);
    hidden(std::strlen(std::ctime(&now)));
    char text[64];
    hidden(std::strftime(text, sizeof text, "%c %Z", std::gmtime(&now)));
}

void read_time_zone() {
    ::tzset();
    tell_time();
}

void change_environment(Scene&) {
    ::setenv("NUMAWARP_HOSTILE", std::string(100, 'e').c_str(), 1);
    hidden(std::getenv("NUMAWARP_HOSTILE"));
    ::unsetenv("NUMAWARP_HOSTILE");
}

void change_locale(Scene&) {
    std::setlocale(LC_ALL, "C.UTF-8");
    hidden(std::strlen(std::setlocale(LC_ALL, nullptr)));
    hidden(::nl_langinfo(CODESET));
    std::setlocale(LC_ALL, "C");
}

void make_locale() {
    if (const locale_t made = ::newlocale(LC_ALL_MASK, "C.UTF-8", nullptr)) {
        const locale_t before = ::uselocale(made);
        wchar_t wide[16];
        hidden(std::mbstowcs(wide, "wide \xc3\xa4", 16));
        ::uselocale(before);
        ::freelocale(made);
    }
}

void make_cpp_locale() {
    const std::locale made("C.UTF-8");
    std::ostringstream text;
    text.imbue(made);
    text << 1234567 << ' ' << 0.5;
    hidden(text.tellp() == std::streampos(0));
}

void change_global_locale(Scene&) {
    const std::locale before = std::locale::global(std::locale("C.UTF-8"));
    std::ostringstream text;
    text << 1234567 << ' ' << 0.5;
    std::locale::global(before);
}

void convert_text() {
    const iconv_t converter = ::iconv_open("UTF-16LE", "UTF-8");
    if (converter == reinterpret_cast<iconv_t>(-1)) return;
    char text[] = "text \xc3\xa4";
    char wide[64];
    char* in = text;
    char* out = wide;
    std::size_t in_left = sizeof text;
    std::size_t out_left = sizeof wide;
    hidden(::iconv(converter, &in, &in_left, &out, &out_left));
    ::iconv_close(converter);
}

void look_up_address() {
    addrinfo* found = nullptr;
    if (::getaddrinfo("localhost", "80", nullptr, &found) == 0) ::freeaddrinfo(found);
}

void look_up_user() {
    hidden(::getpwuid(0));
    hidden(::getgrgid(0));
}

void split_text() {
    char text[] = "one two three";
    for (char* word = std::strtok(text, " "); word != nullptr; word = std::strtok(nullptr, " "))
        hidden(word);
}

void read_file() {
    if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
        char line[64];
        hidden(std::fgets(line, sizeof line, file));
        std::fclose(file);
    }
}

void read_lines() {
    if (std::FILE* const file = std::fopen("/proc/self/limits", "r")) {
        char* line = nullptr;
        std::size_t bytes = 0;
        while (::getline(&line, &bytes, file) > 0) {
        }
        std::free(line);
        std::fclose(file);
    }
}

void list_folder() {
    for (const auto& entry : std::filesystem::directory_iterator("/sys"))
        hidden(entry.path().native().size());
}

void match_expression() {
    hidden(std::regex_search(std::string("lane 7, car 12"), std::regex("car ([0-9]+)")));
}

void draw_outside() {
    std::random_device device;
    hidden(device());
}

void draw_from_library(Scene&) { hidden(std::rand()); }

void print_in_memory() {
    char* text = nullptr;
    std::size_t bytes = 0;
    if (std::FILE* const file = ::open_memstream(&text, &bytes)) {
        std::fprintf(file, "%d %s", 7, std::string(300, 'p').c_str());
        std::fclose(file);
        std::free(text);
    }
    if (::asprintf(&text, "%s %ls", "narrow", L"wide") > 0) std::free(text);
}

void sort_much() {
    std::vector<std::uint64_t> numbers(500);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i * i % 1013;
    std::qsort(numbers.data(), numbers.size(), sizeof numbers[0],
               [](const void* a, const void* b) { return std::memcmp(a, b, 8); });
}

// --- Across events -------------------------------------------------------------------------------

struct File {
    std::FILE* file = nullptr;
};

void keep_file(Scene& scene) {
    File& mine = scene.kept<File>();
    mine.file = std::fopen("/dev/null", "w");
    std::fprintf(mine.file, "%d\n", static_cast<int>(scene.number));
}

void close_file_twice(Scene&) {
    std::FILE* const file = std::fopen("/dev/null", "w");
    std::fclose(file);
    std::fclose(hidden(file));
}

void open_and_crash(Scene&) {
    hidden(std::fopen("/dev/null", "w"));
    crash();
}

struct Expression {
    std::unique_ptr<std::regex> pattern;
    std::locale locale;
};

void match_kept_expression(Scene& scene) {
    Expression& mine = scene.kept<Expression>();
    if (scene.number % 10 == 1)
        mine.pattern =
            std::make_unique<std::regex>("(a|b)+c{1," + std::to_string(scene.number) + "}");
    if (!std::regex_search(std::string("xxabababc"), *mine.pattern)) throw 3;
}

void break_expression(Scene& scene) { *scene.kept<Expression>().pattern = std::regex("(a|b"); }

void change_global_locale_and_keep(Scene& scene) {
    std::locale::global(std::locale("C.UTF-8"));
    scene.kept<Expression>().locale = std::locale();
}

void print_to_stdout(Scene&) { std::printf("printed by a handler\n"); }

void print_and_crash(Scene&) {
    std::cout << "printed by a handler " << 0.5 << '\n';
    crash();
}

#define NW_LIBRARY(name, sentence, use)                                                        \
    {name, sentence, nullptr, once_more<use>, 0, Hook::on_event, once_more<use>}, {            \
        name "-crash", sentence ", and crashes", "SIGSEGV", and_crash<use>, 0, Hook::on_event, \
            once_more<use>                                                                     \
    }

constexpr Kind table[] = {
    NW_LIBRARY("strerror", "requests the message of an unknown error", say_error),
    NW_LIBRARY("dlerror", "requests the reason why a library cannot be loaded", say_loader_error),
    NW_LIBRARY("dlopen", "loads a library", open_library),
    NW_LIBRARY("localtime", "requests the local time", tell_time),
    NW_LIBRARY("tzset", "reads the time zone", read_time_zone),
    NW_LIBRARY("newlocale", "makes a C locale", make_locale),
    NW_LIBRARY("cpp-locale", "makes a C++ locale", make_cpp_locale),
    NW_LIBRARY("iconv", "converts text", convert_text),
    NW_LIBRARY("getaddrinfo", "looks up an address", look_up_address),
    NW_LIBRARY("getpwuid", "looks up a user", look_up_user),
    NW_LIBRARY("strtok", "splits text by strtok()", split_text),
    NW_LIBRARY("fopen", "reads a file", read_file),
    NW_LIBRARY("getline", "reads a file line by line", read_lines),
    NW_LIBRARY("directory", "lists a folder", list_folder),
    NW_LIBRARY("regex", "matches a regular expression", match_expression),
    NW_LIBRARY("random-device", "draws from a random device", draw_outside),
    NW_LIBRARY("memstream", "prints into memory", print_in_memory),
    NW_LIBRARY("qsort", "sorts with the C library", sort_much),
    {"file-kept", "keeps a file open across events", "", keep_file, keeps_heap},
    {"file-closed-twice", "closes a file twice", "", close_file_twice},
    {"file-crash", "opens a file and crashes", "SIGSEGV", open_and_crash},
    {"regex-kept", "keeps a regular expression and replaces it by an invalid one", "",
     break_expression, keeps_heap, Hook::on_event, match_kept_expression},
    {"global-locale-kept", "changes the global locale and keeps it", "locale",
     change_global_locale_and_keep, keeps_heap},
    {"setlocale", "changes and restores the C locale", "setlocale", change_locale},
    {"global-locale", "changes and restores the global C++ locale", "locale", change_global_locale},
    {"setenv", "changes the environment", "setenv", change_environment},
    {"rand", "draws from rand(), which all LPs share", "rand", draw_from_library},
    {"printf", "prints to standard output", nullptr, print_to_stdout},
    {"cout-crash", "prints through std::cout and crashes", "SIGSEGV", print_and_crash},
};

}  // namespace

std::span<const Kind> libraries() { return table; }

}  // namespace hostile
