// SPDX-License-Identifier: Apache-2.0
// The interface of numawarp for models. A model includes this header, and <numawarp/process.hpp> if
// it uses processes.
//
//     class Ping : public nw::LogicalProcess {
//         void on_start(nw::Context& c) override { c.schedule(c.self(), 1.0, 0); }
//         void on_event(nw::Context& c, const nw::Event&) override { … c.schedule(…); }
//     };
//     class PingModel : public nw::Model { … setup() returns the number of Pings and the end … };
//     int main(int argc, char** argv) { return nw::run<PingModel>(argc, argv); }
//
// docs/tutorial.md builds a model step by step.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <numawarp/context.hpp>
#include <numawarp/errors.hpp>
#include <numawarp/event.hpp>
#include <numawarp/event_types.hpp>
#include <numawarp/figures.hpp>
#include <numawarp/handles.hpp>
#include <numawarp/ids.hpp>
#include <numawarp/kinds.hpp>
#include <numawarp/logical_process.hpp>
#include <numawarp/math.hpp>
#include <numawarp/measures.hpp>
#include <numawarp/options.hpp>
#include <numawarp/process_factory.hpp>
#include <numawarp/random.hpp>
#include <numawarp/rollback.hpp>
#include <numawarp/time.hpp>

namespace nw {

// A table in --output DIR: `name`.csv with a header line, `name`.h5, or both (--output-format).
struct OutputTable {
    std::string name;                  // name of the file, without its extension
    std::vector<std::string> columns;  // names, in the order of the values in Context::output()
    // Set by the engine for its own tables. A model must not write to such a table.
    bool is_engines = false;
};

// Declares that two LPs exchange events often. The engine tries to keep the two LPs on one worker.
struct Link {
    LpId a;                    // one of the two LPs
    LpId b;                    // the other LP
    std::uint32_t weight = 1;  // frequency relative to other links; at least 1
};

// The description of a model. Model::setup() returns it when the values of the model's options are
// known. Times are in the model's unit, and sizes are in bytes.
struct Setup {
    Kinds lps;                          // number of LPs, or nw::kinds({…}) with their classes
    VirtualTime until = time_infinity;  // default of --until
    // The minimum delay of every event for another LP. 0: no lookahead, and --engine conservative
    // is refused.
    VirtualTime lookahead = 0;
    // The largest payload, at most 65,535. A model need not set this bound for events that are
    // declared as structs: the engine raises the bound to the size of the largest struct.
    std::size_t payload_bytes_max = 0;
    // The class of the LPs: nw::process<Lp>(…). Must be empty if `lps` is made by nw::kinds().
    ProcessFactory process{};
    Rollback preferred_rollback = Rollback::snapshot;  // default of --rollback
    // The output tables. Context::output() refers to a table by its index in this list.
    std::vector<OutputTable> outputs{};
    // Figures of LPs that are combined into figures of the run. With --output, the results are also
    // written to the table `measures`.
    std::vector<Measure> measures{};
    // Pairs of LPs that exchange events often. Empty: the LPs are assigned in blocks of consecutive
    // numbers.
    std::vector<Link> links{};
    // The model's own partition, if it is better than a partition made from the links. It contains
    // a part number for each LP. The LPs of part p start on worker p mod w, where w is the number
    // of workers of all ranks. Empty: no own partition.
    std::vector<std::uint32_t> parts{};
    // Returns a number for the workload of an LP: LPs with the same number have about the same
    // amount of work. Needed only if LPs of one kind have different amounts of work. When LPs are
    // assigned in blocks, each worker starts with an equal share of the LPs of each number (or of
    // each kind). The shares are equal only as far as these LPs fill whole groups. The LP in the
    // middle of a group determines the number of the group. All numbers are allowed. Requires: the
    // same number for an LP in every call and on every rank. Empty: the kind of an LP is used
    // instead of a number.
    std::function<std::uint32_t(LpId)> likeness{};
    // The words of the command line that main() reads itself. A saved run can be restarted only
    // with the same words. If a word, or the part of a word after `=`, is the name of a file, the
    // content of the file must be the same, too.
    std::vector<std::string> own_words{};
    // The number of words at the end of the command line that only main() may read.
    std::size_t own_words_last = 0;
    // Set to true in two cases: handlers use global variables of the program, which is safe only
    // with one thread per process; or main() reads the memory of the LPs after the run. If true,
    // --workers is 1 unless the user sets it, and LPs stay on the rank on which they start. The
    // memory of the LPs, and also memory that an LP has freed, can be read until the program ends
    // or begins another run.
    bool bound_to_process = false;
    // Returns a number for an LP. The LP starts on the rank with this number modulo the number of
    // ranks. Requires: the same result on every rank. Empty: the engine decides.
    std::function<std::uint32_t(LpId)> rank_of{};
    // Called by Time Warp with each new GVT, on the first worker of each rank. Events before this
    // GVT are never rolled back. The function may only observe the run: handlers run at the same
    // time, and must not depend on the function. Empty: no call.
    std::function<void(VirtualTime)> on_gvt{};
};

// Facts about a completed run, for Model::finished().
struct RunSummary {
    // The value of --until, or the time at which all LPs allowed the run to end. If the run had no
    // such end, the time of the last event.
    VirtualTime end_time = 0;
    std::uint64_t committed_events = 0;  // of all ranks
    std::string output_directory;        // empty without --output
};

class Model;

namespace detail {
// Called by the engine before setup(). Sets the seed.
void set_seed(Model& model, std::uint64_t seed) noexcept;
}  // namespace detail

// A model as a program: its name, its options and its setup. A program derives a class from Model,
// and main() passes an object of this class to nw::run().
class Model {
  public:
    // The name appears in the report and in file names. The description appears in --help.
    explicit Model(std::string name, std::string description)
        : name_(std::move(name)), description_(std::move(description)) {}
    virtual ~Model() = default;

