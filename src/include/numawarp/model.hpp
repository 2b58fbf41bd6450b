// numawarp: the model writer's door. All that a model includes.
//
//     class Ping : public nw::LogicalProcess {
//         void on_start(nw::Context& c) override { c.schedule(c.self(), 1.0, 0); }
//         void on_event(nw::Context& c, const nw::Event&) override { … c.schedule(…); }
//     };
//     class PingModel : public nw::Model { … setup() returns how many Pings, until when … };
//     int main(int argc, char** argv) { return nw::run<PingModel>(argc, argv); }
//
// docs/tutorial.md builds one step by step.
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
    std::string name;                  // of the file, without its ending
    std::vector<std::string> columns;  // their names, in the order of Context::output()
    bool is_engines = false;  // set by the engine for its own tables, to which no model may write
};

// Says that two LPs exchange events often; the engine tries to keep them on one worker.
struct Link {
    LpId a;                    // one of the two
    LpId b;                    // the other one
    std::uint32_t weight = 1;  // how often, beside the other links; from 1
};

// What a model is, once its options are known. Times in the model's unit, sizes in bytes.
struct Setup {
    Kinds lps;  // how many; or nw::kinds({…}), which then say by what process
    VirtualTime until = time_infinity;  // default of --until
    VirtualTime lookahead = 0;          // every event for another LP is at least this far ahead;
                                        // 0: none, and --engine conservative is refused
    std::size_t payload_bytes_max = 0;  // at most 65,535; declared events need not be counted in
    ProcessFactory process{};  // what the LPs are: nw::process<Lp>(…); not with nw::kinds
    Rollback preferred_rollback = Rollback::snapshot;  // default of --rollback
    // The tables; Context::output() names them by their place here.
    std::vector<OutputTable> outputs{};
    // Figures of LPs that become figures of the run. With --output they have a table of their own, `measures`.
    std::vector<Measure> measures{};
    std::vector<Link> links{};  // may stay empty: LPs are then dealt out in blocks of their numbers
    // The model's own map, if it knows better than its links do: for each LP a part; LPs of part p
    // start on worker p modulo the number of workers of all ranks. Empty: none.
    std::vector<std::uint32_t> parts{};
    // What an LP is like, where kinds do not say it: LPs of one number have about as much to do. Where
    // LPs are dealt out in blocks, each worker starts with its share of each kind, or number, as far as
    // these fill groups: the LP in the middle of a group speaks for it. Any number; the same for an LP
    // each time, on every rank. Empty: the kinds.
    std::function<std::uint32_t(LpId)> likeness{};
    // What main() took of the command line for itself, if it reads words of its own. A saved run goes on only
    // with the same; a word that names a file stands for its content, too.
    std::vector<std::string> own_words{};
    std::size_t own_words_last =
        0;  // how many words at the end of the command line only main() may read
    // For handlers that use variables of the program, as one thread in a process may, and for a main() that looks at what
    // they have left. Then --workers is 1 unless the user says otherwise, LPs stay on the rank on which they start, and what
    // they hold can be read when the run is over, until the program ends or begins another run (what is freed
    // there stays).
    bool bound_to_process = false;
    // On which rank an LP starts, modulo their number; the same on every rank. Empty: the engine decides.
    std::function<std::uint32_t(LpId)> rank_of{};
    // Told each new GVT by Time Warp, on the first worker of each rank: no event before that time is rolled back any
    // more. For who looks on; handlers run meanwhile, and what they do must not hang on it. Empty: nobody.
    std::function<void(VirtualTime)> on_gvt{};
};

// What a model may want to know when the run is over (Model::finished).
struct RunSummary {
    VirtualTime end_time = 0;            // --until, or the time at which all LPs let the run end
    std::uint64_t committed_events = 0;  // of all ranks
    std::string output_directory;        // empty without --output
};

class Model;

namespace detail {
// For the engine, before setup().
void set_seed(Model& model, std::uint64_t seed) noexcept;
}  // namespace detail

// A model as a program: its name, its options, and what it consists of once these are known. A class of your
// own derives from it, and main() hands an object of that to nw::run().
class Model {
  public:
    // The name stands in the report and in names of files; the description in --help.
    explicit Model(std::string name, std::string description)
        : name_(std::move(name)), description_(std::move(description)) {}
    virtual ~Model() = default;

    // As it was given.
    const std::string& name() const noexcept { return name_; }
    // As it was given.
    const std::string& description() const noexcept { return description_; }

    // Declares the model's own options, before the command line is read.
    virtual void options(Options&) {}

    // Libraries that handlers use are started in these two: what a library sets up at its first use,
    // and keeps, must not be set up in a handler, where it would be the LP's memory and go with a
    // rollback. An exception ends the program with exit code 2. docs/how-to/libraries.md.
    //
    // Once in each process, after the command line was read, before setup().
    virtual void on_process_start() {}
    // On each thread that will run handlers, before it builds its LPs; and on the main thread before
    // on_end(), which may run there. So on one thread twice, and on several at the same time.
    virtual void on_worker_start() {}

    // Called once, after the command line was read. Throws SetupError on illegal parameters.
    virtual Setup setup() = 0;

    // --seed. For setup() and later.
    std::uint64_t seed() const noexcept { return seed_; }
    // Random numbers for setup(), as for a random network: each call begins anew with the same numbers, on all ranks and
    // after a restart, and each --seed gives others. No LP draws from them.
    Random random_numbers() const noexcept { return Random(seed_, UINT32_MAX, 0); }

    // Called once after a completed run, on rank 0, with all output files closed. The tables are there
    // as CSV, whatever the format they will be kept in. What it throws, or a crash, ends the program
    // after the report, with exit code 3, or 4 if it is a std::system_error or std::bad_alloc.
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

// The whole program: reads the command line, builds the model, runs it, reports. Returns the exit
// code: 0 done, 1 internal error, 2 wrong option, 3 model broke a rule, 4 machine could not,
// 130/143 interrupted.
int run(int argc, char** argv, Model& model);

// The same with a model of that class, made here.
template <std::derived_from<Model> Of>
int run(int argc, char** argv) {
    Of model;
    return run(argc, argv, model);
}

}  // namespace nw
