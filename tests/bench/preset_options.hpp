// Gives a model its options from a program instead of the command line.
#pragma once

#include <charconv>
#include <map>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

namespace nw::bench {

class PresetOptions final : public Options {
  public:
    explicit PresetOptions(std::map<std::string, std::string> values)
        : values_(std::move(values)) {}

    void add(const std::string& name, double& value, const std::string&) override {
        read(name, value);
    }
    void add(const std::string& name, std::uint32_t& value, const std::string&) override {
        read(name, value);
    }
    void add(const std::string& name, std::uint64_t& value, const std::string&) override {
        read(name, value);
    }
    void add(const std::string& name, std::string& value, const std::string&) override {
        if (values_.contains(name)) value = values_[name];
    }
    void add_flag(const std::string& name, bool& value, const std::string&) override {
        if (values_.contains(name)) value = values_[name] == "true";
    }
    void add_choice(const std::string& name, std::string& value, const std::vector<std::string>&,
                    const std::string& help) override {
        add(name, value, help);
    }

  private:
    template <class T>
    void read(const std::string& name, T& value) {
        const auto found = values_.find(name);
        if (found == values_.end()) return;
        const std::string& text = found->second;
        std::from_chars(text.data(), text.data() + text.size(), value);
    }

    std::map<std::string, std::string> values_;
};

}  // namespace nw::bench
