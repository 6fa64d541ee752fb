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

struct Prefix {
  double factor;
  const char* name;
};
constexpr std::array kPrefixes{Prefix{1e15, "P"},  Prefix{1e12, "T"}, Prefix{1e9, "G"},
                               Prefix{1e6, "M"},   Prefix{1e3, "k"},  Prefix{1, ""},
                               Prefix{1e-3, "m"},  Prefix{1e-6, "µ"}, Prefix{1e-9, "n"},
                               Prefix{1e-12, "p"}, Prefix{1e-15, "f"}};

const Prefix& prefix_of(double value) {
  const auto* const found =
      std::find_if(kPrefixes.begin(), kPrefixes.end(),
                   [value](const Prefix& prefix) { return value >= 0.9995 * prefix.factor; });
  return value == 0 ? kPrefixes[5] : found == kPrefixes.end() ? kPrefixes.back() : *found;
}

// What has a prefix: areas and counts without a unit do not.
bool takes_prefixes(const std::string& unit) { return unit != "mm²" && !unit.empty(); }

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

bool overlap(const Box& a, const Box& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

}  // namespace

std::vector<Paint> paints() {
  std::vector<Paint> all{{"#ffffff", "#16181b"}, {kInk, "#e8e6e3"},      {kMuted, "#a5a29d"},
                         {kGrid, "#33363b"},     {kShade, "#5d6166"},    {kAccent, "#4fa8e0"},
                         {kSignal, "#ff8a66"},   {"#777777", "#9a9a9a"}, {"#dddddd", "#4a4d52"}};
  all.insert(all.end(), kNodePaints.begin(), kNodePaints.end());
  all.insert(all.end(), kTensorPaints.begin(), kTensorPaints.end());
  return all;
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
  if (takes_prefixes(unit_)) {
    // Of a logarithmic one what suits its middle.
    const Prefix& prefix = prefix_of(logarithmic ? std::sqrt(low * high) : high);
    factor_ = prefix.factor;
    prefix_ = prefix.name;
  }
}

ChartAxis ChartAxis::from_zero(std::string quantity, std::string unit, double high) {
  return {std::move(quantity), std::move(unit), 0, high > 0 ? high : 1, false};
}

ChartAxis ChartAxis::around(std::string quantity, std::string unit,
                            const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (values.empty() || *least <= 0) {
    return from_zero(std::move(quantity), std::move(unit), values.empty() ? 1 : *most * 1.05);
  }
  if (*most > 4 * *least) {
    const double room = std::pow(*most / *least, 0.06);
    return {std::move(quantity), std::move(unit), *least / room, *most * room, true};
  }
  const double room = std::max((*most - *least) * 0.08, *most * 0.02);
  return {std::move(quantity), std::move(unit), std::max(0.0, *least - room), *most + room, false};
}

ChartAxis ChartAxis::decades(std::string quantity, std::string unit, double low, double high) {
  return {std::move(quantity), std::move(unit), low, high, true};
}

double ChartAxis::place(double value) const {
  return logarithmic_ ? std::log(value / low_) / std::log(high_ / low_)
                      : (value - low_) / (high_ - low_);
}

std::string ChartAxis::title() const {
  const std::string unit = prefix_ + unit_;
  return unit.empty() ? quantity_ : fmt::format("{} ({})", quantity_, unit);
}

