// SPDX-License-Identifier: Apache-2.0
// The state of a ROSS model's program from tw_init() to tw_end(), shared by the sources of this
// folder.
//
// The program calls tw_run() once, and tw_run() calls nw::run() once. The main thread writes the
// data of this file before nw::run(). Workers only read it, except for the entries of their own LPs
// in g_tw_lp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ross.h>

namespace nw::ross {

// Reports that the model has broken a rule. In a handler, throws ModelError with the line.
// Elsewhere, prints the line and ends the program with the exit code for errors before a run (2).
[[noreturn]] void refuse(const std::string& line);

// Refuses a call of `function` in a handler.
void demand_outside(const char* function);

// The data of the program that are not in ROSS's global variables.
struct Program {
    std::vector<std::string> arguments;  // for nw::run: the program's name, and options not of ROSS
    std::vector<std::string> idle;       // options that were given and have no effect
    std::vector<std::string> own_words;  // as in nw::Setup
    // The number of words at the end that only the model reads. Includes "--" if it is given.
    std::size_t left = 0;
    unsigned ranks = 1;
    bool is_done = false;  // tw_run() was called
};
Program& program();

// Reads the options of ROSS and of the model. Stores words that may be options of numawarp in
// program().arguments. Removes from argv all words that were read.
void read_options(int& argc, char** argv);

// Whether the options of the command line allow the run to call reverse handlers.
bool may_reverse();

// Starts MPI if a launcher has started the program. program().ranks and g_tw_mynode then have the
// number of ranks and the number of this rank.
void start_mpi_if_launched();
// Ends MPI, even if the model has started it. A model that has called tw_comm_set() ends MPI
// itself.
void end_mpi();
// Refuses an MPI_COMM_ROSS that is not MPI_COMM_WORLD.
void demand_world();

// The LPs of all ranks. Each vector has one element per LP, by gid, except for `types`.
// type_of: index into `types`. node_of: the LP's rank. place_of: the LP's index in this rank's
// g_tw_lp, or `elsewhere` for an LP of another rank.
struct LpTable {
    static constexpr std::uint32_t elsewhere = UINT32_MAX;
    std::vector<tw_lptype> types;
    std::vector<std::uint32_t> type_of;
    std::vector<std::uint32_t> node_of;
    std::vector<std::uint32_t> place_of;
};
// Collects the table from all ranks. Requires: tw_define_lps() was called. Refuses LPs without a
// place or a type, and LP numbers that are not exactly 0 to n - 1.
LpTable lp_table();

// Sets the LP's streams to the positions at which they start in ROSS.
void seed_streams(tw_lp& lp);
// Copies the LP's streams to `to`, at the positions to which draws before the run have moved them.
// Returns false if there are no such streams, or if the number of LPs or of streams has changed.
bool take_defined_streams(const tw_lp& defined, tw_rng_stream* to);

// True if the model calls tw_event_new_user_prio(). Set before main(), by priorities.cpp.
extern bool uses_priorities;
// The engine's priority of events without a priority. It represents ROSS's lowest priority, 1.
inline constexpr unsigned priority_without = 10000;

// Returns the text of a printf() format and its arguments. Removes line ends at the end of the
// text.
std::string formatted(const char* format, va_list arguments);

}  // namespace nw::ross
