// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/best_first.hpp"
