// SPDX-License-Identifier: Apache-2.0
// Designs of Timeloop.
#include "mapsim/timeloop.hpp"

#include "python/bind.hpp"

namespace py = pybind11;

namespace mapsim {

namespace {

py::list rows_of(const std::vector<ComparedFigure>& figures) {
  py::list rows;
  for (const ComparedFigure& each : figures) {
    py::list rules;
    for (const TimeloopRule rule : IdRange<TimeloopRule>{kTimeloopRules}) {
      if (each.rules.contains(rule)) {
        rules.append(to_string(rule));
      }
    }
    py::dict row;
    row["figure"] = to_string(each.figure);
    row["where"] = each.where;
    row["timeloop"] = each.timeloop;
    row["derived"] = each.derived;
    row["ours"] = each.ours;
    row["verdict"] = to_string(each.verdict);
    row["rules"] = rules;
    rows.append(row);
  }
  return rows;
}

}  // namespace

void bind_timeloop(py::module_& m) {
  py::class_<ImportedTimeloop>(m, "ImportedTimeloop")
      .def_readonly("arch", &ImportedTimeloop::arch)
      .def_readonly("workload", &ImportedTimeloop::workload)
      .def_readonly("mapping", &ImportedTimeloop::mapping)
      .def_readonly("constraints", &ImportedTimeloop::constraints)
      .def_property_readonly("objective",
                             [](const ImportedTimeloop& d) { return d.import.objective; })
      .def_property_readonly("notes", [](const ImportedTimeloop& d) { return d.import.notes; })
      .def("compare", [](const ImportedTimeloop& design, const std::string& statistics,
                         const std::string& version) {
        return rows_of(interruptible([&](const std::atomic<bool>&) {
          return compare_timeloop(design.import, statistics, version);
        }));
      });
  m.def("import_timeloop", [](const std::vector<std::string>& paths,
                              const FrontEndSettings& settings, bool counts_only) {
    return interruptible(
        [&](const std::atomic<bool>&) { return import_timeloop(paths, {settings, counts_only}); });
  });
}

}  // namespace mapsim
