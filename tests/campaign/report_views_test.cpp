// SPDX-License-Identifier: Apache-2.0
// What a report shows of several things together: sensitivity, sums, marks that light up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "tests/campaign/made_up.hpp"
#include "tests/support/in_chromium.hpp"

namespace mapsim::report_views_test {
namespace {

using ::testing::HasSubstr;

// Two settings; the energy of a design is 100 pJ for a GLB of 2 KiB and two PEs.
Study small_study() {
  Study study{"c", "net", "energy", "steady", "", "none", "exact", {}};
  for (const int kib : {1, 2, 4}) {
    for (const int pes : {1, 2}) {
      DesignResult design;
      design.number = study.designs.size() + 1;
      design.arch = "machine";
      design.settings = {{"nodes.GLB.capacity", fmt::format("{} KiB", kib)},
                         {"nodes.PEs.x", fmt::format("{}", pes)}};
      design.clock_hz = 1e9;
      LayerResult layer;
      layer.layer = "conv";
      layer.status = "optimal";
      layer.energy_pj = (kib == 1 ? 300 : kib == 2 ? 100 : 110) * (pes == 1 ? 1.5 : 1);
      layer.energy = {{"DRAM", "I", *layer.energy_pj}};
      layer.cycles = 1'000 / pes;
      design.layers.push_back(layer);
      study.designs.push_back(design);
    }
  }
  study.sum_up();
  return study;
}

TEST(Sensitivity, ComparesTheBestWithDesignsThatDifferInOneSetting) {
  const Study study = small_study();
  ASSERT_EQ(study.best()->number, 4U);
  const auto figure = sensitivity_figure(study, "s");
  ASSERT_TRUE(figure);
  EXPECT_EQ(figure->csv,
            "setting,value,design,energy_change,latency_change,objective_change\n"
            "nodes.GLB.capacity,1 KiB,2,2,0,2\n"
            "nodes.GLB.capacity,4 KiB,6,0.10000000000000009,0,0.10000000000000009\n"
            "nodes.PEs.x,1,3,0.5,1,0.5\n");
  EXPECT_THAT(figure->svg, HasSubstr(">GLB.capacity (2 KiB)<"));
  EXPECT_THAT(figure->svg, HasSubstr("<title>2: GLB.capacity (2 KiB) 1 KiB, energy: +200 %"));
  EXPECT_THAT(figure->svg, HasSubstr(">latency<"));
}

TEST(Sensitivity, IsNoneWhereNoDesignDiffersInOneSettingAlone) {
  Study study = small_study();
  study.designs = {study.designs[0], study.designs[3]};
  EXPECT_FALSE(sensitivity_figure(study, "s"));
}

TEST(Sums, AreOneTableOverAllNetworks) {
  Study other = small_study();
  other.network = "other";
  const PageTable table = sums_table({small_study(), other}, "sums");
  EXPECT_EQ(table.rows.size(), 12U);
  const Page page = page_of({small_study(), other});
  EXPECT_THAT(page_html(page), HasSubstr("id=\"sums\""));
}

// One browser is started, and does it all.
TEST_F(InChromium, LightsUpWhatBelongsTogetherAndZooms) {
  std::string html = page_html(page_of({small_study()}));
  const std::string probe = R"(<script>
    const note = (name, value) => { document.documentElement.dataset[name] = value; };
    const dots = [...document.querySelectorAll('.marks circle')];
    const dot = dots.find((mark) => mark.textContent.startsWith('3: '));
    dot.dispatchEvent(new Event('pointerover', {bubbles: true}));
    const lit = [...document.querySelectorAll('.lit')];
    note('marks', lit.filter((mark) => mark.closest('svg')).map((mark) =>
      mark.textContent.split(':')[0]).join());
    note('rows', lit.filter((mark) => mark.tagName === 'TR').length);
    const row = document.querySelector('tr[data-keys]');
    row.dispatchEvent(new MouseEvent('click', {bubbles: true}));
    dot.dispatchEvent(new Event('pointerover', {bubbles: true}));  // the click has pinned the row
    note('pinned', row.classList.contains('lit'));
    document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));
    note('cleared', document.querySelectorAll('.lit').length);
    const press_key = (key) => document.activeElement.dispatchEvent(
      new KeyboardEvent('keydown', {key, bubbles: true}));
    note('tabs', document.querySelectorAll('#' + row.closest('figure').id + ' tr[tabindex="0"]').length);
    row.focus();
    press_key('ArrowDown');
    const second = document.activeElement;
    note('second', second === row.nextElementSibling && second.classList.contains('lit') &&
      !row.classList.contains('lit') && second.tabIndex === 0 && row.tabIndex === -1);
    press_key('Enter');
    row.focus();
    note('kept', second.classList.contains('lit') && !row.classList.contains('lit'));
    press_key('Escape');
    const figure = dot.closest('figure');
    const svg = figure.querySelector('svg');
    const before = [svg.getAttribute('viewBox'), dot.getAttribute('r')];
    const press = (label) => figure.querySelector(`[aria-label="${label}"]`).click();
    press('zoom in');
    note('smaller', Number(dot.getAttribute('r')) < Number(before[1]));
    note('zoomed', svg.getAttribute('viewBox') !== before[0]);
    press('zoom out to all');
    note('restored', svg.getAttribute('viewBox') === before[0] && dot.getAttribute('r') == before[1]);
    </script></body>)";
  html.replace(html.rfind("</body>"), 7, probe);
  write(html);
  const std::string dom = open("--dump-dom");
  const auto noted = [&dom](const std::string& name) {
    std::smatch found;
    const std::regex attribute{"data-" + name + "=\"([^\"]*)\""};
    return std::regex_search(dom, found, attribute) ? found[1].str() : std::string{"missing"};
  };
  EXPECT_THAT(noted("marks"), ::testing::MatchesRegex("3(,3)+"));  // its dot, its bars
  EXPECT_EQ(noted("rows"), "2");  // of the designs, and of the points
  EXPECT_EQ(noted("pinned"), "true");
  EXPECT_EQ(noted("cleared"), "0");
  EXPECT_EQ(noted("tabs"), "1");
  EXPECT_EQ(noted("second"), "true");
  EXPECT_EQ(noted("kept"), "true");
  EXPECT_EQ(noted("smaller"), "true");
  EXPECT_EQ(noted("zoomed"), "true");
  EXPECT_EQ(noted("restored"), "true");
}

