// SPDX-License-Identifier: Apache-2.0
#include "report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace mapsim {

namespace {

constexpr std::array kNodePaints{
    Paint{"#332288", "#8f86e0"}, Paint{"#88ccee", "#88ccee"}, Paint{"#117733", "#4fae6c"},
    Paint{"#44aa99", "#5cc5b3"}, Paint{"#999933", "#b9b955"}, Paint{"#4477aa", "#6f9fd0"},
    Paint{"#225555", "#6b9c9c"}, Paint{"#aabbcc", "#aabbcc"}, Paint{"#ccddaa", "#ccddaa"},
    Paint{"#77aadd", "#77aadd"}, Paint{"#225522", "#5f9a5f"}, Paint{"#bbcc33", "#c8d65a"}};
constexpr std::array kTensorPaints{Paint{"#cc6677", "#d97b8b"}, Paint{"#ddcc77", "#ddcc77"},
                                   Paint{"#882255", "#c05f92"}, Paint{"#ee8866", "#ee8866"},
                                   Paint{"#aa4499", "#c46fb6"}, Paint{"#ffaabb", "#ffaabb"}};

constexpr std::array kPalePaints{Paint{"#9ecae1", "#2f5f7d"}, Paint{"#6baed6", "#22648f"},
                                 Paint{"#74c476", "#276b3c"}, Paint{"#fdd0a2", "#7a4f22"},
                                 Paint{"#bdbdbd", "#5a5d62"}, Paint{"#c6dbef", "#2f4d6b"},
                                 Paint{"#c7e9c0", "#2f5a3a"}, Paint{"#dadaeb", "#4b4870"},
                                 Paint{"#fcbba1", "#7a3f33"}, Paint{"#d9d9d9", "#55585d"}};

struct Prefix {
  double factor;
  const char* name;
};
constexpr std::array kPrefixes{Prefix{1e15, "P"},  Prefix{1e12, "T"}, Prefix{1e9, "G"},
                               Prefix{1e6, "M"},   Prefix{1e3, "k"},  Prefix{1, ""},
                               Prefix{1e-3, "m"},  Prefix{1e-6, "µ"}, Prefix{1e-9, "n"},
                               Prefix{1e-12, "p"}, Prefix{1e-15, "f"}};
constexpr std::array kBinaryPrefixes{Prefix{1ULL << 50U, "Pi"}, Prefix{1ULL << 40U, "Ti"},
                                     Prefix{1U << 30U, "Gi"},   Prefix{1U << 20U, "Mi"},
                                     Prefix{1U << 10U, "Ki"},   Prefix{1, ""}};

// Ends of scales: within these nothing overflows on the way to a tick, and they are so far apart
// that the words of ticks, of six digits, differ.
constexpr double kLeastEnd = 1e-290;
constexpr double kMostEnd = 1e290;
constexpr double kLeastSpan = 0.02;   // of the larger end; of a linear scale
constexpr double kLeastRatio = 1.04;  // of the ends of a logarithmic one
constexpr std::size_t kMostTicks = 50;
constexpr double kTickPitch = 60;    // px between ticks, about
constexpr double kTickPitchUp = 40;  // ... of a vertical scale

const Prefix& prefix_of(double value) {
  const auto* const found =
      std::find_if(kPrefixes.begin(), kPrefixes.end(),
                   [value](const Prefix& prefix) { return value >= 0.9995 * prefix.factor; });
  return value == 0 ? kPrefixes[5] : found == kPrefixes.end() ? kPrefixes.back() : *found;
}

// What has a prefix: areas, powers and counts without a unit do not.
bool takes_prefixes(const std::string& unit) {
  return unit != "mm²" && !unit.empty() && unit.find('^') == std::string::npos;
}

std::string tick_text(double value) {
  std::string text = fmt::format("{:.6g}", value);
  return text.find('e') == std::string::npos ? text : fmt::format("{:g}", value);
}

// 1, 2 or 5 times a power of ten, so that about so many steps fill the span.
double step_of(double span, std::size_t about) {
  const double rough = span / static_cast<double>(about);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double rest = rough / power;
  return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}

}  // namespace

const char* pale_fill(std::size_t index) { return kPalePaints.at(index).light.data(); }

