// SPDX-License-Identifier: Apache-2.0
#include "design/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "campaign/layer.hpp"
#include "campaign/network.hpp"
#include "campaign/point.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/stream.hpp"
#include "costmodel/technology.hpp"
#include "costmodel/timing/model.hpp"
#include "mapper/known_start.hpp"
#include "mapper/mapspace/constraints.hpp"

namespace mapsim {

namespace {

// Mappings of a layer that are tried on a machine before a search, and that are kept.
constexpr std::size_t kMostTried = 24;

bool is_alike(const CampaignLayer& a, const CampaignLayer& b) {
  if (a.stream || b.stream) {
    return a.stream && b.stream && a.stream->in == b.stream->in && a.stream->out == b.stream->out;
  }
  Workload named = b.workload;
  named.name = a.workload.name;
  return named == a.workload && a.workbook == b.workbook;
}

// What is left of an objective where energies are `ratio` times as large, or larger, and latencies
// as they were.
double value_share(const ObjectiveFunction& function, double ratio) {
  if (!function.uses_energy()) {
    return 1;
  }
  const bool is_sum = function.uses_latency() && function.value(1, 0) > 0;
  return is_sum ? ratio : function.value(ratio, 1);
}

bool is_no_less(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return x >= y; });
}

// The lowest ratio of an energy of `now` to the same of `then`, at most 1.
double lowest_ratio(const std::vector<double>& now, const std::vector<double>& then) {
  double ratio = 1;
  for (std::size_t i = 0; i < now.size(); ++i) {
    ratio = then[i] > 0 ? std::min(ratio, now[i] / then[i]) : ratio;
  }
  return ratio;
}

// An answer of a machine with at least as much of each resource, whose energies are no more than 1
// / `ratio` of what they are here: energies are no less than `ratio` of those there.
void take_answer(const ObjectiveFunction& function, double ratio, double lower,
                 LayerSupport& support) {
  const bool is_sum = function.uses_energy() && function.uses_latency() && function.value(1, 0) > 0;
  if (std::isinf(lower)) {
    support.fits = false;
  } else if (function == ObjectiveFunction::product(1, 1)) {
    support.root = std::max(support.root, std::sqrt(lower * ratio));
  } else if (function.is_latency()) {
    support.lines.push_back({kNoMapping, lower});
  } else if (is_sum || function.is_energy()) {
    support.lines.push_back({ratio * (is_sum ? function.value(0, 1) : 0), ratio * lower});
  }
}

double cycles_of(LatencyMode mode, const Latency& latency) {
  return static_cast<double>(latency_of(mode, latency).count());
}

// A machine leaks as its smallest design with the lowest figures does, whatever its arrays.
Arch with_leakage_of(Arch arch, const Arch& least, const Workload* workload) {
  const auto leakage =
      total_leakage(workload == nullptr ? least : bind_widths(least, *workload)).sum;
  for (Storage& level : arch.levels) {
    level.physical.leakage.reset();
  }
  arch.compute.physical.leakage.reset();
  if (leakage) {
    arch.compute.physical.leakage = *leakage * (1 / static_cast<double>(arch.mac_units()));
  }
  return arch;
}

}  // namespace

std::vector<DistinctLayer> distinct_layers(const Campaign& campaign) {
  std::vector<DistinctLayer> distinct;
  for (const CampaignLayer& layer : campaign.layers) {
    const auto known = std::find_if(distinct.begin(), distinct.end(), [&](const auto& other) {
      return is_alike(*other.layer, layer);
    });
    if (known == distinct.end()) {
      distinct.push_back({&layer, static_cast<double>(layer.count)});
    } else {
      known->count += static_cast<double>(layer.count);
    }
  }
  return distinct;
}

DesignMachine::DesignMachine(std::size_t space_number, DesignBox values, const Enclosure& enclosure,
                             const Excepted& excepted)
    : space{space_number},
      box{std::move(values)},
      arch{enclosure.most},
      least{enclosure.least},
      is_single{mapsim::is_single(box)},
      is_engine{timing_model(enclosure.most).is_engine},
      numbers{numbers_of(enclosure.most)},
      structure{structure_of(enclosure.most, excepted)} {}

LayerOptima::LayerOptima(const Campaign& campaign, const Question& question,
                         const SearchOptions& options, DesignAnswers* answers)
    : question_{question},
      options_{options},
      layers_{distinct_layers(campaign)},
      answers_{answers} {}

Arch LayerOptima::arch_for(const DesignMachine& machine, std::size_t layer) const {
  const CampaignLayer& of = *layers_[layer].layer;
  return machine.is_single
             ? machine.arch
             : with_leakage_of(machine.arch, machine.least, of.stream ? nullptr : &of.workload);
}