// Of two networks, two campaigns of one name in two files: what lights up when the first mark of a
// design (a dot) and of a layer (a bar) is pointed at, as numbers of sections, and rows of points.
TEST_F(InChromium, LightsUpOnlyTheSameDesignsAndLayers) {
  Study other = small_study();
  other.network = "other";
  Study stranger = small_study();
  stranger.source = 1;
  std::vector<Study> studies{small_study(), other, stranger};
  for (Study& study : studies) {
    for (DesignResult& design : study.designs) {
      design.layers.push_back(design.layers.front());
      design.layers.back().layer = "fc";
    }
  }
  std::string html = page_html(page_of(studies));
  const std::string probe = R"(<script>
    const sections = [...document.querySelectorAll('section')];
    const point_at = (name, mark) => {
      mark.dispatchEvent(new Event('pointerover', {bubbles: true}));
      const lit = [...document.querySelectorAll('.lit')];
      document.documentElement.dataset[name] = [...new Set(lit.map((one) =>
        sections.indexOf(one.closest('section'))))].sort().join();
    };
    const marks = [...sections[0].querySelectorAll('.marks > *')];
    point_at('design', marks.find((mark) => mark.textContent.startsWith('3: ')));
    point_at('layer', marks.find((mark) => mark.textContent.startsWith('conv, ')));
    point_at('node', marks.find((mark) => mark.textContent.startsWith('DRAM, ')));
    document.querySelector('#points-table button:last-of-type').click();
    const row = [...document.querySelectorAll('#points-table tbody tr')].find((one) =>
      one.textContent.includes('other') && one.textContent.includes('fc'));
    point_at('row', row);
    document.documentElement.dataset.rows =
      document.querySelectorAll('#points-table .lit').length;
    </script></body>)";
  html.replace(html.rfind("</body>"), 7, probe);
  write(html);
  const std::string dom = open("--dump-dom");
  const auto noted = [&dom](const std::string& name) {
    std::smatch found;
    const std::regex attribute{"data-" + name + "=\"([^\"]*)\""};
    return std::regex_search(dom, found, attribute) ? found[1].str() : std::string{"missing"};
  };
  EXPECT_EQ(noted("design"), "0,1,3,4");  // the campaign's two networks, sums, points
  EXPECT_EQ(noted("layer"), "0,2,4");     // the network, in both files
  EXPECT_EQ(noted("node"), "");
  EXPECT_EQ(noted("row"), "0,1,3,4");
  // 12 points of its layer and design: 6 of `fc` in `other`, and 2 + 2 - 1 more of design 1.
  EXPECT_EQ(noted("rows"), "9");
}

// Figures keep their letters and scroll in their boxes; the page does not.
TEST_F(InChromium, CanBeReadOnAPhone) {
  EXPECT_THAT(on_a_phone(page_html(page_of({small_study()}))),
              ::testing::ContainsRegex("letters (9|1[0-9])\\.[0-9] of [1-9][0-9]+ sideways 0<"));
}

}  // namespace
}  // namespace mapsim::report_views_test
