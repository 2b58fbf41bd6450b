// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/map_picture.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <system_error>

#include "models/traffic/map_sheet.hpp"

namespace traffic {
namespace {

// A class of density, in cars per km and lane. It begins at the bound of the class before, and ends
// at `below`.
// A to F are the Highway Capacity Manual's levels of service for motorways, rounded to metric
// figures. Level A is split into four classes, because traffic is at level A for most of a day.
struct DensityClass {
    double below;
    const char* color;
    const char* text;
};
constexpr DensityClass density_classes[] = {
    {1, "#c9d4dc", "below 1: empty"},
    {2, "#9ecae1", "1 to 2"},
    {4, "#5aa9d6", "2 to 4"},
    {7, "#2b7bba", "4 to 7: free flow (A)"},
    {11, "#41ab5d", "7 to 11: nearly free (B)"},
    {16, "#f2c43d", "11 to 16: dense (C)"},
    {22, "#f28e2b", "16 to 22: heavy (D)"},
    {28, "#e15759", "22 to 28: at capacity (E)"},
    {1e300, "#7f0f2c", "over 28: jam (F)"},
};

const DensityClass& class_of(const RoadObject& road, const RoadRow& row) {
    const double per_lane = row.density / (2 * road.lanes);
    return *std::find_if(std::begin(density_classes), std::end(density_classes),
                         [per_lane](const DensityClass& c) { return per_lane < c.below; });
}

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else
            result += c;
    }
    return result;
}

std::string rounded(double value, int digits = 1) {
    std::ostringstream out;
    out.setf(std::ios::fixed);
    out.precision(digits);
    out << value;
    return out.str();
}

// Returns the value with commas between groups of digits: 12345 becomes "12,345".
std::string grouped(std::uint64_t value) {
    std::string digits = std::to_string(value);
    for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
    return digits;
}

std::string path(const Line& line) {
    std::string result;
    for (const Point& p : line) {
        result += (result.empty() ? "M" : " L") + rounded(p.x) + ' ' + rounded(p.y);
    }
    return result;
}

double road_width(std::uint32_t lanes) { return 1.5 + 1.1 * lanes; }

class Drawing {
  public:
    Drawing(const Network& network, const RoadPlan& plan, const std::vector<RoadRow>& rows)
        : network_(network), plan_(plan), rows_(rows), sheet_(network) {
        rows_.resize(plan.size());
    }

    std::string draw() {
        begin();
        if (sheet_.is_to_scale()) {
            for (const auto& outline : network_.outlines) draw_outline(outline);
        }
        // Draw all white casings before all roads, so that no casing covers a road at a crossing.
        for (const Route& route : network_.routes) {
            out_ << "<path class=\"casing\" stroke-width=\"" << rounded(road_width(route.lanes) + 2)
                 << "\" d=\"" << path(sheet_.route(route)) << "\"/>\n";
        }
        for (std::size_t i = 0; i < plan_.size(); ++i) {
            if (!plan_[i].is_junction) draw_segment(plan_[i], rows_[i]);
        }
        draw_shields();
        for (std::size_t i = 0; i < plan_.size(); ++i) {
            if (plan_[i].is_junction) draw_junction(plan_[i], rows_[i]);
        }
        for (std::size_t i = 0; i < plan_.size(); ++i) {
            if (rows_[i].blocked) draw_accident(plan_[i]);
        }
        for (std::size_t i = 0; i < network_.junctions.size(); ++i) draw_label(i);
        out_ << "</g>\n";
        draw_panel();
        out_ << "</svg>\n";
        return out_.str();
    }

  private:
    void begin() {
        const std::string width = rounded(MapSheet::map_width + MapSheet::panel_width, 0);
        const std::string height = rounded(sheet_.height(), 0);
        out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height
             << "\" width=\"" << width << "\" height=\"" << height << "\">\n"
             << "<style>\n"
                "text{font-family:'Helvetica Neue',Arial,sans-serif;fill:#222}\n"
                ".road,.casing{fill:none;stroke-linejoin:round}\n"
                ".casing{stroke:#fff;stroke-linecap:round}\n"
                ".city{font-size:13px;font-weight:600;paint-order:stroke;stroke:#fff;"
                "stroke-width:3px;stroke-linejoin:round}\n"
                ".shield{font-size:9px;font-weight:700;fill:#fff;text-anchor:middle}\n"
                ".small{font-size:12px}.gray{fill:#666}\n"
                "</style>\n"
             << "<clipPath id=\"frame\"><rect width=\"" << rounded(MapSheet::map_width, 0)
             << "\" height=\"" << height << "\"/></clipPath>\n"
             << "<rect width=\"" << width << "\" height=\"" << height << "\" fill=\"#fff\"/>\n"
             << "<rect width=\"" << rounded(MapSheet::map_width, 0) << "\" height=\"" << height
             << "\" fill=\"" << (network_.outlines.empty() ? "#f6f4ee" : "#e4eef3") << "\"/>\n"
             << "<g clip-path=\"url(#frame)\">\n";
    }

