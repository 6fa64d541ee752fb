// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace mapsim {

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

inline constexpr const char* kBlue = "#4878a8";  // of what is measured
inline constexpr const char* kTitleStyle = "font-size=\"15\"";

enum class Anchor : unsigned char { kStart, kMiddle, kEnd };

// A picture that grows downwards as things are drawn.
class Canvas {
 public:
  void rectangle(const Box& box, const std::string& fill, const std::string& stroke = "#404040");
  void text(double x, double y, const std::string& words, Anchor anchor = Anchor::kStart,
            const std::string& style = "");
  void upright(double x, double y, const std::string& words);  // read from below
  void line(double x1, double y1, double x2, double y2, const std::string& stroke = "#404040");
  void dot(double x, double y, const std::string& fill);
  void arrow(double x1, double y1, double x2, double y2, const std::string& stroke);
  double bottom() const { return bottom_; }  // of all that has been drawn
  // The whole file, as wide and as high as what has been drawn.
  std::string finish() const;

 private:
  void grow(double x, double y);
  std::string body_;
  double right_ = 0;
  double bottom_ = 0;
};

}  // namespace mapsim