    // The name that was given to the constructor.
    const std::string& name() const noexcept { return name_; }
    // The description that was given to the constructor.
    const std::string& description() const noexcept { return description_; }

    // Declares the model's own options. Called before the command line is read.
    virtual void options(Options&) {}

    // Starts the libraries that handlers use. Called once in each process, after the command line
    // was read and before setup().
    //
    // Some libraries create data at their first use and keep the data. A handler must not be the
    // first user of such a library: the data would be in the LP's memory, and a rollback would
    // destroy the data. on_process_start() and on_worker_start() are the places for the first use.
    // An exception in one of these functions ends the program with exit code 2, or 4 if it is
    // std::bad_alloc. See docs/how-to/libraries.md.
    virtual void on_process_start() {}
    // Starts the libraries that need a start in each thread. Called on each thread that will run
    // handlers, before the thread builds its LPs. Also called on the main thread before on_end(),
    // which may run on the main thread. Therefore the function may be called twice on one thread,
    // and several threads may call it at the same time. With --engine auto, each engine has its own
    // threads, and the threads of the next engine take over the LPs.
    virtual void on_worker_start() {}

    // Returns the description of the model. Called once, after the command line was read. Throws
    // SetupError if a parameter has a value that is not allowed.
    virtual Setup setup() = 0;

    // The value of --seed, valid in setup() and later.
    std::uint64_t seed() const noexcept { return seed_; }
    // Random numbers for setup(), for example for a random network. Each call returns a generator
    // that starts with the same numbers, on all ranks and after a restart. Each value of --seed
    // gives different numbers. No LP uses this stream.
    Random random_numbers() const noexcept { return Random(seed_, UINT32_MAX, 0); }

    // Called once after a completed run, on rank 0, when all output files are closed. At this time
    // the tables are CSV files, also if the program will convert them to another format. An
    // exception or a crash in this function ends the program after the report. The exit code is
    // then 3, or 4 for a std::system_error or std::bad_alloc.
    virtual void finished(const RunSummary&) {}

  private:
    friend void detail::set_seed(Model& model, std::uint64_t seed) noexcept;

    std::string name_;
    std::string description_;
    std::uint64_t seed_ = 0;
};

namespace detail {
inline void set_seed(Model& model, std::uint64_t seed) noexcept { model.seed_ = seed; }
}  // namespace detail

// The whole program: reads the command line, builds the model, runs it and prints the report.
// Returns the exit code: 0 (done), 1 (internal error), 2 (wrong option), 3 (the model broke a
// rule), 4 (the machine could not run the model), 130 or 143 (interrupted).
int run(int argc, char** argv, Model& model);

// Makes a model of class `Of` and calls run() with it.
template <std::derived_from<Model> Of>
int run(int argc, char** argv) {
    Of model;
    return run(argc, argv, model);
}

}  // namespace nw