    void draw_outline(const std::vector<Position>& outline) {
        Line line;
        for (const Position& p : outline) line.push_back(sheet_.at(p));
        out_ << "<path d=\"" << path(line) << " Z\" fill=\"#f6f4ee\" stroke=\"#b9c4c9\"/>\n";
    }

    static std::string tooltip(const RoadObject& road, const RoadRow& row) {
        std::string text = escaped(road.name) + "&#10;" + rounded(road.length_km) + " km, 2 x " +
                           std::to_string(road.lanes) + " lanes&#10;" + rounded(row.density) +
                           " cars/km, " + rounded(row.density / (2 * road.lanes)) + " a lane&#10;" +
                           (row.speed ? rounded(*row.speed, 0) + " km/h" : "no cars") + "&#10;" +
                           grouped(row.inside) + " cars inside";
        if (row.accidents > 0) text += "&#10;accidents: " + std::to_string(row.accidents);
        return "<title>" + text + "</title>";
    }

    Line segment_line(const RoadObject& road) const {
        return part(sheet_.route(network_.routes[road.origin]),
                    static_cast<double>(road.piece) / road.pieces,
                    static_cast<double>(road.piece + 1) / road.pieces);
    }

    void draw_segment(const RoadObject& road, const RoadRow& row) {
        out_ << "<path class=\"road\" stroke=\"" << class_of(road, row).color
             << "\" stroke-width=\"" << rounded(road_width(road.lanes)) << "\" d=\""
             << path(segment_line(road)) << "\">" << tooltip(road, row) << "</path>\n";
    }

    void draw_junction(const RoadObject& road, const RoadRow& row) {
        const Point p = sheet_.junction(road.origin);
        const double radius = 3 + std::min(4.0, std::sqrt(road.length_km) / 1.2);
        out_ << "<circle cx=\"" << rounded(p.x) << "\" cy=\"" << rounded(p.y) << "\" r=\""
             << rounded(radius) << "\" fill=\"" << class_of(road, row).color
             << "\" stroke=\"#222\" stroke-width=\"1.2\">" << tooltip(road, row) << "</circle>\n";
    }

    void draw_accident(const RoadObject& road) {
        const Line line = segment_line(road);
        const Point p = part(line, 0, 0.5).back();
        // Draw the sign beside the road, so that the color of the road, which shows the density,
        // stays visible.
        out_ << "<path d=\"M" << rounded(p.x) << ' ' << rounded(p.y - 18)
             << " l6.5 11 h-13 Z\" fill=\"#fff\" stroke=\"#d00000\" stroke-width=\"2\">"
             << "<title>" << escaped(road.name) << "&#10;blocked by an accident</title></path>\n";
    }

    void draw_label(std::size_t index) {
        const Junction& junction = network_.junctions[index];
        if (junction.label.empty()) return;
        const Point p = sheet_.junction(index);
        const double away = 7 + std::min(4.0, std::sqrt(junction.length_km) / 1.2);
        double dx = 0, dy = 0;
        const char* anchor = "middle";
        if (junction.label == "right") dx = away, dy = 4, anchor = "start";
        if (junction.label == "left") dx = -away, dy = 4, anchor = "end";
        if (junction.label == "above") dy = -away - 1;
        if (junction.label == "below") dy = away + 10;
        out_ << "<text class=\"city\" x=\"" << rounded(p.x + dx) << "\" y=\"" << rounded(p.y + dy)
             << "\" text-anchor=\"" << anchor << "\">" << escaped(junction.name) << "</text>\n";
    }

    // Draws the number of each motorway once, in the middle of its longest route. Omits numbers of
    // more than four characters, and motorways whose longest route is shorter than 45 pixels.
    void draw_shields() {
        std::map<std::string, const Route*> longest;
        for (const Route& route : network_.routes) {
            if (route.motorway.size() > 4) continue;
            const Route*& best = longest[route.motorway];
            if (best == nullptr || route.length_km > best->length_km) best = &route;
        }
        for (const auto& [name, route] : longest) {
            const Line line = sheet_.route(*route);
            if (distance(line.front(), line.back()) < 45) continue;
            const Point p = part(line, 0, 0.5).back();
            const double width = 8 + 6.0 * static_cast<double>(name.size());
            out_ << "<rect x=\"" << rounded(p.x - width / 2) << "\" y=\"" << rounded(p.y - 7)
                 << "\" width=\"" << rounded(width)
                 << "\" height=\"14\" rx=\"3\" fill=\"#1d6b3a\" stroke=\"#fff\"/><text "
                    "class=\"shield\" x=\""
                 << rounded(p.x) << "\" y=\"" << rounded(p.y + 3.2) << "\">" << escaped(name)
                 << "</text>\n";
        }
    }

