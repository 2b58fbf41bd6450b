// An amount of something: fuel in a tank, money, parts of which one is like the other.
//
//     nw::Container tank{env, 200, 200};   // capacity, and what is in it at the beginning
//     co_await tank.get(40);               // when there is so much
//     co_await tank.put(25);               // when there is so much room
//
// First come, first served: who wants little waits behind who wants much.
#pragma once

#include <string>

#include <numawarp/process/awaited.hpp>
#include <numawarp/process/environment.hpp>

namespace nw {

class Container;

// An amount to be put into a Container, or got from it. An amount that was got for a process that was
// interrupted at that instant goes back.
class [[nodiscard]] Amount final : public Awaited {
  public:
    Amount(const Amount&) = delete;
    Amount& operator=(const Amount&) = delete;
    ~Amount();
    // What co_await returns: nothing.
    void result() noexcept {}

  private:
    friend class Container;
    enum class Way : bool { put, get };
    Amount(Container& container, Way way, double amount);

    Container* container_;
    double amount_;
    Way way_;
};

// An amount, from 0 to a capacity.
class Container {
  public:
    // Requires: a level from 0 to the capacity; a breach is a ModelError.
    explicit Container(Environment& env, double capacity = time_infinity, double level = 0)
        : env_(&env), capacity_(capacity), level_(level) {
        if (!(level >= 0 && level <= capacity))
            throw ModelError("nw::Container: level " + detail::number_text(level) +
                             " must be from 0 to the capacity, " + detail::number_text(capacity));
    }
    Container(const Container&) = delete;
    Container& operator=(const Container&) = delete;

    // Happens when there is so much room. Requires: an amount from 0 to the capacity, and finite; a breach is a
    // ModelError.
    Amount put(double amount) { return Amount(*this, Amount::Way::put, amount); }
    // Happens when there is so much in it. Requires: as for put().
    Amount get(double amount) { return Amount(*this, Amount::Way::get, amount); }

    // How much is in it now.
    double level() const noexcept { return level_; }
    // How much can be in it.
    double capacity() const noexcept { return capacity_; }

  private:
    friend class Amount;
    void serve() noexcept {
        while (serve_puts() || serve_gets()) continue;
    }
    // Each says whether it changed the level.
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

// --- Inline ----------------------------------------------------------------------------------------

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
    // Who stood behind may have its turn now.
    container_->serve();
}

}  // namespace nw
