// SPDX-License-Identifier: Apache-2.0
// LPs that read and keep XML documents with libxml2, which has state in the process and in each
// thread. Hooks start the library. The documents belong to the LPs, and are rolled back with them.
#include <libxml/globals.h>
#include <libxml/parser.h>
#include <libxml/tree.h>

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include <numawarp/model.hpp>

namespace {

std::uint64_t hash(std::uint64_t sum, const xmlChar* text) {
    for (; text != nullptr && *text != 0; ++text) sum = (sum ^ *text) * 1099511628211u;
    return sum;
}

std::uint64_t hash(std::uint64_t sum, const xmlNode* node) {
    for (; node != nullptr; node = node->next) {
        sum = hash(sum, node->name);
        if (node->type == XML_TEXT_NODE) sum = hash(sum, node->content);
        if (node->type == XML_ELEMENT_NODE)
            for (const xmlAttr* a = node->properties; a != nullptr; a = a->next)
                sum = hash(hash(sum, a->name), a->children);
        sum = hash(sum, node->children);
    }
    return sum;
}

class Reader final : public nw::LogicalProcess {
  public:
    explicit Reader(nw::LpId) {}
    ~Reader() override { xmlFreeDoc(kept_); }

    void on_start(nw::Context& context) override { send(context); }

    void on_event(nw::Context& context, const nw::Event& event) override {
        sum_ = sum_ * 31 + event.payload<std::uint64_t>();
        // libxml2 converts this text through iconv. About one text in five is not well-formed.
        std::string text = "<?xml version='1.0' encoding='ISO-8859-15'?><towns>";
        for (std::uint64_t i = 0; i < 3 + sum_ % 20; ++i)
            text += fmt::format("<town name='n{}'>\xa4 {} &amp; more</town>", i, sum_ % (i + 7));
        text += sum_ % 5 == 0 ? "</town>" : "</towns>";
        xmlDoc* const document =
            xmlReadMemory(text.data(), static_cast<int>(text.size()), "town.xml", nullptr,
                          XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
        if (document == nullptr) {
            sum_ += static_cast<std::uint64_t>(xmlGetLastError()->code);
            xmlResetLastError();  // otherwise the thread would keep text that belongs to the LP
        } else if (kept_ == nullptr || context.random().chance(0.3)) {
            xmlFreeDoc(kept_);
            kept_ = document;
        } else {
            sum_ = hash(sum_, xmlDocGetRootElement(document));
            xmlFreeDoc(document);
        }
        if (kept_ != nullptr) {
            xmlNewTextChild(xmlDocGetRootElement(kept_), nullptr, BAD_CAST "visit",
                            BAD_CAST fmt::format("{}", sum_).c_str());
            sum_ = hash(sum_, xmlDocGetRootElement(kept_));
        }
        send(context);
    }

  private:
    void send(nw::Context& context) {
        const auto to = static_cast<std::uint32_t>(context.random().below(context.lps()));
        context.schedule(nw::LpId{to}, context.random().exponential(1.0), 0, sum_);
    }

    xmlDoc* kept_ = nullptr;
    std::uint64_t sum_ = 1;
};

class XmlReader final : public nw::Model {
  public:
    XmlReader() : Model("xml_reader", "reads XML in handlers, for tests") {}

    void on_process_start() override { xmlInitParser(); }
    // Uses the library once, so that its data for this thread exist: errors and tables of
    // encodings.
    void on_worker_start() override {
        xmlFreeDoc(
            xmlReadMemory("<a>", 3, "start.xml", nullptr, XML_PARSE_NOERROR | XML_PARSE_NOWARNING));
        xmlResetLastError();
    }

    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = 16;
        setup.until = 60;
        setup.payload_bytes_max = sizeof(std::uint64_t);
        setup.process = nw::process<Reader>();
        return setup;
    }
};

}  // namespace

int main(int argc, char** argv) { return nw::run<XmlReader>(argc, argv); }
