// SPDX-License-Identifier: Apache-2.0
// An amount of something: fuel in a tank, money, identical parts.
//
//     nw::Container tank{env, 200, 200};   // the capacity and the initial level
//     co_await tank.get(40);               // waits until it holds 40
//     co_await tank.put(25);               // waits until it has room for 25
//
// First come, first served: a small request waits behind an earlier large request.
#pragma once

#include <string>

#include <numawarp/process/awaited.hpp>
#include <numawarp/process/environment.hpp>

namespace nw {

class Container;

// An amount to be put into a Container or taken from it. If the process is interrupted at the
// instant at which it gets an amount, the amount goes back.
class [[nodiscard]] Amount final : public Awaited {
  public:
    Amount(const Amount&) = delete;
    Amount& operator=(const Amount&) = delete;
    ~Amount();
    // The result of co_await: none.
    void result() noexcept {}

  private:
    friend class Container;
    enum class Way : bool { put, get };
    Amount(Container& container, Way way, double amount);

    Container* container_;
    double amount_;
    Way way_;
};

// An amount between 0 and a capacity.
class Container {
  public:
    // A container with this capacity and level. Requires: a level from 0 to the capacity; a breach
    // throws ModelError.
    explicit Container(Environment& env, double capacity = time_infinity, double level = 0)
        : env_(&env), capacity_(capacity), level_(level) {
        if (!(level >= 0 && level <= capacity))
            throw ModelError("nw::Container: level " + detail::number_text(level) +
                             " must be from 0 to the capacity, " + detail::number_text(capacity));
    }
    Container(const Container&) = delete;
    Container& operator=(const Container&) = delete;

    // Puts an amount into the container. Happens when there is room for the amount. Requires: a
    // finite amount from 0 to the capacity; a breach throws ModelError.
    Amount put(double amount) { return Amount(*this, Amount::Way::put, amount); }
    // Takes an amount from the container. Happens when the container holds this amount. Requires:
    // as for put().
    Amount get(double amount) { return Amount(*this, Amount::Way::get, amount); }

    // The amount in the container now.
    double level() const noexcept { return level_; }
    // The largest amount that the container can hold.
    double capacity() const noexcept { return capacity_; }

  private:
    friend class Amount;
    void serve() noexcept {
        while (serve_puts() || serve_gets()) continue;
    }
    // Both functions return true if they have changed the level.
    bool serve_puts() noexcept {
        return serve(
            puts_, [&](double amount) { return level_ + amount <= capacity_; }, 1);
    }
    bool serve_gets() noexcept {
        return serve(
            gets_, [&](double amount) { return amount <= level_; }, -1);
    }
    template <class Fits>
    bool serve(detail::Queue<Amount>& queue, Fits&& fits, int sign) noexcept {
        bool has_served = false;
        while (!queue.is_empty() && fits(queue.front().amount_)) {
            Amount& first = queue.front();
            detail::Queue<Amount>::remove(first);
            level_ += sign * first.amount_;
            first.happen();
            has_served = true;
        }
        return has_served;
    }

    Environment* env_;
    double capacity_;
    double level_;
    detail::Queue<Amount> puts_;
    detail::Queue<Amount> gets_;
};

// --- Inline --------------------------------------------------------------------------------------

inline Amount::Amount(Container& container, Way way, double amount)
    : Awaited(*container.env_), container_(&container), amount_(amount), way_(way) {
    if (!(amount >= 0 && amount <= container.capacity_ && amount < time_infinity))
        throw ModelError("nw::Container: amount " + detail::number_text(amount) +
                         " must be finite and from 0 to the capacity, " +
                         detail::number_text(container.capacity_));
    (way == Way::put ? container.puts_ : container.gets_).push_back(*this);
    container.serve();
}

inline Amount::~Amount() {
    if (way_ == Way::get || detail::Queue<Amount>::has(*this)) check_used();
    if (detail::Queue<Amount>::has(*this)) {
        detail::Queue<Amount>::remove(*this);
    } else if (way_ == Way::get && !was_accepted()) {
        container_->level_ += amount_;
    } else {
        return;
    }
    // The requests behind this request may be served now.
    container_->serve();
}

}  // namespace nw
