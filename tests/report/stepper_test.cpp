// SPDX-License-Identifier: Apache-2.0
#include "report/stepper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "arch/load.hpp"
#include "costmodel/mapping_text.hpp"
#include "report/figures.hpp"
#include "tests/report/small_problem.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/in_chromium.hpp"
#include "workloads/load.hpp"

namespace mapsim::stepper_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Page small_page() {
  const Problem problem = testing::small_problem();
  const Mapping mapping = testing::small_mapping();
  return stepper_page(problem, mapping, std::get<Cost>(evaluate(problem, mapping)));
}

TEST(Stepper, HasTheLoopsAndTheNestWithoutAScript) {
  const Page page = small_page();
  const auto& stepper = std::get<PageStepper>(page.sections.at(0).parts.at(0));
  const auto data = nlohmann::json::parse(stepper.data);
  EXPECT_EQ(data["dims"], nlohmann::json::parse(R"([["M",6],["N",4],["K",8]])"));
  EXPECT_EQ(data["levels"][1]["capacity"], 64 * 8);
  EXPECT_EQ(data["fanouts"][0]["x"], 2);
  EXPECT_EQ(data["nodes"].size(), 8U);
  EXPECT_THAT(page_html(page), HasSubstr("<pre>  keep DRAM: A, B, Z"));
  EXPECT_THAT(page_html(page), Not(HasSubstr(">CSV<")));  // its picture has no data
}

TEST(Stepper, IsInNoPageThatHasNone) {
  const Page page{"p", {}, {{"s", "s", {}, {Listing{"t", "x"}}}}, ""};
  EXPECT_THAT(page_html(page), Not(HasSubstr("stepper")));
}

// M in tiles of 4 and 2, K in tiles of 2: eight tiles of GLB; within each 2 x 4 steps, or 2 x 2.
// One browser is started, and does it all.
TEST_F(InChromium, StepsByLinkKeyAndSlider) {
  std::string html = page_html(small_page());
  const std::string probe = R"(<script>
    const f = document.getElementById('steps');
    const note = (name) => {
      f.dataset[name] = f.querySelector('.where').textContent + '|' +
        [...f.querySelectorAll('.tile')].map((t) => t.textContent).join('|') + '|' +
        [...f.querySelectorAll('.line b')].map((b) => b.parentNode.textContent).join('; ') + '|' +
        f.querySelector('.readout').textContent;
    };
    const link = (hash) => { location.hash = hash; dispatchEvent(new Event('hashchange')); };
    const press = (key) => f.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    f.dataset.strides = [...f.querySelectorAll('select')[0].options].map((o) => o.text).join();
    link('step=steps:1:GLB'); note('first');
    link('step=steps:6:GLB'); note('sixth');
    press('End'); press('ArrowLeft'); press('ArrowLeft'); note('pressed');
    press('Home'); note('home');
    press(' '); f.dataset.playing = f.querySelector('[aria-label=pause]') !== null;
    press(' '); f.dataset.paused = f.querySelector('[aria-label=play]') !== null;
    const slider = f.querySelector('input');
    slider.value = 3; slider.dispatchEvent(new Event('input')); note('dragged');
    link('step=steps:999:MAC'); note('beyond');
    </script></body>)";
  html.replace(html.rfind("</body>"), 7, probe);
  write(html);
  const std::string dom = open("--dump-dom");
  const auto noted = [&dom](const std::string& name) {
    const std::string start = "data-" + name + "=\"";
    const std::size_t from = dom.find(start) + start.size();
    return dom.substr(from, dom.find('"', from) - from);
  };
  EXPECT_EQ(noted("strides"), "a tile of GLB (8),a step of MAC (48)");
  EXPECT_THAT(noted("first"), StartsWith("step 1 of 8"));
  EXPECT_THAT(noted("first"), HasSubstr("|AM 0\u20133  K 0\u20131"));  // A in GLB
  EXPECT_THAT(noted("first"), HasSubstr("|4 of 4 PEs have work; x 0, y 0: N 0\u20131, K 0"));
  EXPECT_THAT(noted("sixth"), StartsWith("step 6 of 8; new: "));
  EXPECT_THAT(noted("sixth"), HasSubstr("|AM 4\u20135  K 2\u20133"));
  EXPECT_THAT(noted("sixth"),
              HasSubstr("|for M in 2 tiles of 4, the last of 2: tile 2; for K in 4 tiles of 2: "
                        "tile 2; for N in 2 tiles of 1: tile 1; for M in "));
  EXPECT_THAT(noted("sixth"), HasSubstr("x 0, y 0: N 0\u20131, K 2"));
  EXPECT_EQ(noted("pressed").substr(0, 11), "step 6 of 8");
  EXPECT_EQ(noted("home").substr(0, 11), "step 1 of 8");
  EXPECT_EQ(noted("playing"), "true");
  EXPECT_EQ(noted("paused"), "true");
  EXPECT_EQ(noted("dragged").substr(0, 11), "step 4 of 8");
  EXPECT_THAT(noted("beyond"), StartsWith("step 48 of 48"));
}

