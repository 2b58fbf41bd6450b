// SPDX-License-Identifier: Apache-2.0
// Memory that is freed wrongly, and memory that is written wrongly.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "kind.hpp"

namespace hostile {
namespace {

int global_number = 5;

void free_twice(Scene&) {
    int* const number = new int(3);
    delete hidden(number);
    delete hidden(number);
}

void malloc_free_twice(Scene&) {
    void* const block = std::malloc(300);
    std::free(hidden(block));
    std::free(hidden(block));
}

void free_large_twice(Scene&) {
    void* const block = std::malloc(300'000);
    std::free(hidden(block));
    std::free(hidden(block));
}

void free_inside(Scene&) {
    char* const block = static_cast<char*>(std::malloc(64));
    std::free(hidden(block + 16));
}

// LP 7 frees a block of LP 0, and LP 0 frees a block of LP 7.
struct Own {
    char* block = static_cast<char*>(std::malloc(48));
};
char* volatile block_of_lp[8] = {};

void publish_block(Scene& scene) {
    block_of_lp[nw::index(scene.context().self())] = scene.kept<Own>().block;
}

void free_block_of_another(Scene& scene) {
    char* const block = block_of_lp[nw::index(scene.context().self()) == 0 ? 7 : 0];
    if (block == nullptr) throw 3;  // the other LP has not published its block yet
    std::free(hidden(block));
}

void free_setup_data(Scene& scene) { delete hidden(scene.data.block); }
void realloc_setup_data(Scene& scene) { hidden(std::realloc(hidden(scene.data.text), 128)); }
void free_global(Scene&) { std::free(hidden(&global_number)); }
void realloc_global(Scene&) { hidden(std::realloc(hidden(&global_number), 64)); }

void delete_from_stack(Scene&) {
    int number = 3;
    delete hidden(&number);
}

void free_wild(Scene&) { std::free(hidden(reinterpret_cast<void*>(0x1234'5678'9ab0))); }

void realloc_inside(Scene&) {
    char* const block = static_cast<char*>(std::malloc(64));
    hidden(std::realloc(hidden(block + 16), 128));
}

void realloc_freed(Scene&) {
    void* const block = std::malloc(64);
    std::free(hidden(block));
    hidden(std::realloc(hidden(block), 1000));
}

void mismatched_delete(Scene&) {
    int* const numbers = new int[10];
    delete hidden(numbers);
    void* const block = std::malloc(30);
    ::operator delete(hidden(block));
}

void swallow_bad_free(Scene&) {
    try {
        std::free(hidden(&global_number));
    } catch (...) {
    }
}

void bad_free_then_throw(Scene&) {
    std::free(hidden(&global_number));
    throw 5;
}

void overflow_little(Scene&) {
    char* const block = static_cast<char*>(std::malloc(40));
    std::memset(hidden(block), 'o', 56);
    std::free(block);
}

void overflow_much(Scene&) {
    char* const block = static_cast<char*>(std::malloc(40));
    std::memset(hidden(block), 'o', std::size_t{1} << 40);
}

void read_beyond(Scene&) {
    volatile char* block = static_cast<char*>(std::malloc(40));
    long sum = 0;
    for (std::size_t i = 0; always(); i += 4096) sum += hidden(block)[i];
    hidden(sum);
}

void use_after_free(Scene&) {
    std::string* const text = new std::string(100, 't');
    delete hidden(text);
    char* const block = static_cast<char*>(std::malloc(sizeof(std::string)));
    std::memset(hidden(block), 0x7f, sizeof(std::string));
    hidden(text)->append("and more");
}

void write_setup_data(Scene& scene) { const_cast<int&>(scene.data.numbers[3]) = 77; }

void write_setup_map(Scene& scene) {
    const_cast<std::map<int, std::string>&>(scene.data.names)[3] = "three";
}

void copy_shared_pointer(Scene& scene) {
    const std::shared_ptr<std::string> mine = scene.data.word;
    hidden(mine->size());
}

// These functions change variables of the program, which are not memory of setup(). The documents
// state that numawarp does not protect such variables; but the engine itself must not fail.
void change_static(Scene&) {
    static volatile long times = 0;
    times = times + 1;
    global_number = 6;
}

std::map<int, std::string> global_map;

void grow_global_map(Scene& scene) {
    global_map[static_cast<int>(scene.number)] = std::string(100, 'g');
}

void grow_global_map_and_crash(Scene& scene) {
    grow_global_map(scene);
    crash();
}

constexpr Kind table[] = {
    {"delete-twice", "deletes an object twice", "twice", free_twice},
    {"free-twice", "frees a block twice", "twice", malloc_free_twice},
    {"free-large-twice", "frees a block of 300,000 bytes twice", "twice", free_large_twice},
    {"free-inside", "frees an address inside a block", "inside", free_inside},
    {"free-of-another-lp", "frees a block of another LP", "another LP", free_block_of_another,
     keeps_heap | one_process, Hook::on_event, publish_block},
    {"delete-setup-data", "deletes an object that setup() allocated", "that setup() allocated",
     free_setup_data},
    {"realloc-setup-data", "reallocates memory that setup() allocated", "that setup() allocated",
     realloc_setup_data},
    {"free-global", "frees a global variable", "not allocated by its LP", free_global},
    {"realloc-global", "reallocates a global variable", "not allocated by its LP", realloc_global},
    {"delete-from-stack", "deletes an object on the stack", "not allocated by its LP",
     delete_from_stack},
    {"free-wild", "frees an address that was never allocated", "not allocated by its LP",
     free_wild},
    {"realloc-inside", "reallocates an address inside a block", "inside", realloc_inside},
    {"realloc-freed", "reallocates memory that it has freed", "twice", realloc_freed},
    {"mismatched-delete", "deletes memory from new[] and malloc()", nullptr, mismatched_delete},
    {"swallow-bad-free", "frees an invalid address where it catches all exceptions",
     "not allocated by its LP", swallow_bad_free},
    {"bad-free-then-throw", "frees an invalid address and throws", "not a std::exception",
     bad_free_then_throw},
    {"overflow-little", "writes 16 bytes past the end of a block", nullptr, overflow_little,
     keeps_heap},
    {"overflow-much", "writes a TiB past the end of a block", "SIGSEGV", overflow_much, keeps_heap},
    {"read-beyond", "reads past the end of a block and never stops", "SIGSEGV", read_beyond},
    {"use-after-free", "uses a string that it has deleted", "", use_after_free, keeps_heap},
    {"write-setup-data", "writes to memory that setup() allocated", "", write_setup_data},
    {"write-setup-map", "adds to a map that setup() allocated", "", write_setup_map},
    {"shared-pointer-copied", "copies and drops a shared_ptr that setup() allocated", "",
     copy_shared_pointer},
    {"static-changed", "changes static variables", nullptr, change_static},
    {"global-map-grown", "adds nodes from the LP's heap to a global map", nullptr, grow_global_map,
     only_out_of_order | hurts_others},
    {"global-map-grown-crash", "adds to a global map and crashes", "SIGSEGV",
     grow_global_map_and_crash, hurts_others},
};

}  // namespace

std::span<const Kind> blocks() { return table; }

}  // namespace hostile