Problem LayerOptima::problem(const DesignMachine& machine, std::size_t layer) const {
  return {arch_for(machine, layer), layers_[layer].layer->workload};
}

LayerOptima::Store& LayerOptima::store(const DesignMachine& machine, std::size_t layer) {
  std::vector<Store>& stores = stores_[machine.structure];
  stores.resize(layers_.size());
  return stores[layer];
}

std::vector<LayerOptima::Answer>& LayerOptima::answers_of(Store& store,
                                                          const ObjectiveFunction& function) {
  for (Answers& answers : store.answers) {
    if (answers.function == function) {
      return answers.list;
    }
  }
  return store.answers.emplace_back(function).list;
}

std::vector<const LayerOptima::Answers*> LayerOptima::all_answers(const DesignMachine& machine,
                                                                  std::size_t layer) const {
  std::vector<const Answers*> all;
  for (const LayerOptima* optima : {whole_, this}) {
    if (optima == nullptr) {
      continue;
    }
    const auto stores = optima->stores_.find(machine.structure);
    if (stores != optima->stores_.end()) {
      for (const Answers& answers : stores->second[layer].answers) {
        all.push_back(&answers);
      }
    }
  }
  return all;
}

LayerOptima::LayerOptima(const LayerOptima& whole, const SearchOptions& options)
    : question_{whole.question_},
      options_{options},
      layers_{whole.layers_},
      answers_{whole.answers_},
      whole_{&whole} {}

LayerOptima LayerOptima::part(const std::string& structure, std::size_t at_once) const {
  SearchOptions options = options_;
  options.threads = 1;
  options.budget.bytes /= at_once;
  LayerOptima part{*this, options};
  const auto known = stores_.find(structure);
  if (known != stores_.end()) {
    std::vector<Store>& stores = part.stores_[structure];
    for (const Store& store : known->second) {
      const std::size_t tried = std::min(store.mappings.size(), kMostTried);
      stores.push_back(
          {{},
           {store.mappings.begin(), store.mappings.begin() + static_cast<std::ptrdiff_t>(tried)}});
    }
  }
  return part;
}

void LayerOptima::join(const DesignMachine& machine, const LayerOptima& part, std::size_t at_once) {
  for (const Learned& each : part.learned_) {
    learn(machine, each.layer, each.function, problem(machine, each.layer), each.figures);
  }
  searches_ += part.searches_;
  answered_ += part.answered_;
  short_of_memory_ += part.short_of_memory_;
  peak_bytes_ = std::max(peak_bytes_, at_once * part.peak_bytes_);
}

MachineNumbers LayerOptima::numbers_of(const DesignMachine& machine, const Problem& problem) const {
  MachineNumbers numbers = machine.numbers;
  numbers.energies.push_back(leakage_per_cycle(problem.arch()).count());
  return numbers;
}

LayerFigures LayerOptima::stream(const DesignMachine& machine, std::size_t layer,
                                 const ObjectiveFunction& function) const {
  const Stream& stream = *layers_[layer].layer->stream;
  const StreamCost cost = stream_cost(arch_for(machine, layer), stream.in, stream.out);
  LayerFigures figures;
  figures.energy = cost.energy.count();
  figures.cycles = static_cast<double>(cost.latency.count());
  figures.lower = figures.value = function.value(figures.energy, figures.cycles);
  figures.is_own = true;
  return figures;
}

bool LayerOptima::take_better(const Problem& problem, const Mapping& mapping,
                              const ObjectiveFunction& function, LayerFigures& figures) const {
  const Evaluation evaluation = evaluate(problem, mapping);
  const Cost* const cost = std::get_if<Cost>(&evaluation);
  if (cost == nullptr) {
    return false;
  }
  const double energy = cost->energy.total.count();
  const double cycles = cycles_of(question_.objective.mode, cost->latency);
  const double value = function.value(energy, cycles);
  if (value >= figures.value) {
    return false;
  }
  figures.value = value;
  figures.energy = energy;
  figures.cycles = cycles;
  figures.mapping = mapping;
  return true;
}

