// SPDX-License-Identifier: Apache-2.0
// Objects of one type in the order of their arrival: parts on a belt, letters, free vehicles.
//
//     nw::Store<Car> lot{env, 10};                                    // room for 10
//     co_await lot.put(car);                                          // waits until there is room
//     Car first = co_await lot.get();                                 // waits for an object
//     Car red = co_await lot.get([](const Car& c) { return c.red; }); // waits for a red car
//
// First come, first served, except that a get() without a matching object does not block later
// get() calls. Messages for an LP are in a Store, too: Environment::receive().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <numawarp/process/awaited.hpp>
#include <numawarp/process/environment.hpp>

namespace nw {

// One object to be taken from a Store. If the process was interrupted at that instant or has
// stopped waiting, it does not take the object. The object then goes back to the front of the
// store.
template <class T>
class [[nodiscard]] Get : public Awaited {
  public:
    // Called by Store::get(): any object matches.
    explicit Get(Store<T>& store) : Get(store, nullptr) { enter(); }
    Get(const Get&) = delete;
    Get& operator=(const Get&) = delete;
    ~Get();

    // Returns the object. Requires: the get() has happened, and its object was not taken before; a
    // breach throws ModelError.
    T value() {
        note_used();
        if (!object_) throw ModelError("nw::Store: value() of a get() that has no object");
        T object = std::move(*object_);
        object_.reset();
        return object;
    }
    // The result of co_await: the object.
    T result() { return value(); }

  protected:
    // Returns true if the object matches.
    using Wants = bool (*)(const Get&, const T&);
    // Does not enter the queue: the constructor of the final class calls enter().
    Get(Store<T>& store, Wants wants) : Awaited(*store.env_), store_(&store), wants_(wants) {}
    // Enters the queue.
    void enter() {
        store_->gets_.push_back(*this);
        store_->serve();
    }

  private:
    friend class Store<T>;
    Store<T>* store_;
    Wants wants_;  // null: any object matches
    std::optional<T> object_{};
};

// A get() of an object for which what(object) is true.
template <class T, class What>
class [[nodiscard]] FilteredGet final : public Get<T> {
  public:
    // Called by Store::get(what).
    FilteredGet(Store<T>& store, What what)
        : Get<T>(store, &FilteredGet::wants), what_(std::move(what)) {
        this->enter();
    }

  private:
    static bool wants(const Get<T>& get, const T& object) {
        return static_cast<const FilteredGet&>(get).what_(object);
    }
    What what_;
};

// One object to be put into a Store. Happens when there is room.
template <class T>
class [[nodiscard]] Put final : public Awaited {
  public:
    // Called by Store::put().
    Put(Store<T>& store, T object);
    Put(const Put&) = delete;
    Put& operator=(const Put&) = delete;
    ~Put() {
        if (!detail::Queue<Put>::has(*this)) return;
        this->check_used();  // without a wait the object is lost
        detail::Queue<Put>::remove(*this);
    }
    // The result of co_await: none.
    void result() noexcept {}

  private:
    friend class Store<T>;
    T object_;
};

// A queue of objects with a limited capacity.
template <class T>
class Store {
  public:
    // An empty store with room for `capacity` objects. Throws ModelError if `capacity` is 0.
    explicit Store(Environment& env, std::size_t capacity = SIZE_MAX)
        : env_(&env), capacity_(capacity) {
        if (capacity == 0) throw ModelError("nw::Store: the capacity is 0; allowed: 1 or more");
    }
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    // Puts an object into the store. Happens when there is room.
    Put<T> put(T object) { return Put<T>(*this, std::move(object)); }
    // Takes the first object, which co_await returns.
    Get<T> get() { return Get<T>(*this); }
    // Takes the first object for which what(object) is true.
    template <class What>
    FilteredGet<T, std::decay_t<What>> get(What&& what) {
        return FilteredGet<T, std::decay_t<What>>(*this, std::forward<What>(what));
    }
    // Puts an object into the store without waiting, even above the capacity.
    void add(T object) {
        objects_.push_back(std::move(object));
        serve();
    }

