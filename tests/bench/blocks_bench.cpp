// SPDX-License-Identifier: Apache-2.0
// A model whose only LP allocates a block of memory with each event and keeps all blocks. The
// program measures the cost of many blocks that are larger than the small chunks of an LP's heap.
// The list of the blocks grows, too, and leaves free blocks of other sizes behind.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <numawarp/model.hpp>

namespace {

struct Parameters {
    std::uint32_t blocks = 50'000;
    std::uint32_t bytes = 9'000;
};

class Keeper final : public nw::LogicalProcess {
  public:
    Keeper(nw::LpId, const Parameters* parameters) : parameters_(parameters) {}

    void on_start(nw::Context& c) override { c.schedule(c.self(), 1, 0); }

    void on_event(nw::Context& c, const nw::Event&) override {
        blocks_.emplace_back(new std::byte[parameters_->bytes]);
        if (blocks_.size() < parameters_->blocks) c.schedule(c.self(), 1, 0);
    }

  private:
    const Parameters* parameters_;
    std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

class Model final : public nw::Model {
  public:
    Model() : nw::Model("blocks_bench", "an LP that keeps many large blocks") {}

    void options(nw::Options& options) override {
        options.add("blocks", parameters_.blocks, "blocks", nw::from(1));
        options.add("bytes", parameters_.bytes, "bytes of each", nw::from(1));
    }

    nw::Setup setup() override {
        const auto* parameters = static_cast<const Parameters*>(&parameters_);
        return {.lps = 1,
                .until = parameters_.blocks + 1.0,
                .process = nw::process<Keeper>(parameters)};
    }

  private:
    Parameters parameters_;
};

}  // namespace

int main(int argc, char** argv) { return nw::run<Model>(argc, argv); }
