// SPDX-License-Identifier: Apache-2.0
// tw_init() and tw_end(), the command line, printing and clocks.
#include <cctype>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <span>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <numawarp/model.hpp>

#include "app/embedding.hpp"
#include "messages.hpp"
#include "program_state.hpp"

tw_synch g_tw_synchronization_protocol = NO_SYNCH;
double g_tw_ts_end = 100000.0;
double g_tw_lookahead = 0.005;
tw_seed g_tw_rng_seed = nullptr;
tw_peid g_tw_mynode = 0;
tw_peid g_tw_masternode = 0;
unsigned int g_tw_npe = 1;
unsigned int g_tw_mblock = 16;
unsigned int g_tw_gvt_interval = 16;
unsigned int g_tw_events_per_pe = 2048;
unsigned int g_tw_events_per_pe_extra = 0;
unsigned int g_tw_memory_nqueues = 0;
unsigned long long g_tw_max_opt_lookahead = ULLONG_MAX;
unsigned long long g_tw_clock_rate = 1000000000;

// The number of KPs (--nkp). ROSS's header does not declare this variable. Some models declare it,
// and others may define a variable of this name, which then replaces the weak one.
extern "C" {
[[gnu::weak]] unsigned int nkp_per_pe = 16;
}

namespace nw::ross {
namespace {

// Variables of options without effect.
unsigned int idle_number = 0;
double idle_fraction = 0;

unsigned int protocol = NO_SYNCH;
std::int32_t seeds[4] = {};

const tw_optdef kernel_options[] = {
    TWOPT_GROUP("ROSS Kernel"),
    TWOPT_UINT("synch", protocol,
               "engine: 1 sequential, 2 conservative, 3 Time Warp, 6 Time Warp that checks each "
               "rollback (4 and 5: same as 3)"),
    TWOPT_DOUBLE("end", g_tw_ts_end, "end time of the run, like --until"),
    TWOPT_DOUBLE("cons-lookahead", g_tw_lookahead, "minimum delay of events, for --synch=2"),
    TWOPT_UINT("nkp", nkp_per_pe, "number of kernel processes that are visible to models"),
    TWOPT_UINT("rng-seed1", seeds[0], "first seed of four"),
    TWOPT_UINT("rng-seed2", seeds[1], "second seed of four"),
    TWOPT_UINT("rng-seed3", seeds[2], "third seed of four"),
    TWOPT_UINT("rng-seed4", seeds[3], "fourth seed of four"),
    TWOPT_END()};

const tw_optdef idle_options[] = {
    TWOPT_GROUP("ROSS Kernel, without effect here"),
    TWOPT_UINT("batch", g_tw_mblock, nullptr),
    TWOPT_UINT("extramem", g_tw_events_per_pe_extra, nullptr),
    TWOPT_UINT("buddy-size", idle_number, nullptr),
    TWOPT_UINT("lz4-knob", idle_number, nullptr),
    TWOPT_ULONGLONG("max-opt-lookahead", g_tw_max_opt_lookahead, nullptr),
    TWOPT_UINT("avl-size", idle_number, nullptr),
    TWOPT_UINT("core-rng-seed1", idle_number, nullptr),
    TWOPT_UINT("core-rng-seed2", idle_number, nullptr),
    TWOPT_UINT("core-rng-seed3", idle_number, nullptr),
    TWOPT_UINT("core-rng-seed4", idle_number, nullptr),
    TWOPT_UINT("gvt-interval", g_tw_gvt_interval, nullptr),
    TWOPT_DOUBLE("report-interval", idle_fraction, nullptr),
    TWOPT_ULONGLONG("clock-rate", g_tw_clock_rate, nullptr),
    TWOPT_UINT("read-buffer", idle_number, nullptr),
    TWOPT_UINT("send-buffer", idle_number, nullptr),
    TWOPT_END()};

std::vector<const tw_optdef*> model_options;

// The first option for whose name `is_named` returns true, or null. The model's options come first,
// as in ROSS.
template <class IsNamed>
const tw_optdef* find(IsNamed&& is_named) {
    const auto found_in = [&](const tw_optdef* options) -> const tw_optdef* {
        for (; options->type != 0; ++options)
            if (options->type != TWOPTTYPE_GROUP && options->name != nullptr &&
                is_named(std::string_view(options->name)))
                return options;
        return nullptr;
    };
    for (const tw_optdef* const group : model_options)
        if (const tw_optdef* const found = found_in(group)) return found;
    if (const tw_optdef* const found = found_in(kernel_options)) return found;
    return found_in(idle_options);
}

bool is_idle(const tw_optdef* option) {
    return option >= std::begin(idle_options) && option < std::end(idle_options);
}

const char* values_of(tw_opttype type) {
    switch (type) {
        case TWOPTTYPE_DOUBLE:
        case TWOPTTYPE_STIME:
            return "a number";
        case TWOPTTYPE_CHAR:
            return "a string";
        case TWOPTTYPE_FLAG:
            return "given without a value";
        default:
            return "a whole number of at least 0";
    }
}

[[noreturn]] void refuse_value(const tw_optdef& option, const std::string& text) {
    refuse(fmt::format("--{}={}: must be {}", option.name, text, values_of(option.type)));
}

unsigned long long whole_number(const tw_optdef& option, const std::string& text,
                                unsigned long long most) {
    char* end = nullptr;
    errno = 0;
    const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
    if (text.empty() || text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
        value > most)
        refuse_value(option, text);
    return value;
}

double number(const tw_optdef& option, const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || value - value != 0) refuse_value(option, text);
    return value;
}

template <class Value>
void store(const tw_optdef& option, Value value) {
    std::memcpy(option.value, &value, sizeof value);
}

void apply(const tw_optdef& option, bool has_value, const std::string& text) {
    if (has_value == (option.type == TWOPTTYPE_FLAG)) refuse_value(option, text);
    switch (option.type) {
        case TWOPTTYPE_UINT:
            return store(option, static_cast<unsigned int>(whole_number(option, text, UINT_MAX)));
        case TWOPTTYPE_ULONG:
            return store(option, static_cast<unsigned long>(whole_number(option, text, ULONG_MAX)));
        case TWOPTTYPE_ULONGLONG:
            return store(option, whole_number(option, text, ULLONG_MAX));
        case TWOPTTYPE_DOUBLE:
        case TWOPTTYPE_STIME:
            return store(option, number(option, text));
        case TWOPTTYPE_CHAR:
            std::memcpy(option.value, text.c_str(), text.size() + 1);
            return;
        case TWOPTTYPE_FLAG:
            return store(option, 1U);
        case TWOPTTYPE_GROUP:
            return;
    }
}

void print_options(const tw_optdef* options) {
    for (; options->type != 0; ++options) {
        if (options->type == TWOPTTYPE_GROUP) {
            std::printf("%s:\n", options->help);
        } else {
            std::printf("  --%s%s\n", options->name,
                        options->type == TWOPTTYPE_FLAG ? "" : "=VALUE");
            if (options->help != nullptr) std::printf("      %s\n", options->help);
        }
    }
    std::printf("\n");
}

std::vector<std::string> words_of_file(const std::string& name) {
    std::ifstream file(name);
    if (!file)
        refuse(fmt::format("--args-file={}: cannot be read: {}", name, std::strerror(errno)));
    std::vector<std::string> words;
    for (std::string line; std::getline(file, line);) {
        const std::string before_comment = line.substr(0, line.find('#'));
        for (std::size_t at = 0;
             (at = before_comment.find_first_not_of(" \t\r", at)) != std::string::npos;) {
            const std::size_t end =
                std::min(before_comment.find_first_of(" \t\r", at), before_comment.size());
            words.push_back(before_comment.substr(at, end - at));
            at = end;
        }
    }
    if (file.bad()) refuse(fmt::format("--args-file={}: cannot be read", name));
    return words;
}

bool is_given(std::string_view name) {
    for (const std::string& argument : program().arguments)
        if (argument == name || argument.starts_with(std::string(name) + "=")) return true;
    return false;
}

// The last value that was given to the option `name`, or an empty string.
std::string value_of(const std::string& name) {
    const std::vector<std::string>& given = program().arguments;
    for (std::size_t i = given.size(); i-- > 0;) {
        if (given[i] == name && i + 1 < given.size()) return given[i + 1];
        if (given[i].starts_with(name + "=")) return given[i].substr(name.size() + 1);
    }
    return "";
}

void add_argument(std::string_view name, std::string_view value) {
    if (is_given(name)) return;
    program().arguments.emplace_back(name);
    program().arguments.emplace_back(value);
}

// Adds --engine to the arguments if --synch was given and --engine was not. Sets
// g_tw_synchronization_protocol, which models read, from the engine that will run.
void choose_protocol() {
    switch (protocol) {
        case NO_SYNCH:
            break;
        case SEQUENTIAL:
            add_argument("--engine", "sequential");
            break;
        case CONSERVATIVE:
            add_argument("--engine", "conservative");
            break;
        case SEQUENTIAL_ROLLBACK_CHECK:
            add_argument("--check-rollback", "1");
            [[fallthrough]];
        case OPTIMISTIC:
        case OPTIMISTIC_DEBUG:
        case OPTIMISTIC_REALTIME:
            add_argument("--engine", "timewarp");
            break;
        default:
            refuse(fmt::format("--synch={}: must be from 1 to 6", protocol));
    }
    const std::string engine = value_of("--engine");
    // With any engine, --check-model also runs Time Warp.
    g_tw_synchronization_protocol = is_given("--check-model")  ? OPTIMISTIC
                                    : engine == "sequential"   ? SEQUENTIAL
                                    : engine == "conservative" ? CONSERVATIVE
                                                               : OPTIMISTIC;
}

void take_seeds() {
    static std::int32_t own[4];
    int count = 0;
    for (const std::int32_t seed : seeds) count += seed != 0 ? 1 : 0;
    if (count == 0) return;
    if (count < 4) refuse("--rng-seed1 to --rng-seed4: all four must be given, and none may be 0");
    std::memcpy(own, seeds, sizeof own);
    g_tw_rng_seed = own;
}

// The option of ROSS or of the model that the user means by `name`, or null. As in ROSS, the name
// of an option with a value may be abbreviated, but not to the name of one of numawarp's options.
const tw_optdef* find_written(std::string_view name, bool has_value) {
    const auto is_it = [&](std::string_view option) { return option == name; };
    const auto begins_so = [&](std::string_view option) { return option.starts_with(name); };
    if (const tw_optdef* const found = find(is_it)) return found;
    return has_value && !name.empty() &&
                   embedding::form_of_option(name) == embedding::OptionForm::unknown
               ? find(begins_so)
               : nullptr;
}

// The number of words after an option of numawarp that are its value: 0 or 1. `next` is the next
// word.
std::size_t words_of_value(embedding::OptionForm option, const std::string* next) {
    if (next == nullptr || option == embedding::OptionForm::unknown) return 0;
    return option == embedding::OptionForm::with_value || *next == "on" || *next == "off" ? 1 : 0;
}

// Whether a restart requires this option with the same value. The values of three kinds of options
// may differ: the engine, the end, and options without effect.
bool is_of_the_model(const tw_optdef* option) {
    const bool may_differ = option->value == &protocol || option->value == &g_tw_ts_end;
    return !may_differ && !is_idle(option);
}

// Reads words up to "--", or up to the first word that is not an option. Returns the number of
// words that were read, including the "--".
std::size_t read(const std::vector<std::string>& words, bool in_file) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--") return i + 1;
        if (!word.starts_with("--")) return i;
        const std::size_t equals = word.find('=');
        const bool has_value = equals != std::string::npos;
        const std::string name = word.substr(2, equals - 2);
        const std::string text = has_value ? word.substr(equals + 1) : "";
        if (const tw_optdef* const theirs = find_written(name, has_value)) {
            apply(*theirs, has_value, text);
            if (is_idle(theirs)) program().idle.push_back(fmt::format("--{}", theirs->name));
            if (is_of_the_model(theirs))
                program().own_words.push_back(
                    fmt::format("--{}{}{}", theirs->name, has_value ? "=" : "", text));
        } else if (name == "args-file" && !in_file) {
            const std::vector<std::string> more = words_of_file(text);
            const std::size_t count = read(more, true);
            if (count < more.size() || (count > 0 && more[count - 1] == "--"))
                refuse(fmt::format("--args-file={}: {}; allowed: options", text,
                                   more[std::min(count, more.size() - 1)]));
        } else {
            program().arguments.push_back(word);
            const std::string* const next = i + 1 < words.size() ? &words[i + 1] : nullptr;
            if (!has_value && words_of_value(embedding::form_of_option(name), next) != 0)
                program().arguments.push_back(words[++i]);
        }
    }
    return words.size();
}