std::vector<Paint> paints() {
  std::vector<Paint> all{
      {"#ffffff", "#16181b"},  {kInk, "#e8e6e3"},        {kMuted, "#a5a29d"},
      {kGrid, "#33363b"},      {kShade, "#5d6166"},      {kAccent, "#4fa8e0"},
      {kSignal, "#ff8a66"},    {"#777777", "#9a9a9a"},   {"#dddddd", "#4a4d52"},
      {kLevelFill, "#223449"}, {kFanoutFill, "#453a22"}, {kComputeFill, "#1f3d29"},
      {kUsedFill, "#55585d"},  {kIdleFill, "#24272b"},   {kEdgeStroke, "#8b8f94"}};
  constexpr std::array kDarkRoles{"#6fa8e0", "#e09a5a", "#62bd80"};
  constexpr std::array kDarkTints{"#2c4f75", "#6d4a23", "#27583a"};
  for (std::size_t i = 0; i < kRoleColours.size(); ++i) {
    all.push_back({kRoleColours[i], kDarkRoles[i]});
    all.push_back({kRoleTints[i], kDarkTints[i]});
  }
  all.insert(all.end(), kPalePaints.begin(), kPalePaints.end());
  all.insert(all.end(), kNodePaints.begin(), kNodePaints.end());
  all.insert(all.end(), kTensorPaints.begin(), kTensorPaints.end());
  return all;
}

std::string dark_rules() {
  std::string rules = "@media screen and (prefers-color-scheme: dark) {\n";
  for (const Paint& paint : paints()) {
    rules += fmt::format("svg [fill=\"{0}\"]{{fill:{1}}}svg [stroke=\"{0}\"]{{stroke:{1}}}\n",
                         paint.light, paint.dark);
  }
  return rules + "}\n";
}

std::string standalone(const std::string& svg) {
  const std::size_t head = svg.find(">\n") + 2;
  return svg.substr(0, head) + "<style>\n" + dark_rules() + "</style>\n" + svg.substr(head);
}

std::string Colours::of(const std::string& name) {
  if (scheme_ == Scheme::kNodes && name == "leakage") {
    return "#dddddd";
  }
  auto place = std::find(names_.begin(), names_.end(), name);
  if (place == names_.end()) {
    place = names_.insert(place, name);
  }
  const auto index = static_cast<std::size_t>(place - names_.begin());
  return std::string{scheme_ == Scheme::kNodes ? kNodePaints[index % kNodePaints.size()].light
                                               : kTensorPaints[index % kTensorPaints.size()].light};
}

std::string si_text(double value, const std::string& unit, int digits) {
  if (!std::isfinite(value)) {
    return "unlimited";
  }
  const Prefix& prefix = takes_prefixes(unit) ? prefix_of(std::abs(value)) : kPrefixes[5];
  const double scaled = value / prefix.factor;
  const double size = std::abs(scaled);
  const int before = size > 0 ? static_cast<int>(std::floor(std::log10(size))) + 1 : 1;
  const std::string number = size != 0 && (size < 1e-3 || size >= 1e6)
                                 ? fmt::format("{:.{}e}", scaled, digits - 1)
                                 : fmt::format("{:.{}f}", scaled, std::max(0, digits - before));
  return number + (unit.empty() ? "" : fmt::format(" {}{}", prefix.name, unit));
}

ChartAxis::ChartAxis(std::string quantity, std::string unit, double low, double high,
                     bool logarithmic)
    : quantity_{std::move(quantity)},
      unit_{std::move(unit)},
      low_{low},
      high_{high},
      logarithmic_{logarithmic} {
  const double least = logarithmic ? kLeastEnd : 0;
  const auto bounded = [least](double end) {
    return std::isnan(end) ? least : std::clamp(end, least, kMostEnd);
  };
  low_ = bounded(std::min(low, high));
  high_ = std::max(bounded(std::max(low, high)), low_);
  if (logarithmic && high_ < low_ * kLeastRatio) {
    low_ /= std::sqrt(kLeastRatio);
    high_ = low_ * kLeastRatio * kLeastRatio;
  } else if (!logarithmic) {
    high_ = std::max({high_, low_ * (1 + kLeastSpan), kLeastEnd});
  }
  if (takes_prefixes(unit_)) {
    // Of a logarithmic one what suits its middle.
    const Prefix& prefix = prefix_of(logarithmic ? std::sqrt(low_) * std::sqrt(high_) : high_);
    factor_ = prefix.factor;
    prefix_ = prefix.name;
  }
}

