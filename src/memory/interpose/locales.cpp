// SPDX-License-Identifier: Apache-2.0
// Locales in handlers. Each requested locale is created once in the process and never freed. So a
// handler that is undone and runs again gets the same locale, and freeing a locale once or twice
// does nothing. A std::locale("…") in an LP's state belongs to the LP and is rolled back with the
// LP. The data of libc that the facets of this locale use are not rolled back.
//
// Changes of the process's locale are refused in a handler. A handler that changes the thread's
// locale must restore it before it returns (runtime_state.hpp).
#include <locale.h>
#include <wchar.h>

#include <locale>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "memory/handler/eternal_locale.hpp"
#include "memory/handler/heap_scope.hpp"
#include "memory/handler/runtime_state.hpp"
#include "memory/interpose/original.hpp"
#include "memory/interpose/refuse.hpp"
#include "util/locks.hpp"

extern "C" {
// The names under which libstdc++ calls these functions.
locale_t __newlocale(int categories, const char* name, locale_t base);
locale_t __duplocale(locale_t locale);
void __freelocale(locale_t locale);
}

namespace {

using nw::interpose::original_of;

constinit auto original_newlocale = original_of(&::newlocale, "newlocale");
constinit auto original_duplocale = original_of(&::duplocale, "duplocale");
constinit auto original_freelocale = original_of(&::freelocale, "freelocale");
constinit auto original_uselocale = original_of(&::uselocale, "uselocale");
constinit auto original_setlocale = original_of(&::setlocale, "setlocale");
constinit nw::interpose::Original<std::locale, const std::locale&> original_global(
    "_ZNSt6locale6globalERKS_");

// Conversions between bytes and wide characters are loaded at their first use. ASCII needs none.
void load_conversions() noexcept { static_cast<void>(::btowc(0xe9)); }

// Loads the conversions of a locale now, because otherwise the first use may be in a handler.
locale_t with_conversions(locale_t locale) noexcept {
    if (locale == nullptr) return nullptr;
    const locale_t outer = original_uselocale(locale);
    load_conversions();
    original_uselocale(outer);
    return locale;
}

// The locales that handlers have requested. The object is never destroyed, because locales may be
// freed until the process ends.
class KeptLocales {
  public:
    locale_t find(int categories, const char* name, locale_t base) {
        const Key key{categories, name, base};  // before the lock: `name` may be an invalid pointer
        const nw::LockGuard lock(mutex_);
        locale_t& kept = made_[key];
        if (kept != nullptr) return kept;
        const locale_t copy = base != nullptr ? original_duplocale(base) : nullptr;
        kept = original_newlocale(categories, name, copy);
        if (kept == nullptr) {
            if (copy != nullptr) original_freelocale(copy);
            made_.erase(key);
            return nullptr;
        }
        return keep(kept);
    }

    // Returns `original` itself, which is never freed from now on. For LC_GLOBAL_LOCALE, returns a
    // copy of the process's locale.
    locale_t copy(locale_t original) {
        const nw::LockGuard lock(mutex_);
        if (original == LC_GLOBAL_LOCALE) {
            // The process's locale does not change while handlers run.
            if (of_process_ == nullptr) of_process_ = keep(original_duplocale(original));
            return of_process_;
        }
        kept_.insert(original);
        return original;
    }

    bool has(locale_t locale) {
        const nw::LockGuard lock(mutex_);
        return kept_.contains(locale);
    }

    void process_changed() {
        const nw::LockGuard lock(mutex_);
        of_process_ = nullptr;
    }

  private:
    using Key = std::tuple<int, std::string, locale_t>;

    locale_t keep(locale_t locale) NW_REQUIRES(mutex_) {
        kept_.insert(locale);
        return with_conversions(locale);
    }

    nw::Mutex mutex_;
    std::map<Key, locale_t> made_ NW_GUARDED_BY(mutex_);
    std::set<locale_t> kept_ NW_GUARDED_BY(mutex_);
    locale_t of_process_ NW_GUARDED_BY(mutex_) = nullptr;
};

KeptLocales& kept_locales() {
    static KeptLocales* const kept = new KeptLocales;
    return *kept;
}

}  // namespace

extern "C" {

locale_t newlocale(int categories, const char* name, locale_t base) {
    if (nw::current_heap == nullptr || name == nullptr)
        return with_conversions(original_newlocale(categories, name, base));
    const nw::PlatformScope platform;
    return kept_locales().find(categories, name, base);
}

locale_t duplocale(locale_t locale) {
    if (nw::current_heap == nullptr) return original_duplocale(locale);
    const nw::PlatformScope platform;
    return kept_locales().copy(locale);
}

void freelocale(locale_t locale) {
    const bool in_handler = nw::current_heap != nullptr;
    const nw::PlatformScope platform;
    if (!in_handler && !kept_locales().has(locale)) original_freelocale(locale);
}

locale_t __newlocale(int categories, const char* name, locale_t base) {
    return newlocale(categories, name, base);
}
locale_t __duplocale(locale_t locale) { return duplocale(locale); }
void __freelocale(locale_t locale) { freelocale(locale); }

locale_t uselocale(locale_t locale) {
    if (locale != nullptr) {
        if (nw::current_heap != nullptr)
            nw::note_locale_change();
        else
            nw::set_thread_locale(locale);
    }
    return original_uselocale(locale);
}

char* setlocale(int category, const char* locale) {
    if (locale != nullptr)
        nw::interpose::refuse_in_handler(
            "the handler called setlocale(), which changes the whole process; allowed: a "
            "std::locale of the LP, newlocale(), or setlocale() in on_process_start()");
    const nw::PlatformScope platform;
    char* const name = original_setlocale(category, locale);
    if (name != nullptr && locale != nullptr) {
        load_conversions();
        kept_locales().process_changed();
    }
    return name;
}

}  // extern "C"

std::locale std::locale::global(const std::locale& locale) {
    nw::interpose::refuse_in_handler(
        "the handler called std::locale::global(), which changes the whole process; allowed: "
        "imbue(), "
        "or std::locale::global() in on_process_start()");
    const nw::PlatformScope platform;
    nw::make_eternal(locale);
    return original_global.function()(locale);
}
