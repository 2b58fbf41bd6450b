// SPDX-License-Identifier: Apache-2.0
// Cinemas with one counter and three films each. When a film is sold out, all people who queue for
// it leave. With --move, a share of these people walks to a cinema drawn at random.
#include <numawarp/process.hpp>

constexpr std::uint32_t films = 3, seats = 50, most_tickets = 6;  // most_tickets: of one person
constexpr double buying = 1, refused = 0.5, walk = 10;            // minutes
struct Person {
    std::uint32_t film, tickets;
};

struct Cinema final : nw::ProcessLp {
    struct Film {
        nw::Signal sold_out;
        std::uint32_t available = seats;
        nw::Count reneged{};
        double closed_at = -1;
    };
    const double arrival_mean, move;
    nw::Resource counter{env};
    nw::Count reneged;
    nw::Tally sold_out_at;
    Film programme[films] = {{nw::Signal(env)}, {nw::Signal(env)}, {nw::Signal(env)}};

    Cinema(nw::LpId, double mean, double share) : arrival_mean(mean), move(share) {}
    void start() override { env.start(arrivals(), street()); }
    nw::Process arrivals() {
        for (;;) {
            co_await env.delay(env.random().exponential(arrival_mean));
            const auto film = static_cast<std::uint32_t>(env.random().below(films));
            const auto tickets = static_cast<std::uint32_t>(1 + env.random().below(most_tickets));
            if (programme[film].available > 0) env.start(visit({film, tickets}));
        }
    }
    // Receives the people that come from other cinemas.
    nw::Process street() {
        for (;;) env.start(visit(co_await env.receive<Person>()));
    }
    // A person queues at the counter, and leaves if the film is sold out before their turn.
    nw::Process visit(Person person) {
        Film& film = programme[person.film];
        auto turn = counter.request();
        co_await (turn | film.sold_out);
        if (film.sold_out.is_on()) {
            film.reneged.add(env.now()), reneged.add(env.now());
            if (env.random().chance(move)) env.send(env.random().lp(), walk, person);
            co_return;
        }
        const bool is_enough = person.tickets <= film.available;
        if (is_enough) film.available -= person.tickets;
        if (is_enough && film.available < 2) close(film);
        co_await env.delay(is_enough ? buying : refused);
    }
    // Called when fewer than two tickets are left: the film counts as sold out.
    void close(Film& film) {
        film.available = 0, film.closed_at = env.now();
        sold_out_at.record(env.now(), env.now()), film.sold_out.turn_on();
    }
    void finish() override {
        for (const Film& film : programme)
            env.output(0, nw::index(env.self()), film.closed_at, film.reneged.count());
    }
};

struct Movies final : nw::Model {
    std::uint32_t cinemas = 100;
    double arrival_mean = 0.5, move = 0;
    Movies() : nw::Model("movies", "cinemas whose films are sold out while people queue") {}
    void options(nw::Options& options) override {
        options.add("cinemas", cinemas, "cinemas, one LP each", nw::from(1));
        options.add("arrival-mean", arrival_mean, "mean time between two persons", nw::above(0));
        options.add("move", move, "share of people without a seat that try another cinema",
                    nw::from(0).to(1));
    }
    nw::Setup setup() override {
        nw::Setup setup{.lps = cinemas, .until = 120, .lookahead = walk};
        setup.payload_bytes_max = sizeof(Person);
        setup.process = nw::process<Cinema>(arrival_mean, move);
        setup.outputs = {{"films", {"cinema", "sold_out_at", "reneged"}}};
        setup.measures = {nw::measure("sold_out_at", &Cinema::sold_out_at),
                          nw::measure("reneged", &Cinema::reneged)};
        return setup;
    }
};

int main(int argc, char** argv) { return nw::run<Movies>(argc, argv); }
