// SPDX-License-Identifier: Apache-2.0
#include "app/simulation/run_output.hpp"

#include "engine/checkpoint/saved_run.hpp"
#include "results/output/output_merge.hpp"

namespace nw {
namespace {

std::optional<RowSpool> open_spool(const RunPlan& plan, const RankGroup& ranks) {
    const std::string& folder = plan.config.output_directory;
    if (folder.empty()) return std::nullopt;
    if (ranks.is_first())
        RowSpool::remove_left_over(folder, ranks.ranks() == 1 ? 0 : ranks.ranks());
    if (ranks.ranks() == 1) return std::nullopt;
    return std::optional<RowSpool>(std::in_place, folder, index(ranks.rank()));
}

std::unique_ptr<CsvTables> open_tables(const RunPlan& plan, const RankGroup& ranks) {
    const std::string& folder = plan.config.output_directory;
    if (folder.empty() || !ranks.is_first()) return nullptr;
    const std::vector<OutputTable>& tables = plan.setup.outputs;
    const SavedRun* const saved = plan.config.restart_from.get();
    return saved != nullptr ? std::make_unique<CsvTables>(tables, folder, saved->output)
                            : std::make_unique<CsvTables>(tables, folder);
}

}  // namespace

RunOutput::RunOutput(const RunPlan& plan, RankGroup& ranks)
    : ranks_(ranks),
      spool_(open_spool(plan, ranks)),
      tables_(open_tables(plan, ranks)),
      writer_(spool_ ? static_cast<RowSink*>(&*spool_) : tables_.get(), plan.workers) {}

void RunOutput::collect() {
    writer_.finish();
    if (spool_) merge_output(ranks_, *spool_, tables_.get());
}

OutputPosition RunOutput::sync() {
    collect();
    return tables_ ? tables_->sync() : OutputPosition{};
}

void RunOutput::begin() {
    if (tables_) tables_->begin();
}

void RunOutput::finish(const std::vector<OutputRow>& last) {
    collect();
    if (!tables_) return;
    for (const OutputRow& row : last) tables_->write(row);
    tables_->finish();
}

ColumnKinds RunOutput::column_kinds() const {
    return tables_ ? tables_->column_kinds() : ColumnKinds{};
}

}  // namespace nw