    void text(double y, const std::string& content, const char* style = "class=\"small\"") {
        out_ << "<text " << style << " x=\"" << rounded(MapSheet::map_width + 22) << "\" y=\""
             << rounded(y) << "\">" << content << "</text>\n";
    }

    void draw_panel() {
        double time_s = 0, car_weight = 0, speed_sum = 0;
        std::uint64_t inside = 0, entered = 0, left = 0, accidents = 0, blocked = 0;
        for (const RoadRow& row : rows_) {
            time_s = std::max(time_s, row.time_s);
            inside += row.inside;
            entered += row.entered;
            left += row.left;
            accidents += row.accidents;
            blocked += row.blocked ? 1 : 0;
            if (row.speed) {
                speed_sum += *row.speed * static_cast<double>(row.inside);
                car_weight += static_cast<double>(row.inside);
            }
        }
        const auto minutes = static_cast<std::uint64_t>(std::llround(time_s / 60));
        const std::string clock =
            std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
        const char* heading = "font-size=\"14\" font-weight=\"700\"";
        text(44, escaped(network_.name), "font-size=\"20\" font-weight=\"700\"");
        text(68, "Traffic after " + clock, "font-size=\"16\"");
        text(88,
             rounded(network_.length_km(), 0) + " km, " + std::to_string(plan_.size()) + " objects",
             "class=\"small gray\"");

        text(126, grouped(inside) + " cars on the road", heading);
        if (car_weight > 0) text(145, "mean speed " + rounded(speed_sum / car_weight, 0) + " km/h");
        text(162, grouped(entered) + " entered, " + grouped(left) + " left");
        text(179, grouped(accidents) + (accidents == 1 ? " accident, " : " accidents, ") +
                      grouped(blocked) + (blocked == 1 ? " road" : " roads") + " blocked now");

        text(219, "Cars per km and lane", heading);
        text(235, "mean over the last hour or a part of it", "class=\"small gray\"");
        double y = 246;
        for (const DensityClass& c : density_classes) {
            out_ << "<rect x=\"" << rounded(MapSheet::map_width + 22) << "\" y=\"" << rounded(y)
                 << "\" width=\"34\" height=\"12\" fill=\"" << c.color << "\"/>";
            out_ << "<text class=\"small\" x=\"" << rounded(MapSheet::map_width + 64) << "\" y=\""
                 << rounded(y + 10.5) << "\">" << c.text << "</text>\n";
            y += 20;
        }
        y += 26;
        text(y, "Lanes of a carriageway", heading);
        for (std::uint32_t lanes = 2; lanes <= 4; ++lanes) {
            y += 20;
            out_ << "<path d=\"M" << rounded(MapSheet::map_width + 22) << ' ' << rounded(y - 4)
                 << " h34\" stroke=\"#777\" stroke-width=\"" << rounded(road_width(lanes))
                 << "\"/><text class=\"small\" x=\"" << rounded(MapSheet::map_width + 64)
                 << "\" y=\"" << rounded(y) << "\">" << lanes << "</text>\n";
        }
        y += 30;
        out_ << "<path d=\"M" << rounded(MapSheet::map_width + 39) << ' ' << rounded(y - 11)
             << " l6.5 11 h-13 Z\" fill=\"#fff\" stroke=\"#d00000\" stroke-width=\"2\"/><text "
                "class=\"small\" x=\""
             << rounded(MapSheet::map_width + 64) << "\" y=\"" << rounded(y)
             << "\">blocked by an accident</text>\n";
        if (sheet_.is_to_scale()) draw_scale(y + 40);
        text(y + 76, "Move the pointer over a road to see its figures.", "class=\"small gray\"");
    }

    // Draws a scale bar for 1, 2 or 5 times a power of ten km, at most 150 pixels long.
    void draw_scale(double y) {
        double km = std::pow(10, std::floor(std::log10(150 / sheet_.pixels_per_km())));
        for (const double factor : {5.0, 2.0}) {
            if (km * factor * sheet_.pixels_per_km() <= 150) {
                km *= factor;
                break;
            }
        }
        out_ << "<path d=\"M" << rounded(MapSheet::map_width + 22) << ' ' << rounded(y) << " v5 h"
             << rounded(km * sheet_.pixels_per_km())
             << " v-5\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.5\"/>";
        text(y - 6, rounded(km, km < 1 ? 2 : 0) + " km");
    }

    const Network& network_;
    const RoadPlan& plan_;
    std::vector<RoadRow> rows_;
    MapSheet sheet_;
    std::ostringstream out_;
};

}  // namespace

std::string draw_map(const Network& network, const RoadPlan& plan,
                     const std::vector<RoadRow>& rows) {
    return Drawing(network, plan, rows).draw();
}

void write_map(const std::string& file, const Network& network, const RoadPlan& plan,
               const std::vector<RoadRow>& rows) {
    std::ofstream out(file);
    out << draw_map(network, plan, rows);
    out.close();
    if (!out) throw std::system_error(errno, std::generic_category(), file + ": cannot be written");
}

}  // namespace traffic
