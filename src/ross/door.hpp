// What the sources of this room share: the state of a ROSS model's program, from tw_init() to tw_end().
//
// The program has one tw_run(), which is one nw::run(). All here is written by the main thread before it;
// workers only read it, but for their own LPs' places in g_tw_lp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ross.h>

namespace nw::ross {

// A rule that the model broke: in a handler a ModelError. Elsewhere the one line is printed, and the program ends with
// the exit code for what is wrong before a run.
[[noreturn]] void refuse(const std::string& line);

// What is not for handlers: refused there.
void demand_outside(const char* function);

// What runs, beside ROSS's own globals.
struct Program {
    std::vector<std::string> arguments;  // for nw::run: the program's name, and what is not ROSS's
    std::vector<std::string> idle;       // what was said and has no meaning here
    std::vector<std::string> own_words;  // what a saved run must have been given, too
    std::size_t left = 0;  // words at the end that are the model's, and a "--" before them
    unsigned ranks = 1;
    bool is_done = false;
};
Program& program();

// Reads ROSS's and the model's options, and leaves what may be numawarp's in program().arguments. What is not read
// remains in argv.
void read_options(int& argc, char** argv);

// Whether the run may call reverse handlers, as far as the command line tells.
bool may_reverse();

// Where a launcher has started several ranks; then program() and g_tw_mynode say which. It ends with the
// program, whoever has started it, but for a model that calls tw_comm_set().
void start_mpi_if_launched();
void end_mpi();
// Refuses another MPI_COMM_ROSS than all ranks.
void demand_world();

// For each LP of all ranks its type and its rank, by gid; and which of them are this rank's, by gid: its place in g_tw_lp,
// or `elsewhere`.
struct LpTable {
    static constexpr std::uint32_t elsewhere = UINT32_MAX;
    std::vector<tw_lptype> types;
    std::vector<std::uint32_t> type_of;
    std::vector<std::uint32_t> node_of;
    std::vector<std::uint32_t> place_of;
};
// Requires: tw_define_lps() was called. Refuses what is not whole.
LpTable lp_table();

// As they begin in ROSS.
void seed_streams(tw_lp& lp);
// Where those that the model has seen before the run are by now. False: there are none, or of another number.
bool take_defined_streams(const tw_lp& defined, tw_rng_stream* to);

// Whether the model gives events priorities. An event without one has ROSS's last, 1, which is this one of ours.
extern bool uses_priorities;
inline constexpr unsigned priority_without = 10000;

// After the arguments of tw_error() and its kin.
std::string formatted(const char* format, va_list arguments);

}  // namespace nw::ross