std::vector<ChartAxis::Tick> ChartAxis::ticks(std::size_t about) const {
  std::vector<Tick> ticks;
  const auto add = [&](double scaled) {
    if (scaled * factor_ >= low_ * (1 - 1e-9) && scaled * factor_ <= high_ * (1 + 1e-9)) {
      ticks.push_back({scaled * factor_, tick_text(scaled)});
    }
  };
  const double low = low_ / factor_;
  const double high = high_ / factor_;
  if (!logarithmic_ || high < 5 * low) {
    const double step = step_of(high - low, about);
    for (auto i = static_cast<std::int64_t>(std::ceil(low / step - 1e-9));
         static_cast<double>(i) * step <= high * (1 + 1e-9); ++i) {
      add(static_cast<double>(i) * step);
    }
    return ticks;
  }
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  const double decades = std::log10(high / low);
  const auto wanted = static_cast<double>(about);
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / wanted)));
  for (int power = first; power <= last; power += stride) {
    for (const double times : {1.0, 2.0, 5.0}) {
      if (times == 1 || (times == 5 && decades < wanted / 3) || decades < wanted / 4) {
        add(times * std::pow(10.0, power));
      }
    }
  }
  return ticks;
}

void draw_axes(Canvas& canvas, const Plot& plot, bool words_below, bool words_left) {
  const Box& box = plot.box;
  const auto across = static_cast<std::size_t>(std::max(2.0, box.width / 60));
  const auto up = static_cast<std::size_t>(std::max(2.0, box.height / 40));
  const LineStyle grid{kGrid, 0.7, ""};
  double widest = 0;
  for (const ChartAxis::Tick& tick : plot.x.ticks(across)) {
    const double x = plot.px(tick.value);
    canvas.polyline(std::array{Point{x, box.y}, Point{x, box.bottom()}}, grid);
    if (words_below) {
      canvas.words({x, box.bottom() + 14}, tick.text, {Anchor::kMiddle, 10, kMuted});
    }
  }
  for (const ChartAxis::Tick& tick : plot.y.ticks(up)) {
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
    canvas.words({box.x + box.width / 2, box.bottom() + 30}, title(plot.x), {Anchor::kMiddle});
  }
  if (words_left) {
    canvas.words({box.x - widest - 14, box.y + box.height / 2}, title(plot.y),
                 {Anchor::kMiddle, 11, kInk, false, -90});
  }
}

void draw_labels(Canvas& canvas, const Box& within, const std::vector<Label>& labels,
                 const std::vector<Point>& obstacles) {
  constexpr double kSize = 10;
  constexpr double kHeight = 10;
  std::vector<Box> taken;
  for (const Point& point : obstacles) {
    taken.push_back({point.x - 2.5, point.y - 2.5, 5, 5});
  }
  for (const Label& label : labels) {
    const double width = text_width(label.text, kSize);
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
      canvas.halo({box.x, box.bottom() - 1.5}, label.text, kSize);
      canvas.words({box.x, box.bottom() - 1.5}, label.text, {Anchor::kStart, kSize, label.fill});
      taken.push_back(box);
      break;
    }
  }
}

void draw_segment_names(Canvas& canvas, std::vector<SegmentName> names, double left, double right,
                        double bottom) {
  constexpr double kSize = 10;
  constexpr double kApart = 8;
  std::vector<double> starts;
  double next = left;
  for (const SegmentName& name : names) {
    starts.push_back(std::max(next, name.x - text_width(name.text, kSize) / 2));
    next = starts.back() + text_width(name.text, kSize) + kApart;
  }
  double limit = right;
  for (std::size_t i = names.size(); i-- > 0;) {
    starts[i] = std::min(starts[i], limit - text_width(names[i].text, kSize));
    limit = starts[i] - kApart;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double width = text_width(names[i].text, kSize);
    canvas.words({starts[i], bottom - 10}, names[i].text, {Anchor::kStart, kSize, kInk});
    const double inset = std::min(2.0, width / 2);  // a narrow name is left from its middle
    const double from =
        std::max(starts[i] + inset, std::min(names[i].x, starts[i] + width - inset));
    canvas.polyline(std::array{Point{starts[i], bottom - 7}, Point{starts[i] + width, bottom - 7}},
                    {names[i].fill, 2, ""});
    if (names[i].there) {
      canvas.polyline(std::array{Point{from, bottom - 6}, Point{names[i].x, bottom}},
                      {kShade, 0.7, ""});
    }
  }
}

}  // namespace mapsim
