#pragma once
#include "app/anything.hpp"
#include <yaml-cpp/yaml.h>
inline int copies(const Storage& level) { return level.double_buffered ? 2 : 1; }
namespace mapsim {
struct Box {};
}  // namespace mapsim
