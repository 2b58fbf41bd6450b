// SPDX-License-Identifier: Apache-2.0
// Print shops. Customers order, dispatchers give each order to one of the shops, the shop's
// printers work on it, and the shop sends the prints. Customers and dispatchers handle events,
// shops are processes.
#include <vector>

#include <numawarp/model.hpp>
#include <numawarp/process.hpp>

struct Parameters {
    std::uint32_t customers = 60, dispatchers = 3, shops = 12, printers = 2;
    double order_mean = 20;
};
constexpr double post = 1, page_time = 0.1, express = 0.2;  // express is a share of the orders
enum Urgency { first, second };

struct Print {
    std::uint32_t customer, pages;
    double ordered;
    bool is_express;
};
struct Order : Print {
    static constexpr nw::EventType type = 1;
};
struct Job : Print {
    static constexpr nw::EventType type = 2;
};
struct Delivery {
    static constexpr nw::EventType type = 3;
    double ordered;
    std::uint32_t pages;
};
struct Wish {
    static constexpr nw::EventType type = 4;
};

struct Customer final : nw::Handles<Customer, Wish, Delivery> {
    const Parameters* p;
    std::vector<std::uint32_t> got;  // pages of each delivery
    nw::Tally wait;

    Customer(nw::LpId, const Parameters* parameters) : p(parameters) {}
    void on_start(nw::Context& c) override { request(c); }
    void request(nw::Context& c) {
        send(c, c.self(), c.random().exponential(p->order_mean), Wish{});
    }
    void on(nw::Context& c, const Wish&) {
        const nw::LpRange dispatchers = c.kinds().range("dispatcher");
        const auto any = static_cast<std::uint32_t>(c.random().below(dispatchers.size()));
        Order order{};
        order.customer = nw::index(c.self());
        order.pages = static_cast<std::uint32_t>(1 + c.random().below(100) + got.size() % 7);
        order.ordered = c.now();
        order.is_express = c.random().chance(express);
        send(c, dispatchers[any], post, order);
    }
    void on(nw::Context& c, const Delivery& delivery) {
        got.push_back(delivery.pages);
        wait.record(c.now(), c.now() - delivery.ordered);
        request(c);
    }
    void on_end(nw::Context& c) override {
        c.output(0, c.kinds().name(c.self()), got.size(), wait.mean());
    }
};

struct Dispatched {
    std::uint32_t next;  // the shop that gets the next order
    nw::Count orders;
};
struct Dispatcher final : nw::PlainStateProcess<Dispatched, nw::Handles<Dispatcher, Order>> {
    nw::LpRange shops;

    explicit Dispatcher(nw::LpId) {}
    void on_start(nw::Context& c) override { shops = c.kinds().range("shop"); }
    void on(nw::Context& c, const Order& order) {
        state.orders.add(c.now());
        Job job{};
        static_cast<Print&>(job) = order;
        send(c, shops[state.next++ % shops.size()], post, job);
    }
    const nw::Count& orders() const { return state.orders; }
};

struct Shop final : nw::ProcessLp {
    using EventTypes = nw::EventList<Job, nw::WakeUp>;
    const Parameters* p;
    nw::Resource printers{env, p->printers};
    nw::TimeAverage inside;

    Shop(nw::LpId, const Parameters* parameters) : p(parameters) {}
    void start() override { env.start(door()); }
    nw::Process door() {
        for (;;) env.start(print(co_await env.receive<Job>()));
    }
    nw::Process print(Job job) {
        inside.add(env.now(), 1);
        auto turn = printers.request(job.is_express ? first : second);
        co_await turn;
        co_await env.delay(page_time * job.pages * env.random().uniform(0.9, 1.1));
        inside.add(env.now(), -1);
        env.send(nw::LpId{job.customer}, post, Delivery{job.ordered, job.pages});
    }
};

struct PrintShops final : nw::Model {
    Parameters p;
    PrintShops() : nw::Model("print_shops", "customers, dispatchers and shops with printers") {}
    void options(nw::Options& options) override {
        options.add("customers", p.customers, "customers", nw::from(1));
        options.add("dispatchers", p.dispatchers, "number of dispatchers that give orders to shops",
                    nw::from(1));
        options.add("shops", p.shops, "print shops", nw::from(1));
        options.add("order-mean", p.order_mean, "mean time between two orders", nw::above(0));
    }
    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps =
            nw::kinds({{"customer", p.customers, nw::process<Customer>(&p)},
                       {"dispatcher", p.dispatchers, nw::process<Dispatcher>(), nw::Rollback::copy},
                       {"shop", p.shops, nw::process<Shop>(&p)}});
        setup.until = 500, setup.lookahead = post;
        setup.outputs = {{"customers", {"customer", "prints", "wait"}}};
        setup.measures = {nw::measure("wait", &Customer::wait),
                          nw::measure("inside", &Shop::inside),
                          nw::measure(
                              "orders", [](const Dispatcher& d) -> auto& { return d.orders(); })};
        return setup;
    }
};

int main(int argc, char** argv) { return nw::run<PrintShops>(argc, argv); }
