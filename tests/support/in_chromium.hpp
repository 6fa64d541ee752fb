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