// Removes from argv the `count` words after the program's name, which have been read. The model
// reads the other words. In ROSS, which moves the words one after the other, the last word is
// repeated up to the old end of argv. This function repeats it, too, because some models read the
// last word at its old place.
void leave(int& argc, char** argv, std::size_t count) {
    const auto first = argv + std::min(argc, 1);
    char** const end = argv + argc;
    if (count != 0) std::fill(std::move(first + count, end, first), end, end[-1]);
    argc -= static_cast<int>(count);
}

}  // namespace

Program& program() {
    static Program one;
    return one;
}

void refuse(const std::string& line) {
    if (this_call().is_in_handler()) throw ModelError(line);
    std::fflush(stdout);
    // If all ranks have the same error, only the first rank prints it: the first rank ends the
    // other ranks while they wait.
    constexpr unsigned patience_seconds = 1;
    if (!tw_ismaster()) sleep(patience_seconds);
    const std::string who = tw_ismaster() ? "" : fmt::format("rank {}: ", g_tw_mynode);
    fmt::print(stderr, "numawarp: {}{}\n", who, line);
    int is_started = 0;
    MPI_Initialized(&is_started);
    if (is_started != 0 && program().ranks > 1) MPI_Abort(MPI_COMM_WORLD, 2);
    std::exit(2);
}

