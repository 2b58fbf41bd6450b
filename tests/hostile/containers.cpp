// SPDX-License-Identifier: Apache-2.0
// Containers that are used in ways that their documentation forbids. This happens in states that
// the sequential run never has.
#include <algorithm>
#include <any>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "kind.hpp"

namespace hostile {
namespace {

// A common mistake: objects are inserted when they arrive, and erased when they leave. In an
// execution in order, each object is in the map once. If two versions of an object meet in one LP,
// find() may return end().
struct Visitors {
    std::map<std::uint64_t, int> by_number;
};

void enter_visitor(Scene& scene) { scene.kept<Visitors>().by_number[scene.number % 5] = 1; }

void erase_what_is_not_found(Scene& scene) {
    auto& visitors = scene.kept<Visitors>().by_number;
    visitors.erase(visitors.find(hidden(std::uint64_t{1000})));
    // If erase() returns at all, the tree is damaged.
    for (std::uint64_t i = 0; i < 100; ++i) visitors[i * 7 % 100] = 2;
    throw 3;
}

void pop_from_empty_deque(Scene& scene) {
    auto& numbers = scene.kept<std::deque<int>>();
    hidden(numbers.front());
    for (int i = 0; i < 10'000; ++i) numbers.pop_front();
    throw 3;
}

void pop_from_empty_deque_for_ever(Scene& scene) {
    auto& numbers = scene.kept<std::deque<int>>();
    while (numbers.size() != 1) numbers.pop_front();
    throw 3;
}

void pop_from_empty_vector(Scene& scene) {
    auto& numbers = scene.kept<std::vector<int>>();
    for (int i = 0; i < 100; ++i) numbers.pop_back();
    long sum = 0;
    for (const int number : numbers) sum += number;
    hidden(sum);
}

void back_of_empty_vector(Scene&) {
    std::vector<int> numbers;
    hidden(numbers.data());
    hidden(numbers.back());
}

void pop_from_empty_queue(Scene& scene) {
    auto& queue = scene.kept<std::priority_queue<int>>();
    queue.pop();
    hidden(queue.top());
}

void erase_end_of_vector(Scene& scene) {
    auto& numbers = scene.kept<std::vector<std::string>>();
    for (int i = 0; i < 5; ++i) numbers.emplace_back(50, 'e');
    numbers.erase(numbers.end());
    throw 3;
}

void erase_end_of_list(Scene& scene) {
    auto& numbers = scene.kept<std::list<int>>();
    numbers.assign({1, 2, 3});
    numbers.erase(numbers.end());
    for (int i = 0; i < 10; ++i) numbers.pop_front();
    throw 3;
}

// The node of `here` is freed, and its memory belongs to the other list.
void walk_dead_node(Scene& scene) {
    auto& numbers = scene.kept<std::list<int>>();
    numbers.assign({1, 2, 3});
    auto here = std::next(numbers.begin());
    numbers.erase(here);
    std::list<int> others(3, 9);
    while (here != numbers.end()) ++here;
    throw 3;
}

void use_after_rehash(Scene& scene) {
    auto& table = scene.kept<std::unordered_map<int, int>>();
    table[1] = 1;
    auto& value = table.begin()->second;
    const auto begin = table.begin();
    for (int i = 0; i < 10'000; ++i) table[i] = i;
    hidden(value);
    table.clear();
    hidden(begin->second);
    for (auto i = begin; i != table.end(); ++i) hidden(i->second);
    throw 3;
}

void index_too_large(Scene& scene) {
    auto& numbers = scene.kept<std::vector<std::uint64_t>>();
    numbers.resize(10);
    numbers[hidden(std::size_t{1} << 40)] = 7;
}

void index_checked(Scene&) {
    const std::vector<int> numbers(3);
    hidden(numbers.at(hidden(std::size_t{3})));
}

void missing_key(Scene&) {
    const std::map<int, int> numbers;
    hidden(numbers.at(hidden(3)));
}

void sort_without_order(Scene& scene) {
    auto& numbers = scene.kept<std::vector<std::uint64_t>>();
    for (std::uint64_t i = 0; i < 1000; ++i) numbers.push_back(i * i % 17);
    std::sort(numbers.begin(), numbers.end(), [](auto, auto) { return always(); });
    throw 3;
}

void null_string(Scene&) { hidden(std::string(hidden<const char*>(nullptr)).size()); }

void bad_substring(Scene&) { hidden(std::string("abc").substr(hidden(std::size_t{4})).size()); }

void bad_number(Scene&) { hidden(std::stoi(std::string("no number"))); }

void empty_optional(Scene&) {
    const std::optional<int> nothing;
    hidden(nothing.value());
}

void empty_optional_string(Scene&) {
    std::optional<std::string> nothing;
    hidden(&nothing);
    std::string& text = *nothing;
    text.assign(100, 'n');
}

void wrong_alternative(Scene&) {
    const std::variant<int, std::string> value = 5;
    hidden(std::get<std::string>(value).size());
}

struct ThrowsWhenMoved {
    ThrowsWhenMoved() = default;
    ThrowsWhenMoved(ThrowsWhenMoved&&) { throw 5; }
};

void valueless_variant(Scene& scene) {
    auto& value = scene.kept<std::variant<std::string, ThrowsWhenMoved>>();
    value = std::string(100, 'v');
    try {
        value.emplace<ThrowsWhenMoved>(ThrowsWhenMoved());
    } catch (int) {
    }
    std::visit([](auto&) {}, value);
}

void wrong_any(Scene& scene) {
    auto& value = scene.kept<std::any>();
    value = std::string(100, 'a');
    hidden(std::any_cast<int>(value));
}

void empty_function(Scene&) { std::function<void()>()(); }

void null_shared_pointer(Scene&) {
    const std::shared_ptr<std::string> nothing;
    hidden(&nothing);
    hidden(nothing->size());
}

void expired_weak_pointer(Scene&) {
    std::weak_ptr<int> weak;
    { weak = std::make_shared<int>(3); }
    const std::shared_ptr<int> strong(weak);
    hidden(*strong);
}

void dangling_view(Scene&) {
    std::string_view view;
    {
        const std::string text(100'000, 'd');
        view = text;
    }
    long sum = 0;
    for (const char c : view) sum += c;
    hidden(sum);
}

constexpr Kind table[] = {
    {"find-then-erase", "erases end() from a map after a failed search", "",
     erase_what_is_not_found, keeps_heap | dear, Hook::on_event, enter_visitor},
    {"deque-pop-empty", "pops 10,000 elements from an empty deque", "", pop_from_empty_deque,
     keeps_heap | dear},
    {"deque-pop-for-ever", "pops from an empty deque until one element is left", "",
     pop_from_empty_deque_for_ever, keeps_heap | dear},
    {"vector-pop-empty", "pops from an empty vector and reads all elements", "SIGSEGV",
     pop_from_empty_vector, keeps_heap},
    {"vector-back-empty", "reads the last element of an empty vector", "SIGSEGV",
     back_of_empty_vector},
    {"queue-pop-empty", "pops from an empty priority queue", "SIGSEGV", pop_from_empty_queue,
     keeps_heap},
    {"vector-erase-end", "erases the end of a vector of strings", "", erase_end_of_vector,
     keeps_heap},
    {"list-erase-end", "erases the end of a list", "", erase_end_of_list, keeps_heap | dear},
    {"list-dead-node", "walks a list from a deleted node", "", walk_dead_node, keeps_heap | dear},
    {"hash-dead-iterator", "walks a hash table from an invalid iterator", "", use_after_rehash,
     keeps_heap | dear},
    {"index-too-large", "writes to an element far beyond a vector's end", "SIGSEGV",
     index_too_large, keeps_heap},
    {"index-checked", "reads a missing element with vector::at()", "range_check", index_checked},
    {"missing-key", "reads a missing key with map::at()", "map::at", missing_key},
    {"sort-without-order", "sorts with an invalid comparison", "", sort_without_order,
     keeps_heap | dear},
    {"null-string", "makes a string of a null pointer", "null", null_string},
    {"bad-substring", "takes a substring beyond the end", "substr", bad_substring},
    {"bad-number", "converts text without a number to a number", "stoi", bad_number},
    {"empty-optional", "reads the value of an empty optional", "optional", empty_optional},
    {"empty-optional-used", "uses the string of an empty optional", nullptr, empty_optional_string,
     only_out_of_order},
    {"wrong-alternative", "reads another alternative of a variant", "variant", wrong_alternative},
    {"valueless-variant", "visits a variant that lost its value", "valueless", valueless_variant,
     keeps_heap},
    {"wrong-any", "casts a std::any to another type", "any_cast", wrong_any, keeps_heap},
    {"empty-function", "calls an empty std::function", "bad_function_call", empty_function},
    {"null-shared-pointer", "follows a shared_ptr that is null", "SIGSEGV", null_shared_pointer},
    {"expired-weak-pointer", "makes a shared_ptr of an expired weak_ptr", "bad_weak_ptr",
     expired_weak_pointer},
    {"dangling-view", "reads a string_view whose string was destroyed", nullptr, dangling_view,
     only_out_of_order},
};

}  // namespace

std::span<const Kind> containers() { return table; }

}  // namespace hostile