    // The objects that are in the store now, in their order.
    const std::deque<T>& objects() const noexcept { return objects_; }
    // The number of objects that are in the store now.
    std::size_t size() const noexcept { return objects_.size(); }
    // The number of objects for which there is room.
    std::size_t capacity() const noexcept { return capacity_; }

  private:
    friend class Get<T>;
    friend class Put<T>;
    void serve() {
        for (bool goes_on = true; goes_on;) {
            take_puts();
            const std::size_t before = objects_.size();
            gets_.visit([&](Get<T>& get) { return serve(get); });
            goes_on = objects_.size() < before && !puts_.is_empty();
        }
    }
    void take_puts() {
        while (!puts_.is_empty() && objects_.size() < capacity_) {
            Put<T>& first = puts_.front();
            detail::Queue<Put<T>>::remove(first);
            objects_.push_back(std::move(first.object_));
            first.happen();
        }
    }
    // Returns true if objects are left for other get() calls.
    bool serve(Get<T>& get) {
        auto object = objects_.begin();
        if (get.wants_ != nullptr)
            object = std::find_if(object, objects_.end(),
                                  [&](const T& candidate) { return get.wants_(get, candidate); });
        if (object == objects_.end()) return !objects_.empty();
        detail::Queue<Get<T>>::remove(get);
        get.object_ = std::move(*object);
        objects_.erase(object);
        get.happen();
        return !objects_.empty();
    }

    Environment* env_;
    std::size_t capacity_;
    std::deque<T> objects_;
    detail::Queue<Put<T>> puts_;
    detail::Queue<Get<T>> gets_;
};

// --- Inline --------------------------------------------------------------------------------------

template <class T>
Get<T>::~Get() {
    check_used();
    detail::Queue<Get>::remove(*this);
    if (!object_) return;
    store_->objects_.push_front(std::move(*object_));
    store_->serve();
}

template <class T>
Put<T>::Put(Store<T>& store, T object) : Awaited(*store.env_), object_(std::move(object)) {
    store.puts_.push_back(*this);
    store.serve();
}

// --- Messages ------------------------------------------------------------------------------------

// Holds the messages of one kind.
template <class Message>
struct Environment::StoreMailbox final : Mailbox {
    explicit StoreMailbox(Environment& env)
        : Mailbox(message_type<Message>(), &typeid(Message)), messages(env) {}
    void deliver(const Event& event) override {
        EventList<Message>::visit(event, [&](const Message& letter) { messages.add(letter); });
    }
    Store<Message> messages;
};

template <class Message>
Store<Message>& Environment::mailbox() {
    constexpr EventType type = message_type<Message>();
    for (const auto& mailbox : mailboxes_) {
        if (mailbox->type != type) continue;
        if (*mailbox->message != typeid(Message))
            throw ModelError("two kinds of messages have type " + std::to_string(type) +
                             ": give each kind its own `static constexpr nw::EventType type`");
        return static_cast<StoreMailbox<Message>&>(*mailbox).messages;
    }
    auto added = std::make_unique<StoreMailbox<Message>>(*this);
    Store<Message>& messages = added->messages;
    mailboxes_.push_back(std::move(added));
    for (const Letter& letter : std::exchange(letters_, {})) {
        if (letter.type == type)
            mailboxes_.back()->deliver(Event(now_, letter.sender, type, letter.bytes));
        else
            letters_.push_back(letter);
    }
    return messages;
}

inline void Environment::deliver(const Event& event) {
    for (const auto& mailbox : mailboxes_)
        if (mailbox->type == event.type()) return mailbox->deliver(event);
    const auto bytes = event.bytes();
    letters_.push_back({event.sender(), event.type(), {bytes.begin(), bytes.end()}});
}

template <class Message>
Get<Message> Environment::receive() {
    return mailbox<Message>().get();
}
template <class Message, class What>
auto Environment::receive(What&& what) {
    return mailbox<Message>().get(std::forward<What>(what));
}

}  // namespace nw