void demand_outside(const char* function) {
    if (this_call().is_in_handler())
        refuse(fmt::format("{}: allowed: outside of handlers", function));
}

void read_options(int& argc, char** argv) {
    program().arguments = {argc > 0 ? argv[0] : "model"};
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    const std::size_t count = read(words, false);
    const bool has_dashes = count > 0 && words[count - 1] == "--";
    program().left = words.size() - count + (has_dashes ? 1 : 0);
    const std::span left = std::span(words).subspan(count);
    // On standard output, as in ROSS: some scripts require that standard error is empty.
    if (!left.empty() && !has_dashes && tw_ismaster())
        fmt::print("numawarp: passed to the model: {}\n", fmt::join(left, " "));
    program().own_words.insert(program().own_words.end(), left.begin(), left.end());
    leave(argc, argv, count);
    take_seeds();
    choose_protocol();
    if (is_given("--help")) {
        for (const tw_optdef* const group : model_options) print_options(group);
        print_options(kernel_options);
        print_options(idle_options);
    }
}

bool may_reverse() {
    return is_given("--check-model") ||
           (g_tw_synchronization_protocol == OPTIMISTIC && value_of("--rollback") != "snapshot");
}

std::string formatted(const char* format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    const int size = std::vsnprintf(nullptr, 0, format, again);
    va_end(again);
    std::string text(static_cast<std::size_t>(std::max(size, 0)), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, arguments);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

}  // namespace nw::ross

