// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "core/rng.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::sweep_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Milliseconds = std::chrono::milliseconds;

const std::string kConfigs = source_path("configs/");

std::string contents(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// The program as users start it, and kill it, in a folder with a campaign of 60 points.
class SweepProgram : public ::testing::Test {
 protected:
  SweepProgram() {
    std::string pattern = (fs::temp_directory_path() / "mapsim_sweep_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::ofstream{folder_ / "gemm.yaml"} << "name: tiny\ngemm: {m: 4, n: 4, k: 8}\n";
    std::ofstream{folder_ / "campaign.yaml"}
        << "name: buffers\narchitectures:\n  - file: " << kConfigs << "arch/teaching.yaml\n"
        << "    list:\n"
           "      - {'nodes[1].storage': Registers}  # a name twice: rows without a mapping\n"
           "      - {nodes.Buffer.capacity: 64 B}\n"
           "      - {nodes.Buffer.capacity: 96 B}\n"
           "      - {nodes.Buffer.capacity: 128 B}\n"
           "      - {nodes.Buffer.capacity: 192 B}\n"
           "      - {nodes.Buffer.capacity: 256 B}\n"
           "    grid: {nodes.PEs.x: [1, 2, 3, 4, 8]}\n"
           "workloads: [gemm.yaml]\nobjectives: [energy, edp]\n";
  }
  ~SweepProgram() override { fs::remove_all(folder_); }

  // Without a shell, so that signals reach whom they are meant for.
  pid_t start(const std::vector<std::string>& command) const {
    const pid_t child = fork();
    if (child == 0) {
      const int out = open((folder_ / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(out, STDOUT_FILENO);
      dup2(out, STDERR_FILENO);
      std::vector<char*> words;
      for (const std::string& word : command) {
        words.push_back(const_cast<char*>(word.c_str()));
      }
      words.push_back(nullptr);
      if (chdir(folder_.c_str()) == 0) {
        execvp(words[0], words.data());
      }
      _exit(127);
    }
    return child;
  }
  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  static bool has_ended(pid_t child) {
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid == child;
  }
  // After others, so that on a busy machine, too, it does not end while it is watched.
  static std::vector<std::string> last(std::vector<std::string> command) {
    command.insert(command.begin(), {"nice", "-n", "19"});
    return command;
  }
  // The bytes of a database and of its log, which grows with every answer.
  std::uintmax_t written(const std::string& database) const {
    std::uintmax_t bytes = 0;
    for (const char* const part : {"", "-wal"}) {
      std::error_code none;
      const std::uintmax_t size = fs::file_size(folder() / (database + part), none);
      bytes += none ? 0 : size;
    }
    return bytes;
  }
  // Until what is written has changed so often, or its writer has ended.
  void await_writes(const std::string& database, std::uint64_t times, pid_t writer) const {
    std::uintmax_t before = written(database);
    for (std::uint64_t seen = 0; seen < times && !has_ended(writer);) {
      std::this_thread::sleep_for(Milliseconds{1});
      const std::uintmax_t now = written(database);
      seen += now != before ? 1 : 0;
      before = now;
    }
  }
  void remove_database(const std::string& database) const {
    for (const char* const part : {"", "-wal", "-shm"}) {
      fs::remove(folder() / (database + part));
    }
  }
  int run(const std::vector<std::string>& command) const { return wait_for(start(command)); }
  std::string output() const { return contents(folder_ / "out"); }

  static std::vector<std::string> sweep(const std::string& database) {
    return {kProgram, "sweep", "campaign.yaml", "--db", database, "--threads", "2"};
  }
  // Every row, but for the seconds.
  Json rows(const std::string& database) const {
    EXPECT_EQ(run({kProgram, "results", database, "--json"}), 0) << output();
    Json points = Json::parse(output())["points"];
    for (Json& point : points) {
      point.erase("seconds");
    }
    return points;
  }
  static std::int64_t answered(const Json& rows) {
    return std::count_if(rows.begin(), rows.end(),
                         [](const Json& row) { return !row["status"].is_null(); });
  }
  // 0 while there is no database.
  std::int64_t answered_in(const std::string& database) const {
    const bool there = run({kProgram, "results", database, "--json"}) == 0;
    return there ? answered(Json::parse(output())["points"]) : 0;
  }
  const fs::path& folder() const { return folder_; }
  // In place of the campaign: a network on ten machines, whose mappings are chosen jointly.
  void ask_for_networks() const {
    std::ofstream{folder_ / "other.yaml"} << "name: other\ngemm: {m: 6, n: 4, k: 6}\n";
    std::ofstream{folder_ / "net.yaml"}
        << "name: net\nlayers: [{workload: gemm.yaml, count: 2}, {workload: other.yaml}]\n";
    std::ofstream{folder_ / "campaign.yaml"}
        << "name: joint\narchitectures:\n  - file: " << kConfigs << "arch/teaching.yaml\n"
        << "    grid:\n      nodes.Buffer.capacity: [64 B, 96 B, 128 B, 192 B, 256 B]\n"
           "      nodes.DRAM.bandwidth.shared: [1 B/cycle, 4 B/cycle]\n"
           "networks: [net.yaml]\nobjectives: [edp]\n";
  }
  std::string networks(const std::string& database) const {
    EXPECT_EQ(run({kProgram, "results", database, "--networks", "--csv"}), 0) << output();
    return output();
  }

 private:
  fs::path folder_;
};

TEST_F(SweepProgram, KilledAtAnyMomentGoesOnAndEndsWithTheSameRows) {
  ASSERT_EQ(run(sweep("whole.sqlite")), 0) << output();
  const Json whole = rows("whole.sqlite");
  ASSERT_EQ(answered(whole), 60);
  Rng rng{7};
  std::int64_t before = 0;
  int kills = 0;
  int half_done = 0;
  for (int i = 0; i < tried_of(25) || ((half_done == 0 || kills < 5) && i < 250); ++i) {
    if (before == 60) {  // it was faster than the kill: once more
      remove_database("killed.sqlite");
      before = 0;
    }
    // After some time, be it before anything is written; or after some answers, however long they
    // take.
    const pid_t child = start(last(sweep("killed.sqlite")));
    if (i % 2 == 0) {
      std::this_thread::sleep_for(Milliseconds{1 + rng.below(i % 3 == 0 ? 20 : 150)});
    } else {
      await_writes("killed.sqlite", 1 + rng.below(12), child);
    }
    kill(child, SIGKILL);
    kills += wait_for(child) == -SIGKILL ? 1 : 0;
    const std::int64_t now = answered_in("killed.sqlite");
    EXPECT_GE(now, before) << "rows were lost";
    before = now;
    half_done += now > 0 && now < 60 ? 1 : 0;
  }
  EXPECT_GE(kills, 5);
  EXPECT_GE(half_done, 1);
  ASSERT_EQ(run(sweep("killed.sqlite")), 0) << output();
  EXPECT_THAT(output(), testing::HasSubstr(fmt::format("60 points; {} known", before)));
  EXPECT_EQ(rows("killed.sqlite"), whole);
}

TEST_F(SweepProgram, KilledWhileItChoosesMappingsGoesOn) {
  ask_for_networks();
  ASSERT_EQ(run(sweep("whole.sqlite")), 0) << output();
  const std::string whole = networks("whole.sqlite");
  const auto chosen = [&](const std::string& table) {
    int count = 0;
    for (std::size_t at = table.find(",jointly,"); at != std::string::npos;
         at = table.find(",jointly,", at + 1)) {
      ++count;
    }
    return count;
  };
  ASSERT_EQ(chosen(whole), 10);
  int before = 0;
  int between = 0;
  for (int i = 0; i < 100 && between < 2; ++i) {
    if (before == 10) {
      remove_database("killed.sqlite");
      before = 0;
    }
    const pid_t child = start(last(sweep("killed.sqlite")));
    await_writes("killed.sqlite", 20 + 5 * static_cast<std::uint64_t>(i % 5), child);
    kill(child, SIGKILL);
    wait_for(child);
    const bool there = answered_in("killed.sqlite") > 0;
    const int now = there ? chosen(networks("killed.sqlite")) : 0;
    EXPECT_GE(now, before) << "choices were lost";
    between += now > before && now < 10 ? 1 : 0;
    before = now;
  }
  EXPECT_GE(between, 2);
  ASSERT_EQ(run(sweep("killed.sqlite")), 0) << output();
  EXPECT_EQ(networks("killed.sqlite"), whole);
}

// In the middle of a search that would take for ever: it leaves no row, and the log is closed.
TEST_F(SweepProgram, StopsCleanlyWhenInterrupted) {
  std::ofstream{folder() / "campaign.yaml", std::ios::app}
      << "strategy: random\nevaluations: 9007199254740992\n";
  const pid_t child = start(sweep("stopped.sqlite"));
  while (answered_in("stopped.sqlite") < 10) {  // those that cannot be read
    std::this_thread::sleep_for(Milliseconds{20});
  }
  kill(child, SIGINT);
  EXPECT_EQ(wait_for(child), 130);
  EXPECT_FALSE(fs::exists(folder() / "stopped.sqlite-wal"));
  const Json left = rows("stopped.sqlite");
  EXPECT_EQ(left.size(), 60);
  EXPECT_EQ(answered(left), 10) << "two objectives and five arrays with no buffer of that size";
}

// Python is the other process.
TEST_F(SweepProgram, SaysAfterASecondThatOthersHoldItsDatabase) {
  ASSERT_EQ(run(sweep("held.sqlite")), 0) << output();
  for (const bool stopped : {false, true}) {
    const pid_t holder = start({"/usr/bin/python3", "-c",
                                "import sqlite3, time\n"
                                "database = sqlite3.connect('held.sqlite', isolation_level=None)\n"
                                "database.execute('BEGIN IMMEDIATE')\n"
                                "open('holding', 'w').close()\n"
                                "time.sleep(60)"});
    while (!fs::exists(folder() / "holding")) {
      std::this_thread::sleep_for(Milliseconds{5});
    }
    const auto began = std::chrono::steady_clock::now();
    const pid_t sweeping = start(sweep("held.sqlite"));
    while (output().empty() && std::chrono::steady_clock::now() - began < Milliseconds{60000}) {
      std::this_thread::sleep_for(Milliseconds{5});
    }
    EXPECT_GE(std::chrono::steady_clock::now() - began, Milliseconds{1000});
    EXPECT_EQ(output(), "mapsim: held.sqlite: waiting for another process that writes to it\n");
    kill(stopped ? sweeping : holder, stopped ? SIGINT : SIGKILL);
    EXPECT_EQ(wait_for(sweeping), stopped ? 130 : 0) << output();
    kill(holder, SIGKILL);
    wait_for(holder);
    fs::remove(folder() / "holding");
  }
}

// A limit of the shell's, in blocks of 1,024 bytes; SIGXFSZ would end the process.
TEST_F(SweepProgram, SaysThatAFileMayGrowNoFurther) {
  const std::string sweeping =
      fmt::format("ulimit -f 8; exec '{}' sweep campaign.yaml --db small.sqlite", kProgram);
  EXPECT_EQ(run({"/bin/bash", "-c", sweeping}), 2);
  EXPECT_EQ(output(),
            "small.sqlite: disk I/O error; a file may have 8192 bytes at most (ulimit -f)\n");
  ASSERT_EQ(run(sweep("whole.sqlite")), 0) << output();
  const std::string reporting =
      fmt::format("ulimit -f 40; exec '{}' report whole.sqlite -o page.html", kProgram);
  EXPECT_EQ(run({"/bin/bash", "-c", reporting}), 2);
  EXPECT_EQ(output(), "mapsim: cannot write 'page.html': File too large\n");
  EXPECT_FALSE(fs::exists(folder() / "page.html"));
}

// Where no mount can be made, there is nothing to test.
TEST_F(SweepProgram, IsReadFromAMountThatIsReadOnly) {
  ASSERT_EQ(run(sweep("whole.sqlite")), 0) << output();
  const std::string mount =
      "mount --bind . . && mount -o remount,bind,ro . && cd \"$PWD\" && ! touch here 2>/dev/null "
      "&& ";
  const auto mounted = [&](const std::string& command) {
    return run({"unshare", "-rm", "/bin/bash", "-c", mount + command});
  };
  if (mounted("true") != 0) {
    GTEST_SKIP() << "no mount can be made here: " << output();
  }
  ASSERT_EQ(run({kProgram, "results", "whole.sqlite", "--csv"}), 0) << output();
  const std::string table = output();
  EXPECT_EQ(mounted(fmt::format("'{}' results whole.sqlite --csv", kProgram)), 0);
  EXPECT_EQ(output(), table);
  EXPECT_EQ(mounted(fmt::format("'{}' report whole.sqlite | tail -1", kProgram)), 0);
  EXPECT_EQ(output(), "</html>\n");
}

TEST_F(SweepProgram, DividesIntoShardsThatMerge) {
  ASSERT_EQ(run(sweep("whole.sqlite")), 0) << output();
  std::vector<std::string> merge{kProgram, "merge", "merged.sqlite"};
  std::vector<pid_t> children;
  for (int i = 1; i <= 4; ++i) {  // at once, as an array of jobs
    merge.push_back(fmt::format("{}.sqlite", i));
    std::vector<std::string> part = sweep(merge.back());
    part.insert(part.end(), {"--shard", fmt::format("{}/4", i)});
    children.push_back(start(part));
  }
  for (const pid_t child : children) {
    EXPECT_EQ(wait_for(child), 0);
  }
  EXPECT_EQ(run(merge), 0) << output();
  EXPECT_EQ(rows("merged.sqlite"), rows("whole.sqlite"));
}

// Two at once on one database: each waits for the rows of the other.
TEST_F(SweepProgram, SharesItsDatabase) {
  const pid_t first = start(sweep("shared.sqlite"));
  const pid_t second = start(sweep("shared.sqlite"));
  EXPECT_EQ(wait_for(first), 0) << output();
  EXPECT_EQ(wait_for(second), 0) << output();
  ASSERT_EQ(run(sweep("whole.sqlite")), 0) << output();
  EXPECT_EQ(rows("shared.sqlite"), rows("whole.sqlite"));
}

class SweepUnderMpi : public SweepProgram {
 protected:
  void SetUp() override {
    SweepProgram::SetUp();
    if (*kMpirun == '\0') {
      GTEST_SKIP() << "it is built without MPI";
    }
  }
  // Four processes on however many cores, as root or not.
  static std::vector<std::string> mpi_sweep(const std::string& database) {
    std::vector<std::string> command{
        kMpirun, "--oversubscribe", "--allow-run-as-root", "--mca", "btl", "self,vader", "-n", "4"};
    for (const std::string& word : sweep(database)) {
      command.push_back(word);
    }
    return command;
  }
  bool loses(int rank) const;
  int end_of(pid_t job) const;
  // The process of this rank that works on a database; 0: there is none.
  static pid_t find_rank(int rank, const std::string& folder) {
    for (const auto& entry : fs::directory_iterator{"/proc"}) {
      const std::string name = entry.path().filename().string();
      std::error_code error;
      if (name.find_first_not_of("0123456789") == std::string::npos &&
          fs::read_symlink(entry.path() / "cwd", error) == folder &&
          contents(entry.path() / "environ")
                  .find(fmt::format("OMPI_COMM_WORLD_RANK={}", rank) + '\0') != std::string::npos) {
        return std::stoi(name);
      }
    }
    return 0;
  }
};

// Open MPI's mpiexec has been seen to wait for ever for ranks that have all ended: it is killed
// then.
int SweepUnderMpi::end_of(pid_t job) const {
  constexpr int kTimeout = 100;  // tenths of a second
  for (int idle = 0; !has_ended(job) && idle < kTimeout; ++idle) {
    std::this_thread::sleep_for(Milliseconds{100});
    for (int rank = 0; rank < 4; ++rank) {
      idle = find_rank(rank, folder().string()) != 0 ? 0 : idle;
    }
  }
  if (!has_ended(job)) {
    kill(job, SIGKILL);
  }
  return wait_for(job);
}

// Kills a rank, a while after it has begun; a job that was done before begins anew.
bool SweepUnderMpi::loses(int rank) const {
  for (int attempt = 1; attempt <= 20; ++attempt) {
    const pid_t job = start(last(mpi_sweep("lost.sqlite")));
    pid_t victim = 0;
    while (victim == 0 && !has_ended(job)) {
      std::this_thread::sleep_for(Milliseconds{5});
      victim = find_rank(rank, folder().string());
    }
    std::this_thread::sleep_for(Milliseconds{rank * 60 / attempt});
    if (victim != 0 && !has_ended(job)) {
      kill(victim, SIGKILL);
    }
    if (end_of(job) != 0) {
      return victim != 0;
    }
    EXPECT_EQ(answered_in("lost.sqlite"), 60) << "it ended as if nothing were lost";
    remove_database("lost.sqlite");
  }
  return false;
}

TEST_F(SweepUnderMpi, GivesTheSameRows) {
  ASSERT_EQ(run(sweep("whole.sqlite")), 0) << output();
  ASSERT_EQ(run(mpi_sweep("mpi.sqlite")), 0) << output();
  EXPECT_THAT(output(), testing::HasSubstr("60 points; 0 known, 60 computed"));
  EXPECT_EQ(rows("mpi.sqlite"), rows("whole.sqlite"));
  ask_for_networks();
  ASSERT_EQ(run(sweep("whole.sqlite")), 0) << output();
  ASSERT_EQ(run(mpi_sweep("mpi.sqlite")), 0) << output();
  EXPECT_THAT(
      output(),
      testing::HasSubstr("edp of networks: 10 joint choices of mappings; 0 known, 10 chosen by "));
  EXPECT_EQ(networks("mpi.sqlite"), networks("whole.sqlite"));
}

TEST_F(SweepUnderMpi, EndsWhenARankIsLostAndGoesOnTheNextTime) {
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_TRUE(loses(rank)) << output();
  }
  ASSERT_EQ(run(sweep("whole.sqlite")), 0) << output();
  ASSERT_EQ(run(mpi_sweep("lost.sqlite")), 0) << output();
  EXPECT_EQ(rows("lost.sqlite"), rows("whole.sqlite"));
}

TEST_F(SweepUnderMpi, SaysOnceWhatIsWrong) {
  std::ofstream{folder() / "campaign.yaml"} << "name: 3\n";
  EXPECT_EQ(run(mpi_sweep("a.sqlite")), 2);
  const std::string text = output();
  const std::size_t at = text.find("missing key 'architectures'");
  EXPECT_NE(at, std::string::npos) << text;
  EXPECT_EQ(text.find("missing key 'architectures'", at + 1), std::string::npos) << text;
}

TEST_F(SweepProgram, SaysThatItIsBuiltWithoutMpi) {
  if (*kMpirun != '\0') {
    GTEST_SKIP() << "it is built with MPI";
  }
  std::vector<std::string> command{"env", "OMPI_COMM_WORLD_SIZE=4"};
  for (const std::string& word : sweep("a.sqlite")) {
    command.push_back(word);
  }
  EXPECT_EQ(run(command), 2);
  EXPECT_THAT(output(), testing::HasSubstr("built without MPI"));
}

TEST_F(SweepProgram, SaysWhatIsWrongWithItsArguments) {
  const auto error = [this](const std::vector<std::string>& more) {
    std::vector<std::string> command = sweep("a.sqlite");
    command.insert(command.end(), more.begin(), more.end());
    EXPECT_EQ(run(command), 2);
    return output();
  };
  for (const char* shard : {"0/4", "5/4", "4", "1/", "/4", "1/4x", "a/b", "-1/4"}) {
    EXPECT_THAT(error({std::string{"--shard="} + shard}),
                testing::HasSubstr("is not I/N with 1 <= I <= N, such as 2/4"));
  }
  EXPECT_THAT(error({"--db", "campaign.yaml"}), testing::HasSubstr("--db"));
  EXPECT_FALSE(fs::exists(folder() / "a.sqlite"));
  EXPECT_EQ(run({kProgram, "merge", "a.sqlite", "b.sqlite"}), 2);
  EXPECT_EQ(run({kProgram, "results", "b.sqlite"}), 2);
  EXPECT_EQ(output(), "b.sqlite: cannot be opened: No such file or directory\n");
}

}  // namespace
}  // namespace mapsim::sweep_test