LayerFigures LayerOptima::known(const DesignMachine& machine, std::size_t layer,
                                const ObjectiveFunction& function) {
  if (layers_[layer].layer->stream) {
    return stream(machine, layer, function);
  }
  if (machine.is_single) {
    const auto own = own_.find({machine.space, layer, to_string(function), machine.box});
    if (own != own_.end()) {
      return own->second;
    }
  }
  LayerFigures figures;
  Store& store = this->store(machine, layer);
  const std::vector<const Answers*> all = all_answers(machine, layer);
  if (machine.is_engine || (all.empty() && store.mappings.empty())) {
    return figures;
  }
  const Problem problem = this->problem(machine, layer);
  const MachineNumbers numbers = numbers_of(machine, problem);
  for (const Answers* answers : all) {
    for (const Answer& answer : answers->list) {
      if (answers->function == function &&
          is_no_less(answer.numbers.resources, numbers.resources)) {
        const double ratio = lowest_ratio(numbers.energies, answer.numbers.energies);
        // Nothing that fits there fits here.
        figures.lower = std::max(figures.lower, std::isinf(answer.lower)
                                                    ? kNoMapping
                                                    : answer.lower * value_share(function, ratio));
      }
    }
  }
  if (std::isinf(figures.lower)) {
    return figures;
  }
  const std::size_t tried = std::min(store.mappings.size(), kMostTried);
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < tried && !figures.is_exact(); ++i) {
    best = take_better(problem, store.mappings[i], function, figures) ? i : best;
  }
  if (best && *best > 0) {
    Mapping useful = store.mappings[*best];
    store.mappings.erase(store.mappings.begin() + static_cast<std::ptrdiff_t>(*best));
    store.mappings.push_front(std::move(useful));
  }
  return figures;
}

LayerSupport LayerOptima::support(const DesignMachine& machine, std::size_t layer) {
  LayerSupport all;
  if (layers_[layer].layer->stream) {
    const LayerFigures only = stream(machine, layer, ObjectiveFunction::product(1, 1));
    all.root = std::sqrt(only.value);
    all.lines = {{0, only.energy}, {kNoMapping, only.cycles}};
    all.points = {{only.energy, only.cycles, std::nullopt, true}};
    return all;
  }
  if (machine.is_engine) {
    return all;
  }
  Store& store = this->store(machine, layer);
  const Problem problem = this->problem(machine, layer);
  const MachineNumbers numbers = numbers_of(machine, problem);
  all.lines = free_lines(problem);
  for (const Answers* answers : all_answers(machine, layer)) {
    if (leaves_out_remainders(machine.arch, answers->function)) {
      continue;
    }
    for (const Answer& answer : answers->list) {
      if (is_no_less(answer.numbers.resources, numbers.resources)) {
        take_answer(answers->function, lowest_ratio(numbers.energies, answer.numbers.energies),
                    answer.lower, all);
      }
    }
  }
  for (std::size_t i = 0; i < std::min(store.mappings.size(), kMostTried) && all.fits; ++i) {
    const Evaluation evaluation = evaluate(problem, store.mappings[i]);
    if (const Cost* const cost = std::get_if<Cost>(&evaluation)) {
      all.points.push_back({cost->energy.total.count(),
                            cycles_of(question_.objective.mode, cost->latency), store.mappings[i]});
    }
  }
  return all;
}

// What an earlier run wrote down; its costs are computed anew.
std::optional<LayerFigures> LayerOptima::answer(const DesignMachine& machine, std::size_t layer,
                                                const ObjectiveFunction& function,
                                                const Problem& problem) {
  if (answers_ == nullptr || machine.is_engine) {
    return std::nullopt;
  }
  Objective objective{function};
  objective.mode = question_.objective.mode;
  auto known = answers_->find(arch_for(machine, layer), *layers_[layer].layer, objective);
  if (!known) {
    return std::nullopt;
  }
  const std::string* const status = std::get_if<std::string>(&figure(*known, "status"));
  const std::string* const mapping = std::get_if<std::string>(&figure(*known, "mapping"));
  LayerFigures figures;
  figures.is_own = machine.is_single;
  if (status != nullptr && *status == "infeasible") {
    figures.lower = kNoMapping;
  } else if (status == nullptr || (*status != "optimal" && *status != "ties_open") ||
             mapping == nullptr ||
             !take_better(problem,
                          parse_mapping(*mapping, "mapping", problem.arch(), problem.workload()),
                          function, figures)) {
    return std::nullopt;  // a search that was cut short is done again
  } else {
    figures.lower = figures.value;
  }
  ++answered_;
  return figures;
}

// Whatever follows from it for other machines.
void LayerOptima::learn(const DesignMachine& machine, std::size_t layer,
                        const ObjectiveFunction& function, const Problem& problem,
                        const LayerFigures& figures) {
  if (whole_ != nullptr) {
    learned_.push_back({layer, function, figures});
  } else {
    proven_.push_back({layer, machine.space, machine.box, function, figures.lower});
  }
  if (figures.is_own && figures.is_exact() && !machine.is_engine) {
    own_.insert_or_assign({machine.space, layer, to_string(function), machine.box}, figures);
  }
  if (!machine.is_engine) {
    Store& store = this->store(machine, layer);
    answers_of(store, function).push_back({numbers_of(machine, problem), figures.lower});
    if (figures.mapping) {
      std::erase(store.mappings, *figures.mapping);
      store.mappings.push_front(*figures.mapping);
    }
  }
}

