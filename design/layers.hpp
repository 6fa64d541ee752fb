// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "arch/physical.hpp"
#include "campaign/campaign.hpp"
#include "campaign/joint.hpp"
#include "design/answers.hpp"
#include "design/machine.hpp"
#include "mapper/formed_result.hpp"

namespace mapsim {

// What a search of a layer may leave out.
struct LayerEffort {
  double seconds = kNoMapping;
  // Mappings that improve on the best one known by no more than this share of the optimum. Without
  // a gap the answer is that of `mapsim search`.
  double gap = 0;
};

// No mapping of a layer has less of a function on the machine of a box [pJ, cycles]; infinite: none
// fits. What a certificate of designs rests on.
struct ProvenBound {
  std::size_t layer = 0, space = 0;
  DesignBox box;
  ObjectiveFunction function;
  double lower = 0;
};

struct LayerFront {  // Pareto-optimal mappings of a layer
  std::vector<LayerPoint> points{};
  bool is_all = true;  // or only some of them
};

// Proven optima of layers on machines, asked again and again for machines that are alike. Answers
// follow from earlier ones where they can: a bound from any machine with at least as much of each
// resource, in proportion to the lowest ratio of energies; a mapping from any where it fits.
class LayerOptima {
 public:
  // `answers`, if given, is asked before a search and gets what it finds.
  LayerOptima(const Campaign& campaign, const Question& question, const SearchOptions& options,
              DesignAnswers* answers = nullptr);

  const std::vector<DistinctLayer>& layers() const { return layers_; }
  // From earlier answers alone.
  LayerFigures known(const DesignMachine& machine, std::size_t layer,
                     const ObjectiveFunction& function);
  // The same of all mappings of a layer.
  LayerSupport support(const DesignMachine& machine, std::size_t layer);
  // By a search; nullopt: interrupted. With a database all are plain: their answers are rows.
  std::optional<LayerFigures> search(const DesignMachine& machine, std::size_t layer,
                                     const ObjectiveFunction& function, const LayerEffort& effort);
  // All Pareto-optimal mappings on one design, by one search. Where nothing searches fronts (form
  // of the layer, folds with a remainder) the best ones of `function`, energy and latency. nullopt:
  // interrupted.
  std::optional<LayerFront> front(const DesignMachine& machine, std::size_t layer,
                                  const ObjectiveFunction& function,
                                  const std::function<double()>& seconds);
  // With MACs of the widths of the layer that needs the largest.
  Total<SquareMillimetres> areas(const Arch& arch);
  std::optional<double> area(const Arch& arch);  // their sum [mm2]; nullopt: nothing has an area
  std::int64_t searches() const { return searches_; }
  std::int64_t answered() const { return answered_; }  // by the database, in place of a search
  // Searches that memory was too short for, so that a layer may stay unproven.
  std::int64_t short_of_memory() const { return short_of_memory_; }
  std::size_t peak_bytes() const { return peak_bytes_; }  // of the tables and labels of a search
  const std::vector<ProvenBound>& proven() const { return proven_; }  // by the searches

  // One that knows what this one knows of machines of a structure. It is for one thread of
  // `at_once` that ask at the same time, each of its own part; its searches use that thread alone,
  // and a share of the memory. This one must not change until all are done.
  LayerOptima part(const std::string& structure, std::size_t at_once) const;
  // Learns what one of these parts has found on a machine of its structure.
  void join(const DesignMachine& machine, const LayerOptima& part, std::size_t at_once);

 private:
  LayerOptima(const LayerOptima& whole, const SearchOptions& options);
  struct Learned {
    std::size_t layer = 0;
    ObjectiveFunction function;
    LayerFigures figures;
  };
  struct Answer {
    MachineNumbers numbers;  // leakage last among the energies
    double lower = 0;
  };
  struct Answers {
    ObjectiveFunction function;
    std::vector<Answer> list;
  };
  // Of a layer, on machines of one structure.
  struct Store {
    std::vector<Answers> answers;  // by objective
    std::deque<Mapping> mappings;  // distinct, the last useful one first
  };
  static std::vector<Answer>& answers_of(Store& store, const ObjectiveFunction& function);
  // Answers about a layer on machines of a structure, by objective: of the whole, and of this one.
  std::vector<const Answers*> all_answers(const DesignMachine& machine, std::size_t layer) const;
  MachineNumbers numbers_of(const DesignMachine& machine, const Problem& problem) const;
  Arch arch_for(const DesignMachine& machine, std::size_t layer) const;
  Problem problem(const DesignMachine& machine, std::size_t layer) const;
  std::optional<LayerFigures> answer(const DesignMachine& machine, std::size_t layer,
                                     const ObjectiveFunction& function, const Problem& problem);
  std::optional<LayerFront> front_by_optima(const DesignMachine& machine, std::size_t layer,
                                            const ObjectiveFunction& function,
                                            const std::function<double()>& seconds);
  Constraints constraints_of(const Problem& problem) const;
  FormedResult found_by(const Problem& problem, std::size_t layer,
                        const ObjectiveFunction& function, const LayerEffort& effort,
                        const std::optional<Mapping>& known);
  void learn(const DesignMachine& machine, std::size_t layer, const ObjectiveFunction& function,
             const Problem& problem, const LayerFigures& figures);
  Store& store(const DesignMachine& machine, std::size_t layer);
  LayerFigures stream(const DesignMachine& machine, std::size_t layer,
                      const ObjectiveFunction& function) const;
  bool take_better(const Problem& problem, const Mapping& mapping,
                   const ObjectiveFunction& function, LayerFigures& figures) const;

  const Question& question_;
  SearchOptions options_;
  std::vector<DistinctLayer> layers_;
  std::map<std::string, std::vector<Store>> stores_;  // by structure, then layer
  // Of searches of designs: space, layer, function and the design
  std::map<std::tuple<std::size_t, std::size_t, std::string, DesignBox>, LayerFigures> own_;
  std::map<std::tuple<std::size_t, std::size_t, DesignBox>, LayerFront> fronts_;  // of designs
  std::map<std::string, std::optional<SquareMillimetres>> mac_areas_;             // by structure
  DesignAnswers* answers_;
  const LayerOptima* whole_ = nullptr;  // that this one is a part of
  std::vector<Learned> learned_;        // by a part
  std::int64_t searches_ = 0;
  std::int64_t answered_ = 0;
  std::int64_t short_of_memory_ = 0;
  std::size_t peak_bytes_ = 0;
  std::vector<ProvenBound> proven_;
};

}  // namespace mapsim
