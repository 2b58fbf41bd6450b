// SPDX-License-Identifier: Apache-2.0
// The methods of --rollback. Each method is one object. The object defines the word of the method,
// the models that the method supports, the data that it keeps for each event, and how it restores a
// state. A new method needs a value of nw::Rollback, a class in rollback_methods.cpp, and an entry
// in the table of that file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <numawarp/rollback.hpp>

#include "lp/history.hpp"

namespace nw {

class StateKeeper;
struct LpRecord;
struct ProcessFactory;
struct StateKeepingRules;

// A rollback of one LP: the operations of the engine that a method uses to restore the LP's state.
class Undoing {
  public:
    virtual LpRecord& lp() noexcept = 0;
    virtual PlatformHeap& heap() noexcept = 0;
    // The position whose state is wanted. coast() may change it to an earlier position.
    virtual History::Ordinal wanted() const noexcept = 0;
    virtual HistoryEntry& entry_at(History::Ordinal position) noexcept = 0;
    // Takes back the random numbers and the sends of the newest entry that still has them, and
    // returns this entry. Returns null if this entry is before the wanted position.
    virtual HistoryEntry* take_back_newest() noexcept = 0;
    void take_back_all() noexcept {
        while (take_back_newest() != nullptr) {
        }
    }
    // Calls on_reverse() for the entry that was taken back last, with its control word. Throws
    // ModelError if the handler fails.
    virtual void call_on_reverse(HistoryEntry& entry) = 0;
    // Coasts forward: executes the entries from `from` to the wanted position again, without sends.
    // Returns false if an event behaved differently than before; this event then becomes the wanted
    // position.
    virtual bool coast(History::Ordinal from) = 0;

  protected:
    ~Undoing() = default;
};

class RollbackMethod {
  public:
    RollbackMethod(const RollbackMethod&) = delete;
    RollbackMethod& operator=(const RollbackMethod&) = delete;

    virtual bool supports(const ProcessFactory& factory) const noexcept = 0;
    // Returns the rules by which a StateKeeper treats LPs of this class. `interval`:
    // --state-saving-interval; 0: auto.
    virtual StateKeepingRules rules(const ProcessFactory& factory,
                                    std::uint32_t interval) const = 0;
    // Restores the state at the wanted position.
    virtual void restore(StateKeeper& keeper, Undoing& undoing) const = 0;

    const Rollback value;
    const std::string_view word;
    // The requirement on a class of LPs, for example "LPs with on_reverse". Empty: any class is
    // supported.
    const std::string_view needs;
    // The rule of --check-model that the model has broken if a restored state is wrong. Empty: no
    // model can cause that.
    const std::string_view rule_at_risk;
    // Whether the method restores the state after a handler that has failed or was interrupted.
    const bool restores_after_failure;
    const bool uses_interval;  // of --state-saving-interval

  protected:
    constexpr RollbackMethod(Rollback value_, std::string_view word_, std::string_view needs_,
                             std::string_view rule, bool after_failure, bool interval) noexcept
        : value(value_),
          word(word_),
          needs(needs_),
          rule_at_risk(rule),
          restores_after_failure(after_failure),
          uses_interval(interval) {}
    ~RollbackMethod() = default;
};

// The first method is the default, which supports any model.
std::span<const RollbackMethod* const> rollback_methods() noexcept;
// Returns null if the value is not one of nw::Rollback.
const RollbackMethod* find_rollback_method(Rollback value) noexcept;
// Requires: the value is one of nw::Rollback.
const RollbackMethod& method_of(Rollback value);

}  // namespace nw