Constraints LayerOptima::constraints_of(const Problem& problem) const {
  return question_.constraints_file.empty()
             ? Constraints{}
             : parse_constraints(question_.constraints_text, question_.constraints_file, problem);
}

FormedResult LayerOptima::found_by(const Problem& problem, std::size_t layer,
                                   const ObjectiveFunction& function, const LayerEffort& effort,
                                   const std::optional<Mapping>& known) {
  const Constraints constraints = constraints_of(problem);
  if (constraints.factors.imperfect) {
    throw UnsupportedSearch(
        fmt::format("{}: design knows perfect factors only; 'mapsim sweep' searches imperfect ones",
                    question_.constraints_file));
  }
  LayerSearch search{"exact", options_};
  search.options.objective.function = function;
  search.options.objective.mode = question_.objective.mode;
  search.options.budget.seconds = effort.seconds;
  if (!known) {
    return search_layer(problem, layers_[layer].layer->workbook, constraints, search);
  }
  search.options.budget.gap = effort.gap;
  return {problem, search_exact_from(Mapspace{problem, constraints}, search.options, *known), {}};
}

std::optional<LayerFigures> LayerOptima::search(const DesignMachine& machine, std::size_t layer,
                                                const ObjectiveFunction& function,
                                                const LayerEffort& effort) {
  if (layers_[layer].layer->stream) {
    return stream(machine, layer, function);
  }
  const Problem problem = this->problem(machine, layer);
  if (const auto known = answer(machine, layer, function, problem)) {
    learn(machine, layer, function, problem, *known);
    return known;
  }
  const LayerFigures known = effort.gap > 0 && answers_ == nullptr
                                 ? this->known(machine, layer, function)
                                 : LayerFigures{};
  const FormedResult formed = found_by(problem, layer, function, effort, known.mapping);
  const SearchResult& found = formed.result;
  peak_bytes_ = std::max(peak_bytes_, found.statistics.peak_bytes);
  const bool stopped = options_.stop != nullptr && options_.stop->load();
  if (found.interrupted && (stopped || found.statistics.seconds >= effort.seconds)) {
    // Of use, if not the answer
    LayerFigures begun;
    begun.lower = found.certificate.lower_bound;
    begun.mapping = found.best;
    learn(machine, layer, function, problem, begun);
    return std::nullopt;
  }
  ++searches_;
  short_of_memory_ += found.interrupted ? 1 : 0;
  if (answers_ != nullptr && !found.interrupted) {
    Objective objective{function};
    objective.mode = question_.objective.mode;
    answers_->keep(arch_for(machine, layer), *layers_[layer].layer, objective,
                   answer_record(layers_[layer].layer->workload, formed, objective.mode));
  }
  LayerFigures figures;
  figures.is_own = machine.is_single && !known.mapping;
  figures.lower = found.certificate.lower_bound;
  if (found.cost) {
    const FrameCost cost = frame_cost(found, question_.objective.mode);
    figures.energy = cost.energy.count();
    figures.cycles = static_cast<double>(cost.latency.count());
    figures.value = function.value(figures.energy, figures.cycles);
    figures.mapping = found.best;
    figures.lower = found.certificate.status == Proof::kOptimal ? figures.value : figures.lower;
  } else {
    figures.lower = found.certificate.status == Proof::kInfeasible ? kNoMapping : figures.lower;
  }
  learn(machine, layer, function, problem, figures);
  return figures;
}

std::optional<double> LayerOptima::area(const Arch& arch) {
  const auto sum = areas(arch).sum;
  return sum ? std::optional{sum->count()} : std::nullopt;
}

Total<SquareMillimetres> LayerOptima::areas(const Arch& arch) {
  if (arch.compute.physical.area || !arch.technology) {
    return total_area(arch);
  }
  const auto [place, is_new] = mac_areas_.try_emplace(fmt::format(
      "{} {}", static_cast<int>(*arch.technology), static_cast<int>(arch.compute.format)));
  if (is_new) {
    for (const DistinctLayer& layer : layers_) {
      if (!layer.layer->stream) {
        const auto area = bind_widths(arch, layer.layer->workload).compute.physical.area;
        place->second = std::max(place->second, area);
      }
    }
  }
  Arch bound = arch;
  bound.compute.physical.area = place->second;
  return total_area(bound);
}

}  // namespace mapsim
