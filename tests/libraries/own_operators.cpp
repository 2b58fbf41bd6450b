// SPDX-License-Identifier: Apache-2.0
// A program that defines operator new and operator delete itself, as C++ models for ROOT-Sim do. In
// a handler, the memory that these operators return belongs to the LP.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <new>
#include <stdexcept>
#include <vector>

#include <numawarp/model.hpp>

namespace {

std::atomic<std::uint64_t> calls{0};

class Keeper final : public nw::LogicalProcess {
  public:
    explicit Keeper(nw::LpId) {}
    void on_start(nw::Context& context) override { send(context); }
    void on_event(nw::Context& context, const nw::Event&) override {
        rows_.emplace_back(10 + rows_.size() * 7, context.now());
        if (rows_.size() > 20) rows_.pop_front();
        delete[] last_;
        last_ = new (std::nothrow) double[rows_.size()];
        *last_ = rows_.back().back();
        send(context);
    }

  private:
    void send(nw::Context& context) const {
        const auto to = static_cast<std::uint32_t>(context.random().below(context.lps()));
        double sum = last_ != nullptr ? *last_ : 0;
        for (const std::vector<double>& row : rows_) sum += row.front();
        context.schedule(nw::LpId{to}, context.random().exponential(1.0), 0, sum);
    }

    std::list<std::vector<double>> rows_;
    double* last_ = nullptr;
};

class OwnOperators final : public nw::Model {
  public:
    OwnOperators() : Model("own_operators", "replaces operator new, for tests") {}
    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = 16;
        setup.until = 60;
        setup.payload_bytes_max = sizeof(double);
        setup.process = nw::process<Keeper>();
        return setup;
    }
    void finished(const nw::RunSummary&) override {
        if (calls < 1000) throw std::logic_error("operator new of the program was not called");
    }
};

}  // namespace

void* operator new(std::size_t bytes) {
    ++calls;
    if (void* const memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main(int argc, char** argv) { return nw::run<OwnOperators>(argc, argv); }