using nw::ross::program;

void tw_opt_add(const tw_optdef* options) {
    if (options != nullptr && options->type != 0) nw::ross::model_options.push_back(options);
}

void tw_init(int* argc, char*** argv) {
    nw::ross::demand_outside("tw_init()");
    if (g_tw_pe != nullptr) nw::ross::refuse("tw_init(): must be called only once");
    nw::ross::start_mpi_if_launched();
    nw::ross::read_options(*argc, *argv);
    static tw_rng rng{};
    static tw_pe pe{};
    pe.id = g_tw_mynode;
    pe.rng = &rng;
    g_tw_pe = &pe;
    if (g_tw_nkp == 1) g_tw_nkp = nkp_per_pe;
    if (!program().idle.empty() && tw_ismaster())
        std::fprintf(stderr, "numawarp: without effect here: %s\n",
                     fmt::format("{}", fmt::join(program().idle, ", ")).c_str());
}

void tw_end(void) {
    nw::ross::demand_outside("tw_end()");
    nw::ross::end_mpi();
}

unsigned tw_nnodes(void) { return program().ranks; }

void tw_error(const char* file, int line, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const std::string text =
        fmt::format("{}:{}: {}", file, line, nw::ross::formatted(format, arguments));
    va_end(arguments);
    nw::ross::refuse(text);
}

namespace {

void print_line(const char* kind, const char* file, int line, const char* format,
                va_list arguments) {
    std::printf("%s%s:%d: %s\n", kind, file, line, nw::ross::formatted(format, arguments).c_str());
    std::fflush(stdout);
}

}  // namespace

void tw_warning(const char* file, int line, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line("warning: ", file, line, format, arguments);
    va_end(arguments);
}

void tw_printf(const char* file, int line, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line("", file, line, format, arguments);
    va_end(arguments);
}

void tw_fprint_binary_array(FILE* output, const char* prefix, const void* array, std::size_t size) {
    constexpr std::size_t row = 16;
    if (size != 0) fmt::print(output, "{}| {:<47} | {:<16}\n", prefix, "hex output", "bin output");
    const auto* const bytes = static_cast<const unsigned char*>(array);
    for (std::size_t at = 0; at < size; at += row) {
        const std::span<const unsigned char> line(bytes + at, std::min(row, size - at));
        std::string text;
        for (const unsigned char byte : line)
            text += std::isprint(byte) != 0 ? static_cast<char>(byte) : '.';
        fmt::print(output, "{}| {:<47} | {:<16}\n", prefix,
                   fmt::format("{:02X}", fmt::join(line, " ")), text);
    }
}

void* tw_calloc(const char* file, int line, const char* for_who, std::size_t e_sz, std::size_t n) {
    void* const memory = std::calloc(n, e_sz);
    if (memory == nullptr && n * e_sz != 0)
        tw_error(file, line, "cannot allocate %zu times %zu bytes for %s", n, e_sz, for_who);
    return memory;
}

void tw_wall_now(tw_wtime* t) { gettimeofday(t, nullptr); }

void tw_wall_sub(tw_wtime* r, tw_wtime* a, tw_wtime* b) { timersub(a, b, r); }

double tw_wall_to_double(tw_wtime* t) {
    return static_cast<double>(t->tv_sec) + static_cast<double>(t->tv_usec) / 1e6;
}

tw_clock tw_clock_read(void) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<tw_clock>(now.tv_sec) * 1000000000ULL + static_cast<tw_clock>(now.tv_nsec);
}