ChartAxis ChartAxis::from_zero(std::string quantity, std::string unit, double high) {
  return {std::move(quantity), std::move(unit), 0, high > 0 ? high : 1, false};
}

ChartAxis ChartAxis::around(std::string quantity, std::string unit,
                            const std::vector<double>& values) {
  double least = kMostEnd;
  double most = 0;
  for (const double value : values) {
    if (!std::isnan(value)) {
      least = std::min(least, value);
      most = std::max(most, std::min(value, kMostEnd));
    }
  }
  if (least <= 0 || most == 0) {
    return from_zero(std::move(quantity), std::move(unit), most * 1.05);
  }
  if (most > 4 * least) {
    const double room = std::exp((std::log(most) - std::log(least)) * 0.06);
    return {std::move(quantity), std::move(unit), least / room, most * room, true};
  }
  const double room = std::max((most - least) * 0.08, most * 0.02);
  return {std::move(quantity), std::move(unit), std::max(0.0, least - room), most + room, false};
}

ChartAxis ChartAxis::of_bytes(std::string quantity, const std::vector<double>& values) {
  ChartAxis axis = around(quantity, "B", values);
  if (!axis.logarithmic_) {
    axis = decades(std::move(quantity), "B", axis.low_ / 2, axis.high_ * 2);
  }
  const double typical = std::sqrt(axis.low_) * std::sqrt(axis.high_);
  const auto* const prefix = std::find_if(kBinaryPrefixes.begin(), kBinaryPrefixes.end() - 1,
                                          [&](const Prefix& one) { return typical >= one.factor; });
  axis.binary_ = true;
  axis.factor_ = prefix->factor;
  axis.prefix_ = prefix->name;
  return axis;
}

ChartAxis ChartAxis::decades(std::string quantity, std::string unit, double low, double high) {
  return {std::move(quantity), std::move(unit), low, high, true};
}

double ChartAxis::place(double value) const {
  const double share = logarithmic_
                           ? (std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_))
                           : (value - low_) / (high_ - low_);
  return std::isnan(share) ? 0 : std::clamp(share, 0.0, 1.0);
}

std::string ChartAxis::title() const {
  const std::string unit = prefix_ + unit_;
  return unit.empty() ? quantity_ : fmt::format("{} ({})", quantity_, unit);
}

std::vector<double> ChartAxis::even_ticks(std::size_t about) const {
  std::vector<double> ticks;
  const double low = low_ / factor_;
  const double step = step_of(high_ / factor_ - low, about);
  const double first = std::ceil(low / step - 1e-9);
  // Counted, so that no range of whatever ends takes more.
  for (std::size_t i = 0; i <= 2 * about + 2; ++i) {
    ticks.push_back((first + static_cast<double>(i)) * step);
  }
  return ticks;
}

std::vector<double> ChartAxis::logarithmic_ticks(std::size_t about) const {
  std::vector<double> ticks;
  const double base = binary_ ? 2 : 10;
  const double low = std::log(low_ / factor_) / std::log(base);
  const double high = std::log(high_ / factor_) / std::log(base);
  const auto wanted = static_cast<double>(about);
  const double stride = std::max(1.0, std::ceil((high - low) / wanted));
  const double first = std::floor(low / stride);
  for (std::size_t i = 0; i <= about + 1; ++i) {
    const double power = (first + static_cast<double>(i)) * stride;
    ticks.push_back(std::pow(base, power));
    if (!binary_ && high - low < std::max(1.0, wanted / 4)) {
      ticks.push_back(2 * ticks.back());
    }
    if (!binary_ && high - low < std::max(1.0, wanted / 3)) {
      ticks.push_back(5 * std::pow(base, power));
    }
  }
  return ticks;
}

std::vector<ChartAxis::Tick> ChartAxis::ticks(std::size_t about) const {
  about = std::clamp<std::size_t>(about, 2, kMostTicks);
  const bool even = !logarithmic_ || high_ < 5 * low_;
  std::vector<Tick> ticks;
  for (const double scaled : even ? even_ticks(about) : logarithmic_ticks(about)) {
    if (scaled * factor_ >= low_ * (1 - 1e-9) && scaled * factor_ <= high_ * (1 + 1e-9)) {
      ticks.push_back({scaled * factor_, tick_text(scaled)});
    }
  }
  return ticks;
}

