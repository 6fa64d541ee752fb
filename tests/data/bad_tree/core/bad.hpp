#pragma once
#include "app/anything.hpp"
#include <yaml-cpp/yaml.h>
