// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/support/in_folder.hpp"

namespace mapsim {

// A page as a browser shows it. Skipped where there is no Chromium.
class InChromium : public InFolder {
 protected:
  void SetUp() override {
    if (std::system("command -v chromium >/dev/null 2>&1") != 0) {
      GTEST_SKIP() << "no chromium: pages are not looked at";
    }
  }

  void write(const std::string& html) const { InFolder::write("page.html", html); }
  // A page in a window as narrow as a phone's: "letters 9.2 of 40 sideways 0", the smallest letters
  // of its figures [px], how many texts they have, and how far the page is wider than the window.
  std::string on_a_phone(const std::string& html) const {
    std::string quoted;
    for (const char c : html) {
      quoted += c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string{c};
    }
    write("<iframe style=\"width:390px;height:844px;border:0\" srcdoc=\"" + quoted + R"("></iframe>
      <script>onload = () => {
        const {document: page, innerWidth} = document.querySelector('iframe').contentWindow;
        const sizes = [...page.querySelectorAll('svg text')].map((text) => {
          const {a, b} = text.getScreenCTM();
          return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
        });
        document.body.textContent = `letters ${Math.min(...sizes).toFixed(1)} of ${sizes.length} ` +
          `sideways ${Math.max(0, page.documentElement.scrollWidth - innerWidth)}`;
      };</script>)");
    return open("--dump-dom");
  }
  // What it says, after it has done what `options` ask of the page at this fragment.
  std::string open(const std::string& options, const std::string& fragment = "") const {
    const std::string command = fmt::format(
        "cd '{0}' && timeout 120 chromium --headless --no-sandbox --disable-gpu "
        "--user-data-dir='{0}/profile' --hide-scrollbars --window-size=1000,1600 "
        "--enable-logging=stderr {1} 'file://{0}/page.html{2}' >out 2>err",
        folder().string(), options, fragment);
    EXPECT_EQ(std::system(command.c_str()), 0) << contents(folder() / "err");
    EXPECT_THAT(contents(folder() / "err"), ::testing::Not(::testing::HasSubstr("CONSOLE")));
    return contents(folder() / "out");
  }
};

}  // namespace mapsim