std::vector<ChartAxis::Tick> ChartAxis::ticks_along(double length, double pitch) const {
  const double wanted = length / pitch;
  return ticks(wanted >= 2 ? static_cast<std::size_t>(std::min(wanted, 1.0 * kMostTicks)) : 2);
}

double axis_width(const ChartAxis& y, double height) {
  constexpr double kTitle = 26;  // letters that are turned, and what parts them from the ticks
  double widest = 0;
  for (const ChartAxis::Tick& tick : y.ticks_along(height, kTickPitchUp)) {
    widest = std::max(widest, text_width(tick.text, 10));
  }
  return widest + kTitle;
}

Box plot_box(const ChartAxis& y, double top, double height) {
  const double left = std::max(62.0, axis_width(y, height));
  return {left, top, kFigureWidth - left - 10, height};
}

void draw_axes(Canvas& canvas, const Plot& plot, bool words_below, bool words_left) {
  const Box& box = plot.box;
  const LineStyle grid{kGrid, 0.7, ""};
  double widest = 0;
  for (const ChartAxis::Tick& tick : plot.x.ticks_along(box.width, kTickPitch)) {
    const double x = plot.px(tick.value);
    canvas.polyline(std::array{Point{x, box.y}, Point{x, box.bottom()}}, grid);
    if (words_below) {
      canvas.words({x, box.bottom() + 14}, tick.text, {Anchor::kMiddle, 10, kMuted});
    }
  }
  for (const ChartAxis::Tick& tick : plot.y.ticks_along(box.height, kTickPitchUp)) {
    const double y = plot.py(tick.value);
    canvas.polyline(std::array{Point{box.x, y}, Point{box.right(), y}}, grid);
    if (words_left) {
      canvas.words({box.x - 6, y + 3.5}, tick.text, {Anchor::kEnd, 10, kMuted});
      widest = std::max(widest, text_width(tick.text, 10));
    }
  }
  canvas.polyline(
      std::array{Point{box.x, box.y}, Point{box.x, box.bottom()}, Point{box.right(), box.bottom()}},
      {kMuted, 0.8, ""});
  const auto title = [](const ChartAxis& axis) {
    return axis.title() + (axis.is_logarithmic() ? ", logarithmic" : "");
  };
  if (words_below) {
    canvas.words({box.x + box.width / 2, box.bottom() + 30}, title(plot.x),
                 {Anchor::kMiddle, 11, kInk, false, 0, box.width});
  }
  if (words_left) {
    canvas.words({box.x - widest - 14, box.y + box.height / 2}, title(plot.y),
                 {Anchor::kMiddle, 11, kInk, false, -90, box.height});
  }
}

double draw_head(Canvas& canvas, const FigureHead& head) {
  constexpr double kLeft = 4;
  constexpr double kTitle = 13;
  double y = 0;
  if (!head.title.empty()) {
    y += 18;
    canvas.words({kLeft, y}, head.title,
                 {Anchor::kStart, kTitle, kInk, true, 0, kFigureWidth - kLeft});
  }
  if (!head.remark.empty()) {
    y += 17;
    canvas.words({kLeft, y}, head.remark,
                 {Anchor::kStart, 11, kMuted, false, 0, kFigureWidth - kLeft});
  }
  return y > 0 ? y + 8 : 0;
}

