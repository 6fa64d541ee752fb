// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mapsim {

// Makes GMP throw std::bad_alloc if memory ends, in the whole process; by default it would abort.
// GMP functions that are interrupted in this way leak memory. To be called before GMP is used.
void let_gmp_throw();

}  // namespace mapsim
