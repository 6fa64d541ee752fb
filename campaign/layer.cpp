// SPDX-License-Identifier: Apache-2.0
#include "campaign/layer.hpp"

#include <utility>

#include "costmodel/nvdla/sheet_layer.hpp"
#include "costmodel/timing/model.hpp"
#include "mapper/mapper.hpp"
#include "mapper/supported.hpp"

namespace mapsim {

FormedResult search_layer(const Problem& problem, const WorkbookRow& row,
                          const Constraints& constraints, const LayerSearch& search) {
  check_supported(problem, constraints, search.strategy);
  check_range(problem, search.options.objective);
  const bool engine = timing_model(problem.arch()).is_engine;
  FormedResult found = engine && search.strategy == "exact" && constraints == Constraints{}
                           ? search_forms(problem, search.options, search.frames)
                           : FormedResult{problem,
                                          (*find_mapper(search.strategy))(
                                              Mapspace{problem, constraints}, search.options),
                                          {}};
  if (found.result.cost) {
    fuse(problem, row, *found.result.cost);
  }
  return found;
}

}  // namespace mapsim
