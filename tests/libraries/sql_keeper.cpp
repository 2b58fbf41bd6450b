// SPDX-License-Identifier: Apache-2.0
// LPs whose state is a database: SQLite in memory, one database per LP. A hook starts the library.
// The databases belong to the LPs, and a rollback restores their tables.
#include <sqlite3.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include <numawarp/model.hpp>

namespace {

class Keeper final : public nw::LogicalProcess {
  public:
    explicit Keeper(nw::LpId) {
        check(sqlite3_open(":memory:", &database_));
        run("CREATE TABLE visits (id INTEGER PRIMARY KEY, time REAL, word INTEGER, note TEXT)");
        run("CREATE INDEX by_word ON visits (word)");
    }
    ~Keeper() override { sqlite3_close(database_); }

    void on_start(nw::Context& context) override { send(context, 1); }

    void on_event(nw::Context& context, const nw::Event& event) override {
        const std::uint64_t word = event.payload<std::uint64_t>() % 1000;
        run(fmt::format("INSERT INTO visits (time, word, note) VALUES ({}, {}, 'visit of {:0>60}')",
                        context.now(), word, word));
        if (context.random().chance(0.2))
            run(fmt::format("DELETE FROM visits WHERE word < {}", context.random().below(500)));
        if (context.random().chance(0.2)) run("UPDATE visits SET word = word + 7 WHERE id % 3 = 1");
        send(context, sum());
    }

  private:
    void check(int status) {
        if (status != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(database_));
    }

    void run(const std::string& statement) {
        check(sqlite3_exec(database_, statement.c_str(), nullptr, nullptr, nullptr));
    }

    std::uint64_t sum() {
        sqlite3_stmt* query = nullptr;
        check(sqlite3_prepare_v2(database_,
                                 "SELECT count(*) * 1000 + total(word) + total(length(note)) "
                                 "FROM visits WHERE word > 100",
                                 -1, &query, nullptr));
        sqlite3_step(query);
        const auto result = static_cast<std::uint64_t>(sqlite3_column_int64(query, 0));
        check(sqlite3_finalize(query));
        return result;
    }

    void send(nw::Context& context, std::uint64_t word) {
        const auto to = static_cast<std::uint32_t>(context.random().below(context.lps()));
        context.schedule(nw::LpId{to}, context.random().exponential(1.0), 0, word);
    }

    sqlite3* database_ = nullptr;
};

class SqlKeeper final : public nw::Model {
  public:
    SqlKeeper() : Model("sql_keeper", "keeps databases in LPs, for tests") {}

    // Switches off counters of the whole process, to which all LPs would write.
    void on_process_start() override {
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
        sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
        if (sqlite3_initialize() != SQLITE_OK) throw std::runtime_error("no SQLite");
    }

    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = 16;
        setup.until = 40;
        setup.payload_bytes_max = sizeof(std::uint64_t);
        setup.process = nw::process<Keeper>();
        return setup;
    }
};

}  // namespace

int main(int argc, char** argv) { return nw::run<SqlKeeper>(argc, argv); }