bool overlap(const Box& a, const Box& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

Box box_around(Point at, double radius) {
  return {at.x - radius, at.y - radius, 2 * radius, 2 * radius};
}

void add_label(const PointLabel& label, std::vector<PointLabel>& labels) {
  const auto same = std::find_if(labels.begin(), labels.end(), [&label](const PointLabel& other) {
    return std::hypot(other.at.x - label.at.x, other.at.y - label.at.y) < 0.5;
  });
  if (same == labels.end()) {
    labels.push_back(label);
    return;
  }
  same->radius = std::max(same->radius, label.radius);
  if (std::count(same->text.begin(), same->text.end(), ',') < 5) {
    same->text += ", " + label.text;
  } else if (!same->text.ends_with("\u2026")) {
    same->text += ", \u2026";
  }
}

void draw_labels(Canvas& canvas, const Box& within, const std::vector<PointLabel>& labels,
                 std::vector<Box> taken) {
  constexpr double kSize = 10;
  constexpr double kHeight = 10;
  constexpr double kMost = 150;  // px of a label
  for (const PointLabel& label : labels) {
    const std::string text = clipped(label.text, kSize, kMost);
    const double width = text_width(text, kSize);
    const double away = label.radius + 3;
    const std::array places{Point{away, -kHeight / 2},
                            Point{-away - width, -kHeight / 2},
                            Point{-width / 2, -away - kHeight},
                            Point{-width / 2, away},
                            Point{away * 0.7, -away * 0.7 - kHeight},
                            Point{away * 0.7, away * 0.7},
                            Point{-away * 0.7 - width, -away * 0.7 - kHeight},
                            Point{-away * 0.7 - width, away * 0.7}};
    for (const Point& place : places) {
      const Box box{label.at.x + place.x, label.at.y + place.y, width, kHeight};
      const bool inside = box.x >= within.x && box.right() <= within.right() && box.y >= within.y &&
                          box.bottom() <= within.bottom();
      if (!inside || std::any_of(taken.begin(), taken.end(),
                                 [&](const Box& other) { return overlap(box, other); })) {
        continue;
      }
      const Point at{box.x, box.bottom() - 1.5};
      canvas.halo(at, text, kSize);
      canvas.words(at, label.text, {Anchor::kStart, kSize, label.fill, false, 0, kMost});
      taken.push_back(box);
      break;
    }
  }
}

namespace {

constexpr double kSegmentSize = 10;  // letters of the names of segments
constexpr double kApart = 8;         // px between them
constexpr double kLegendLine = 15;   // px from one line of a legend to the next
constexpr double kMostSegmentName = 170;

double name_width(const std::string& name) {
  return std::min(kMostSegmentName, text_width(name, kSegmentSize));
}

// Where each name begins, and in which line, if they are set like words.
struct Places {
  std::vector<Point> at;  // y: the line, from 0
  double lines = 1;
};
Places flow(const std::vector<std::string>& names, double width) {
  Places places;
  double x = 0;
  for (const std::string& name : names) {
    if (x > 0 && x + name_width(name) > width) {
      x = 0;
      ++places.lines;
    }
    places.at.push_back({x, places.lines - 1});
    x += name_width(name) + kApart;
  }
  return places;
}

void draw_segment_name(Canvas& canvas, const SegmentName& name, double x, double bottom) {
  canvas.words({x, bottom - 10}, name.text,
               {Anchor::kStart, kSegmentSize, kInk, false, 0, kMostSegmentName});
  canvas.polyline(std::array{Point{x, bottom - 7}, Point{x + name_width(name.text), bottom - 7}},
                  {name.fill, 2, ""});
}

}  // namespace

double segment_names_height(const std::vector<std::string>& names, double width) {
  return 18 + kLegendLine * (flow(names, width).lines - 1);
}

void draw_segment_names(Canvas& canvas, std::vector<SegmentName> names, double left, double right,
                        double bottom) {
  std::vector<std::string> words;
  for (const SegmentName& name : names) {
    words.push_back(name.text);
  }
  if (const Places places = flow(words, right - left); places.lines > 1) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const double above = kLegendLine * (places.lines - 1 - places.at[i].y);
      draw_segment_name(canvas, names[i], left + places.at[i].x, bottom - above);
    }
    return;
  }
  std::vector<double> starts;
  double next = left;
  for (const SegmentName& name : names) {
    starts.push_back(std::max(next, name.x - name_width(name.text) / 2));
    next = starts.back() + name_width(name.text) + kApart;
  }
  double limit = right;
  for (std::size_t i = names.size(); i-- > 0;) {
    starts[i] = std::min(starts[i], limit - name_width(names[i].text));
    limit = starts[i] - kApart;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double width = name_width(names[i].text);
    draw_segment_name(canvas, names[i], starts[i], bottom);
    if (names[i].there) {
      const double inset = std::min(2.0, width / 2);  // a narrow name is left from its middle
      const double from =
          std::max(starts[i] + inset, std::min(names[i].x, starts[i] + width - inset));
      canvas.polyline(std::array{Point{from, bottom - 6}, Point{names[i].x, bottom}},
                      {kShade, 0.7, ""});
    }
  }
}

}  // namespace mapsim
