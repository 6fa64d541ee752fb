// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/support/in_folder.hpp"

namespace mapsim::cgroup_test {
namespace {

namespace fs = std::filesystem;

class ControlGroups : public InFolder {
 protected:
  void limit(const std::string& name, const std::string& text) {
    fs::create_directories((folder() / name).parent_path());
    std::ofstream{folder() / name} << text << '\n';
  }
  std::size_t bytes(const std::string& groups) {
    write("groups", groups);
    return cgroup_bytes(folder() / "groups", folder() / "root");
  }
};

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

TEST_F(ControlGroups, LimitNothingWhereTheyAreNot) {
  EXPECT_EQ(bytes(""), kUnlimited);
  EXPECT_EQ(bytes("0::/user/session"), kUnlimited);
  EXPECT_EQ(cgroup_bytes(folder() / "none", folder() / "none"), kUnlimited);
}

TEST_F(ControlGroups, LimitByTheLeastOfThoseThatAProcessIsIn) {
  limit("root/user/memory.max", "3000");
  limit("root/user/session/memory.max", "max");
  limit("root/other/memory.max", "10");
  EXPECT_EQ(bytes("0::/user/session"), 3000U);
  EXPECT_EQ(bytes("0::/"), kUnlimited);
  limit("root/user/session/memory.max", "2000");
  EXPECT_EQ(bytes("0::/user/session"), 2000U);
  EXPECT_EQ(bytes("0::/user"), 3000U);
}

TEST_F(ControlGroups, OfAContainerAreItsRoot) {
  limit("root/memory.max", "700");
  EXPECT_EQ(bytes("0::/"), 700U);
  EXPECT_EQ(bytes("0::/../above"), 700U);
}

TEST_F(ControlGroups, MayBeOfTheFirstVersion) {
  limit("root/memory/memory.limit_in_bytes", "9223372036854771712");
  limit("root/memory/jobs/1/memory.limit_in_bytes", "500");
  limit("root/cpu/jobs/1/memory.limit_in_bytes", "5");
  EXPECT_EQ(bytes("5:cpu:/jobs/1\n4:cpuset,memory:/jobs/1\n0::/"), 500U);
  EXPECT_EQ(bytes("5:cpu:/jobs/1\n4:memory:/jobs\n"), 9223372036854771712U);
}

}  // namespace
}  // namespace mapsim::cgroup_test
