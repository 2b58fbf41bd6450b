// SPDX-License-Identifier: Apache-2.0
// A model whose tables contain every kind of value that output() accepts, alone and mixed in one
// column, for output_formats.py.
#include <cstdint>
#include <limits>
#include <string>

#include <numawarp/model.hpp>

namespace {

constexpr std::uint32_t process_count = 8;

class Process final : public nw::LogicalProcess {
  public:
    Process(nw::LpId) {}

    void on_start(nw::Context& context) override { context.schedule(context.self(), 1, 0); }

    void on_event(nw::Context& context, const nw::Event&) override {
        context.schedule(context.self(), context.random().exponential(1), 0);
        const std::uint32_t lp = nw::index(context.self());
        const int turn = turn_++ % 4;
        const bool odd = turn % 2 == 1;
        const auto least = std::numeric_limits<std::int64_t>::min();
        const double odd_reals[] = {-0.1, 1e-310, std::numeric_limits<double>::infinity(), 1e300};
        const char* const odd_texts[] = {"", "a,b", "he said \"yes\"\nand left", "Straße 5"};
        const nw::OutputValue either[] = {turn, turn + 0.5};
        const nw::OutputValue any[] = {turn, turn + 0.5, "none", ""};
        const nw::OutputValue gap[] = {lp, ""};
        // Only the first row has a text. So a restarted process writes only integers.
        const nw::OutputValue first[] = {turn_, "first"};
        // A value beyond 2^63, and a negative value in the same column.
        const std::uint64_t large = ~std::uint64_t{0} - lp;
        const nw::OutputValue mixed[] = {large, -1};
        const std::string name = "process " + std::to_string(lp);
        context.output(0, context.now(), turn == 0 ? least + lp : -(least + 1), odd_reals[turn],
                       odd_texts[turn], std::string_view(name), either[odd], any[turn], gap[odd],
                       first[turn_ == 1], large, mixed[odd], static_cast<char>('a' + lp), odd,
                       "caf\xe9", "");
    }

  private:
    int turn_ = 0;
};

class TableWriter final : public nw::Model {
  public:
    TableWriter() : Model("table_writer", "writes tables, for tests") {}

    void options(nw::Options& options) override {
        options.add("last-column", last_column_, "the name of the last column");
    }

    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = process_count;
        setup.until = 100;
        setup.process = nw::process<Process>();
        setup.outputs = {
            {"kinds",
             {"time", "integer", "real", "quoted text", "text", "either", "any", "gaps", "first",
              "large", "mixed", "letter", "flag", "no UTF-8", last_column_}},
            {"empty", {"nothing", "at all"}}};
        return setup;
    }

  private:
    std::string last_column_ = "blank";
};

}  // namespace

int main(int argc, char** argv) { return nw::run<TableWriter>(argc, argv); }