// Milliseconds from step to step, as a reader asks for motion.
TEST_F(InChromium, PlaysSlowerWhereTheReaderAsksForLessMotion) {
  std::string html = page_html(small_page());
  const std::string probe = R"(<script>
    const f = document.getElementById('steps');
    window.setInterval = (work, period) => { f.dataset.period = period; };
    f.dispatchEvent(new KeyboardEvent('keydown', {key: ' ', bubbles: true}));
    </script></body>)";
  html.replace(html.rfind("</body>"), 7, probe);
  write(html);
  EXPECT_THAT(open("--dump-dom --force-prefers-reduced-motion"), HasSubstr("data-period=\"1000\""));
  EXPECT_THAT(open("--dump-dom"), HasSubstr("data-period=\"350\""));
}

TEST_F(InChromium, DrawsTheStepperLightAndDark) {
  write(page_html(small_page()));
  open("--screenshot=light.png");
  open("--blink-settings=preferredColorScheme=0 --screenshot=dark.png");
  const std::string light = contents(folder() / "light.png");
  EXPECT_GT(light.size(), 40'000U);
  EXPECT_NE(light, contents(folder() / "dark.png"));
}

// "C 128-191" is wider than "C 64-127": the words of some are narrowed, and none is left out.
TEST_F(InChromium, TheStepperLabelsEveryInstanceThatHasWork) {
  const Arch arch = load_arch(source_path("configs/arch/eyeriss.yaml"));
  const Workload layer = load_workload(source_path("configs/workloads/alexnet/conv3.yaml"));
  const Mapping mapping = parse_mapping(
      "mapping: [keep DRAM: [I, W, O], keep GLB: [I], for K: 48, keep GLB: [O], for S: 1, for Q: 1,"
      " for P: 1, parallel K: 6 over X of PEs, parallel C: 64 over Y of PEs,"
      " parallel R: 1 over Y of PEs, keep spad: [W, O], for C: 16, keep spad: [I], for C: 1,"
      " for K: 1]",
      "m.yaml", arch, layer);
  const Problem problem{arch, layer};
  std::string html =
      page_html(stepper_page(problem, mapping, std::get<Cost>(evaluate(problem, mapping))));
  html.replace(html.rfind("</body>"), 7, R"(<script>
    let labels = 0;
    const plain = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function(...all) {
      labels += all[0].startsWith('R ');
      plain.apply(this, all);
    };
    document.getElementById('steps').dispatchEvent(
        new KeyboardEvent('keydown', {key: 'End', bubbles: true}));
    document.body.dataset.labels = labels;
    </script></body>)");
  write(html);
  EXPECT_THAT(open("--dump-dom"), HasSubstr("data-labels=\"96\""));
}

// 1.25 KiB lies between two figures: the text and the stepper take the same one.
TEST_F(InChromium, TheStepperRoundsAsTheTextDoes) {
  const Arch arch = load_arch(source_path("configs/arch/teaching.yaml"));
  const Workload layer = parse_workload("name: g\ngemm: {m: 1280, n: 1, k: 1}\n", "g.yaml");
  const Mapping mapping = parse_mapping(
      "mapping: [keep DRAM: [A, B, Z], keep Buffer: [A], for M: 1]", "m.yaml", arch, layer);
  const Problem problem{arch, layer};
  write(page_html(stepper_page(problem, mapping, std::get<Cost>(evaluate(problem, mapping)))));
  EXPECT_EQ(bytes_text(Bits{8 * 1280}), "1.2 KiB");
  EXPECT_THAT(open("--dump-dom"), HasSubstr("1.2 KiB of 32 KiB"));
}

TEST_F(InChromium, TheStepperCanBeReadOnAPhone) {
  EXPECT_THAT(on_a_phone(page_html(small_page())),
              ::testing::ContainsRegex("letters (9|1[0-9])\\.[0-9] of [1-9][0-9]+ sideways 0<"));
}

}  // namespace
}  // namespace mapsim::stepper_test
