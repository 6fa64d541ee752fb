// SPDX-License-Identifier: Apache-2.0
#include "design/answers.hpp"

#include "campaign/point.hpp"

namespace mapsim {

DesignAnswers::DesignAnswers(const Campaign& campaign, const std::string& path,
                             const std::atomic<bool>* stop)
    : campaign_{campaign}, store_{path, Store::Open::kOrNew, {{}, stop}} {
  store_.check(stop);  // results that cannot be read are no answers
  store_.begin_points(campaign, layer_contents(campaign), question_contents(campaign),
                      Store::Designs::kKept);
  store_.end_points();
}

PointKey DesignAnswers::key(const Arch& arch, const CampaignLayer& layer,
                            const Objective& objective, bool is_written) {
  Question question = campaign_.questions.front();
  question.objective = objective;
  const Content machine = arch_content(arch);
  const Content work = layer_content(layer);
  const Content asked = question_content(campaign_, question);
  if (is_written) {
    store_.add_input("design", machine);
    store_.add_input("layer", work);
    store_.add_input("question", asked);
  }
  return {machine.id, work.id, asked.id};
}

std::optional<Record> DesignAnswers::find(const Arch& arch, const CampaignLayer& layer,
                                          const Objective& objective) {
  std::optional<Record> found;
  unless_cut_off([&] { found = store_.result(key(arch, layer, objective, false)); });
  return found;
}

void DesignAnswers::keep(const Arch& arch, const CampaignLayer& layer, const Objective& objective,
                         const Record& figures) {
  unless_cut_off([&] { store_.add_result(key(arch, layer, objective, true), figures); });
}

void DesignAnswers::list(std::size_t number, const Arch& arch) {
  unless_cut_off(
      [&] { store_.add_design(campaign_, number, design(campaign_, number), arch_content(arch)); });
}

// What the search has found is worth more than its rows.
void DesignAnswers::unless_cut_off(const std::function<void()>& use) {
  const std::lock_guard lock{mutex_};
  if (is_cut_off_) {
    return;
  }
  try {
    use();
  } catch (const DatabaseInterrupted&) {
    is_cut_off_ = true;
  }
}

}  // namespace mapsim
