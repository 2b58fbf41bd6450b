// SPDX-License-Identifier: Apache-2.0
#include "results/output/output_merge.hpp"

#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "util/check.hpp"

namespace nw {
namespace {

constexpr std::size_t chunk_bytes = 64 * 1024;

// The rows of one rank, fetched in chunks.
class Source {
  public:
    using Fetch = std::function<std::string()>;

    explicit Source(Fetch fetch) : fetch_(std::move(fetch)), rows_("") { advance(); }

    bool at_end() const noexcept { return at_end_; }
    const OutputRow& row() const noexcept { return row_; }
    void advance() {
        if (rows_.empty()) rows_ = RowReader(fetch_());
        at_end_ = rows_.empty();
        if (!at_end_) row_ = rows_.next();
    }

  private:
    Fetch fetch_;
    RowReader rows_;
    OutputRow row_;
    bool at_end_ = false;
};

void send_rows(RankGroup& ranks, RowSpool& own) {
    std::string chunk;
    do {
        chunk = own.read_some(chunk_bytes);
        ranks.send(RankId{0}, chunk);
    } while (!chunk.empty());
}

void receive_and_merge(RankGroup& ranks, RowSpool& own, CsvTables& tables) {
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(std::make_unique<Source>([&own] { return own.read_some(chunk_bytes); }));
    for (std::uint32_t r = 1; r < ranks.ranks(); ++r)
        sources.push_back(
            std::make_unique<Source>([&ranks, r] { return ranks.receive(RankId{r}); }));

    // All rows of an event are on one rank and keep their order; rows of two ranks never have equal
    // keys.
    const auto later = [&](std::size_t a, std::size_t b) {
        return before(sources[b]->row().key, sources[a]->row().key);
    };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> next(later);
    for (std::size_t s = 0; s < sources.size(); ++s)
        if (!sources[s]->at_end()) next.push(s);
    while (!next.empty()) {
        const std::size_t s = next.top();
        next.pop();
        tables.write(sources[s]->row());
        sources[s]->advance();
        if (!sources[s]->at_end()) next.push(s);
    }
}

}  // namespace

void merge_output(RankGroup& ranks, RowSpool& own, CsvTables* tables) {
    own.finish();
    if (ranks.is_first()) {
        NW_CHECK(tables != nullptr);
        receive_and_merge(ranks, own, *tables);
    } else {
        send_rows(ranks, own);
    }
    own.begin_anew();
}

}  // namespace nw
