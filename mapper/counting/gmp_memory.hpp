// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mapsim {

// From now on GMP throws std::bad_alloc where memory ends, in the whole process, which it would end
// of itself. Its functions leak what they were working with. To be called before it is used.
void let_gmp_throw();

}  // namespace mapsim
