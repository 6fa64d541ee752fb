// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "campaign/report.hpp"
#include "core/rng.hpp"

namespace mapsim {

// A study with the shape of a real one; figures by a seed.
inline Study made_up(std::size_t designs, std::size_t layers, std::uint64_t seed = 1) {
  Rng rng{seed};
  Study study{"made_up", "net", "energy", "steady", "", "none", "exact", {}};
  for (std::size_t d = 0; d < designs; ++d) {
    DesignResult design;
    design.number = d + 1;
    design.arch = "machine";
    design.settings = {{"nodes.GLB.capacity", fmt::format("{} KiB", 1U << (d % 9))},
                       {"nodes.PEs.x", fmt::format("{}", 1 + d / 9)}};
    design.clock_hz = 1e9;
    design.mac_units = 64;
    design.area_mm2 = 0.5 + static_cast<double>(rng.below(100)) / 10;
    for (std::size_t i = 0; i < layers; ++i) {
      LayerResult layer;
      layer.layer = fmt::format("conv{}", i + 1);
      layer.count = 1 + static_cast<std::int64_t>(rng.below(3));
      layer.status = "optimal";
      const double pj = 1e6 + static_cast<double>(rng.below(9'000'000));
      layer.energy = {{"DRAM", "I", pj / 2}, {"GLB", "W", pj / 4}, {"MAC", "", pj / 4}};
      layer.energy_pj = pj;
      layer.cycles = 10'000 + static_cast<std::int64_t>(rng.below(90'000));
      layer.macs = 500'000;
      layer.utilization = 500'000.0 / 64 / static_cast<double>(layer.cycles);
      layer.bottleneck = "DRAM";
      layer.ops = 1e6;
      layer.bytes = 1e3 + static_cast<double>(rng.below(100'000));
      layer.peak_ops = 128e9;
      layer.peak_bytes = 8e9;
      layer.gap = 0;
      layer.mapping = "DRAM: M4\n";
      design.layers.push_back(layer);
    }
    study.designs.push_back(design);
  }
  study.sum_up();
  return study;
}

inline Page page_of(std::vector<Study> studies) {
  ReportInput input;
  input.sources = {"made_up.sqlite"};
  input.results.studies = std::move(studies);
  for (Study& study : input.results.studies) {
    study.sum_up();  // the caller may have changed layers
  }
  return report_page(input);
}

inline std::vector<const PageFigure*> figures_of(const Page& page) {
  std::vector<const PageFigure*> figures;
  for (const Section& section : page.sections) {
    for (const auto& part : section.parts) {
      if (const auto* figure = std::get_if<PageFigure>(&part)) {
        figures.push_back(figure);
      }
    }
  }
  return figures;
}

}  // namespace mapsim
