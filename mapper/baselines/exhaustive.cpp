// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <limits>
#include <vector>

#include "mapper/counting/mapspace_size.hpp"
#include "mapper/deadline.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/sample_statistics.hpp"

namespace mapsim {
namespace {

// Mappings that are listed before threads evaluate them: enough to keep all threads busy.
constexpr std::size_t kBatch = 16'384;

}  // namespace

SearchResult search_exhaustive(const Mapspace& space, const SearchOptions& options) {
  const Deadline deadline(options);
  SampleStatistics statistics;
  std::vector<Mapping> batch;
  const auto flush = [&] {
    statistics.add(options.objective,
                   consider_all(space.problem(), options, std::ssize(batch),
                                [&](auto i) { return batch[static_cast<std::size_t>(i)]; }));
    batch.clear();
  };
  const bool completed = !deadline.over() && space.enumerate([&](const Mapping& mapping) {
    batch.push_back(mapping);
    if (batch.size() < kBatch) {
      return true;
    }
    flush();
    return !deadline.over();
  });
  flush();

  SearchResult result = statistics.result(space.problem());
  result.interrupted = !completed;
  result.certificate.mapspace_size =
      mapspace_size_unless(space, [&] { return !completed && deadline.over(); }).value_or("");
  if (completed) {
    result.certificate.status = result.cost ? Proof::kOptimal : Proof::kInfeasible;
    result.certificate.lower_bound = result.cost ? objective_value(options.objective, *result.cost)
                                                 : std::numeric_limits<double>::infinity();
  }
  result.statistics.unrollings_total = space.unrolling_count();
  result.statistics.unrollings = completed ? result.statistics.unrollings_total : 0;
  result.statistics.seconds = deadline.seconds();
  return result;
}

}  // namespace mapsim
