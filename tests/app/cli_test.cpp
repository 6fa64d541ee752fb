// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/build_paths.hpp"
#include "tests/support/command_line.hpp"

namespace mapsim::cli_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kMapping = kRoot + "/configs/mappings/teaching_weight_stationary.yaml";

TEST_F(CommandLine, SearchesAndProves) {
  const Outcome result = run(fmt::format("search {} {} --json", kTeaching, kLayer));
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["certificate"]["status"], "optimal");
  EXPECT_EQ(json["cost"]["energy_pj"], json["certificate"]["lower_bound"]);
  EXPECT_EQ(json["cost"]["macs"], 18'432);
}

TEST_F(CommandLine, WritesAProofThatHoldsUntilItIsChanged) {
  run(fmt::format("search {} {}/small_gemm.yaml --certificate proof.yaml", kTeaching, kData));
  const Outcome whole = run(
      fmt::format("check proof.yaml --arch {} --workload {}/small_gemm.yaml", kTeaching, kData));
  EXPECT_EQ(whole.code, 0);
  EXPECT_THAT(
      whole.out,
      HasSubstr(
          "small_gemm on teaching: the proof holds\noperands 8 b, outputs 32 b, sums 32 b\n"));
  const Outcome stranger = run(fmt::format("check proof.yaml --workload {} --json", kLayer));
  EXPECT_EQ(stranger.code, 1);
  EXPECT_EQ(Json::parse(stranger.out)["check"]["holds"], false);

  std::string proof = contents(folder() / "proof.yaml");
  std::ofstream{folder() / "changed.yaml"}
      << proof.replace(proof.find("function: energy"), 16, "function: latency");
  const Outcome changed = run("check changed.yaml");
  EXPECT_EQ(changed.code, 2);
  EXPECT_THAT(changed.err, HasSubstr("digest: the file has been changed"));
  const Outcome other = run(fmt::format("check {}", kLayer));
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("this is a workload, not a certificate; it is the WORKLOAD"));
}

TEST_F(CommandLine, ProvesImperfectFactorsAndSaysUnderWhichRules) {
  const Outcome found = run(fmt::format(
      "search {} {}/small_gemm.yaml --imperfect --certificate proof.yaml", kTeaching, kData));
  EXPECT_EQ(found.code, 0);
  std::ofstream{folder() / "perfect.yaml"} << "mapspace: {factors: perfect}\n";
  std::ofstream{folder() / "older.yaml"} << "mapspace: {factors: balanced}\n";  // the older word
  const Outcome checked = run("check proof.yaml --constraints older.yaml");
  EXPECT_EQ(checked.code, 0);
  EXPECT_THAT(checked.out, HasSubstr("objective: energy\nrules:\n  tiling: uneven\n"
                                     "  factors: imperfect\n\nhow it was checked:"));
  const Outcome other = run("check proof.yaml --constraints perfect.yaml");
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out, HasSubstr("it is not about the mapspace of perfect.yaml"));
}

TEST_F(CommandLine, RefusesWhatLooksLikeAnotherSign) {
  const Outcome dash = run(fmt::format("search {} {} -o -", kTeaching, kLayer));
  EXPECT_EQ(dash.code, 2);
  EXPECT_THAT(
      dash.err,
      HasSubstr("'-' names no file (./- does); what a command prints goes to standard output"));
  EXPECT_TRUE(is_empty());
  for (const char* version : {"-V", "-v"}) {
    EXPECT_EQ(run(version).err,
              fmt::format("mapsim: no option '{}'; did you mean '--version'?\n", version));
  }
}

TEST_F(CommandLine, LeavesNoCertificateOfAFrontThatWasStopped) {
  std::ofstream{folder() / "proof.yaml"} << "of another search\n";
  const Outcome stopped = run(fmt::format(
      "search {} {} --pareto --budget-labels 1 --certificate proof.yaml", kTeaching, kLayer));
  EXPECT_THAT(stopped.err, HasSubstr("no certificate in proof.yaml"));
  EXPECT_FALSE(fs::exists(folder() / "proof.yaml"));
}

// Whose folds are full or divide: it says so.
TEST_F(CommandLine, WritesAProofOfATimeOfASystolicArray) {
  const std::string search = fmt::format(
      "search {}/configs/arch/systolic_32x32.yaml {}/small_gemm.yaml --objective latency", kSource,
      kData);
  EXPECT_THAT(run(search + " --certificate proof.yaml").out,
              HasSubstr("folds that leave a remainder or cross lines of the image were not"));
  const Json json = Json::parse(run(search + " --certificate proof.yaml --json").out);
  EXPECT_EQ(json["certificate"]["remainders_searched"], false);
  EXPECT_EQ(run("check proof.yaml").code, 0);
  EXPECT_THAT(run(search).out, ::testing::Not(HasSubstr("--certificate")));
}

TEST_F(CommandLine, WritesNoProofOfWhatIsNotProven) {
  const Outcome result = run(
      fmt::format("search {} {} --strategy random --certificate proof.yaml", kTeaching, kLayer));
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("only the strategy exact proves anything"));
  EXPECT_TRUE(is_empty());
}

TEST_F(CommandLine, DoesNotWriteOverItsInputs) {
  std::ofstream{folder() / "machine.yaml"} << contents(kTeaching);
  const Outcome result = run(fmt::format("search machine.yaml {} --out machine.yaml", kLayer));
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "mapsim: 'machine.yaml' would be written over 'machine.yaml'; name another file\n");
}

TEST_F(CommandLine, SimulatesForPrograms) {
  run(fmt::format("search {} {} --save-mapping best.yaml", kTeaching, kLayer));
  const Outcome result = run(fmt::format("simulate {} {} best.yaml --json", kTeaching, kLayer));
  EXPECT_EQ(result.code, 0);
  const Json simulation = Json::parse(result.out)["simulation"];
  EXPECT_EQ(simulation["agrees"], true);
  EXPECT_GT(simulation["counts_compared"], 50);
  EXPECT_EQ(simulation["differences"], Json::array());
}

TEST_F(CommandLine, ProvesOptimaOfMachinesThatLeak) {
  std::string machine = contents(kTeaching);
  machine.replace(machine.find("\nnodes:"), 1, "\ntechnology: 45nm\n");
  std::ofstream{folder() / "leaky.yaml"} << machine;
  const Outcome result = run(fmt::format("search leaky.yaml {} --json", kLayer));
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(Json::parse(result.out)["certificate"]["status"], "optimal");
  const Json cost = Json::parse(result.out)["cost"];
  EXPECT_GT(cost["leakage_pj"], 0);
  EXPECT_EQ(cost["leakage_missing"], Json({"DRAM"}));
  EXPECT_GT(cost["area_mm2"], 0);
}

TEST_F(CommandLine, SaysTheSameInTextForPeople) {
  const Outcome result = run(fmt::format("search {} {}", kTeaching, kLayer));
  EXPECT_EQ(result.code, 0);
  for (const char* part : {"keep DRAM", "energy: ", "<- bottleneck", "proven optimal"}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
}

TEST_F(CommandLine, FindsTheSameForAnyNumberOfThreads) {
  const auto found = [&](int threads) {
    Json json = Json::parse(run(fmt::format("search {} {} --objective edp --json --threads {}",
                                            kTeaching, kLayer, threads))
                                .out);
    json["statistics"].erase("seconds");
    json["statistics"].erase("peak_bytes");
    return json.dump();
  };
  const std::string alone = found(1);
  EXPECT_EQ(found(2), alone);
  EXPECT_EQ(found(5), alone);
}

TEST_F(CommandLine, EvaluatesTheMappingThatItFound) {
  const Outcome search = run(fmt::format(
      "search {} {} --objective edp --json --save-mapping best.yaml", kTeaching, kLayer));
  const Outcome eval = run(fmt::format("eval {} {} best.yaml --json", kTeaching, kLayer));
  EXPECT_EQ(eval.code, 0);
  const Json found = Json::parse(search.out);
  const Json evaluated = Json::parse(eval.out);
  EXPECT_EQ(evaluated["cost"], found["cost"]);
  EXPECT_EQ(evaluated["levels"], found["levels"]);
  EXPECT_EQ(evaluated["mapping"], contents(folder() / "best.yaml"));
}

// An NVDLA-like engine computes another einsum, and the mapping's file says which.
TEST_F(CommandLine, EvaluatesAndSimulatesTheFormThatItFound) {
  std::ofstream{folder() / "square.yaml"}
      << "name: square\nconv2d: {in_channels: 8, out_channels: 40, input: 12, kernel: 3, "
         "padding: 1}\n";
  const std::string engine = kRoot + "/configs/arch/nv_full.yaml";
  const Outcome search =
      run("search " + engine + " square.yaml --objective latency --json --save-mapping best.yaml");
  const Json found = Json::parse(search.out);
  EXPECT_EQ(found["form"], "winograd");
  EXPECT_EQ(found["certificate"]["space"], "schedules");
  EXPECT_EQ(found["forms"][0]["form"], "direct");
  EXPECT_EQ(found["forms"][1]["form"], "winograd");
  EXPECT_EQ(found["forms"][1]["value"], found["cost"]["latency_cycles"]);
  EXPECT_THAT(contents(folder() / "best.yaml"), HasSubstr("form: winograd\nmapping:\n"));
  const Json evaluated = Json::parse(run("eval " + engine + " square.yaml best.yaml --json").out);
  EXPECT_EQ(evaluated["cost"], found["cost"]);
  EXPECT_EQ(evaluated["form"], "winograd");
  const Outcome simulated = run("simulate " + engine + " square.yaml best.yaml --json");
  EXPECT_EQ(Json::parse(simulated.out)["simulation"]["agrees"], true);
  const Outcome text = run("search " + engine + " square.yaml --objective latency");
  EXPECT_THAT(text.out, HasSubstr("proven optimal: none of the engine's"));
  EXPECT_THAT(text.out, HasSubstr("objective per frame, by form of the layer\n  direct "));
  EXPECT_EQ(run("search " + engine + " square.yaml --even").code, 2);
}

TEST_F(CommandLine, SimulatesAndAgreesWithTheClosedForm) {
  const Outcome result = run(fmt::format("simulate {} {} {}", kTeaching, kLayer, kMapping));
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("82 of 82 counts agree"));
  EXPECT_THAT(result.out, HasSubstr("512 of 512 output elements equal those of plain loops"));
}

TEST_F(CommandLine, AnswersNoWithTheReasonsAndWhatWouldDo) {
  const Outcome result = run(fmt::format("search {0}/cramped.yaml {0}/small_gemm.yaml", kData));
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("no feasible mapping"));
  EXPECT_THAT(result.out, ::testing::ContainsRegex("Buffer: capacity +[0-9,]+ +6 B"));
}

TEST_F(CommandLine, StopsWhenInterruptedWithTheBestSoFar) {
  // More mappings than anyone can enumerate.
  const Outcome result = run(
      fmt::format("search {} {} --strategy exhaustive --json --out best.json", kTeaching, kLayer),
      "timeout --foreground --preserve-status -s INT 1");
  EXPECT_EQ(result.code, 130);
  EXPECT_EQ(Json::parse(contents(folder() / "best.json"))["interrupted"], true);
}

// The certificate of a stopped search of some thousand unrollings takes a while.
TEST_F(CommandLine, SaysTheResultBeforeItsCertificateWhichMayBeInterrupted) {
  for (const std::string of : {"", "--json", "--pareto"}) {
    std::ofstream{folder() / "proof.yaml"} << "of another search\n";
    const Outcome result =
        run(fmt::format("search {0}/configs/arch/eyeriss.yaml "
                        "{0}/configs/workloads/resnet50/conv2_3x3.yaml --imperfect {1} "
                        "--budget-labels 1 --certificate proof.yaml",
                        kRoot, of),
            "sh -c '\"$0\" \"$@\" >result & while [ ! -s result ]; do sleep 0.01; done; "
            "kill -INT $!; wait $!'");
    EXPECT_EQ(result.code, 130);
    EXPECT_EQ(result.err, "mapsim: interrupted: no certificate in proof.yaml\n");
    EXPECT_THAT(contents(folder() / "result"), HasSubstr(of == "--json" ? "gap" : "searched in"));
    fs::remove(folder() / "result");
    EXPECT_TRUE(is_empty()) << "neither a part of a file nor that of another search";
  }
}

struct Fact {
  const char* arch;
  const char* workload;
  double intensity;
  const char* limiter;
};
TEST_F(CommandLine, DrawsThePublishedRooflines) {
  for (const Fact& fact :
       {Fact{"one_top", "conv_bias", 8.0, "math"},
        Fact{"v100_fp16", "linear_batch512", 315.1, "math"},
        Fact{"v100_fp16", "linear_batch1", 0.999, "memory"},
        Fact{"v100_fp16", "max_pool", 2.25, "memory"}, Fact{"v100_fp16", "relu", 0.25, "memory"}}) {
    const Outcome result = run(
        fmt::format("roofline {0}/{1}.yaml {0}/{2}.yaml --json", kData, fact.arch, fact.workload));
    ASSERT_EQ(result.code, 0) << result.err;
    const Json bounds = Json::parse(result.out)["roofline"];
    EXPECT_NEAR(bounds["intensity"].get<double>(), fact.intensity, 0.002 * fact.intensity);
    EXPECT_EQ(bounds["limiter"], fact.limiter) << fact.workload;
  }
}

TEST_F(CommandLine, CountsTheTensorsOfThePublishedConvolution) {
  const Outcome result =
      run(fmt::format("roofline {0}/one_top.yaml {0}/conv_bias.yaml --json", kData));
  const Json bounds = Json::parse(result.out)["roofline"];
  EXPECT_EQ(bounds["ops"], 44'728'320);
  EXPECT_EQ(bounds["tensors"]["I"]["bytes"], 2'396'160.0);
  EXPECT_EQ(bounds["tensors"]["W"]["elements"], 448);
  EXPECT_EQ(bounds["tensors"]["O"]["bytes"], 3'194'880.0);
  EXPECT_NEAR(bounds["compute_seconds"].get<double>(), 44.728e-6, 1e-9);
}

struct Misuse {
  std::string arguments;
  std::string message;
};
TEST_F(CommandLine, ExplainsMisuse) {
  const std::string inputs = kTeaching + " " + kLayer + " ";
  for (const auto& [arguments, message] : {
           Misuse{
               "",
               "a command is missing; one of search, network, plan, sweep, design, merge, results, "
               "report, check, eval, simulate, roofline, show, histogram, list, import, compare, "
               "export, calibrate, predict, validate, microbench"},
           Misuse{"show " + inputs, "WORKLOAD requires MAPPING"},
           Misuse{
               "search " + source_path("configs/arch/tpu_v1.yaml") + " " +
                   source_path("configs/workloads/tpu_v1/lstm1.yaml") +
                   " --objective latency --imperfect",
               "the exact strategy proves the times of systolic arrays with perfect factors only; "
               "leave out --imperfect (factors: imperfect)"},
           Misuse{"search " + source_path("configs/arch/nv_large.yaml") + " " +
                      source_path("configs/workloads/resnet50/conv5_3x3.yaml") + " --curve CBUF",
                  "an NVDLA-like engine has schedules of its own (docs/nvdla.md): curves of them "
                  "are not searched"},
           Misuse{"serch", "no command 'serch'; did you mean 'search'?"},
           Misuse{"search --objectiv edp", "no option '--objectiv'; did you mean '--objective'?"},
           Misuse{"search --obj edp", "no option '--obj'; did you mean '--objective'?"},
           Misuse{"export triton h100_sxm --gemm 64x64x64",
                  "FORMAT: 'triton' is not for this command; 'mapsim search GPU LAYER --export "
                  "triton' writes it"},
           Misuse{"--verion", "no option '--verion'; did you mean '--version'?"},
           Misuse{"search " + kTeaching,
                  "WORKLOAD is required: a file, a name (mapsim list), --gemm, --conv or --einsum"},
           Misuse{"search " + inputs + "--gemm 8x8x8",
                  "'" + kLayer + "': the layer is given by --gemm already"},
           Misuse{"simulate " + kTeaching + " --gemm 8x8x8", "MAPPING is required"},
           Misuse{"list machine", "KIND: no kind 'machine'; did you mean 'machines'?"},
           Misuse{"list machines eyeris",
                  "NAME: none of the machines is called 'eyeris'; did you mean 'eyeriss'?"},
           Misuse{"list gpus eyeriss", "NAME: none of the gpus is called 'eyeriss'"},
           Misuse{"search " + inputs + "--objective enrgy",
                  "--objective: 'enrgy' is no objective: there is no figure 'enrgy' (did you mean "
                  "'energy'?); write energy, latency, edp, a product like 'energy^2*latency', a "
                  "sum like 'energy + 12.5*latency' (pJ per cycle), or 'energy,latency' for the "
                  "fastest of the least energy\nenrgy\n^"},
           Misuse{"show " + kTeaching + " --html s.html",
                  "--html takes no file; write '--html -o s.html'"},
           Misuse{"search " + inputs + "--gap 2",
                  "--gap: '2' is not at least 0 and below 1, which is 100%"},
           Misuse{"search " + inputs + "--gap a%",
                  "--gap: 'a%' is not a share such as 0.1% or 0.001"},
           Misuse{"search " + inputs + "--pareto --gap 1%",
                  "--gap: only a search of the strategy exact for one mapping has a gap"},
           Misuse{"search " + inputs + "--strategy random --budget-labels 5",
                  "--budget-labels: only the strategy exact has labels; limit the others with "
                  "--budget or --evaluations"},
           Misuse{
               "search " + inputs + "--seed 1",
               "--seed: the strategy exact draws nothing; of random, annealing and genetic only"},
           Misuse{"network " + inputs + "--strategy exhaustive --evaluations 5",
                  "--evaluations: the strategy exhaustive draws nothing; of random, annealing and "
                  "genetic only"},
           Misuse{"search " + inputs + "--strategy exat",
                  "--strategy: no strategy 'exat'; did you mean 'exact'?"},
           Misuse{"search " + inputs + "--threads 0",
                  "--threads: '0' is not a whole number from 1 to 1024"},
           Misuse{"search " + inputs + "--seed 99999999999999999999",
                  "--seed: '99999999999999999999' is not a whole number from 0 to "
                  "9223372036854775807"},
           Misuse{"search " + inputs + "--evaluations 1e4",
                  "--evaluations: '1e4' is not a whole number from 1 to 9223372036854775807"},
           Misuse{"roofline " + inputs + "--out no/such/folder",
                  "cannot write 'no/such/folder': No such file or directory"},
           Misuse{"search " + inputs + "--save-mapping no/such/folder",
                  "cannot write 'no/such/folder': No such file or directory"},
       }) {
    const Outcome result = run(arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_EQ(result.err, "mapsim: " + message + "\n") << arguments;
    EXPECT_EQ(result.out, "") << arguments;
  }
}

TEST_F(CommandLine, ReportsBadInputWithItsPlace) {
  std::ofstream{folder() / "bad.yaml"} << "name: bad\ngemm: {m: 4, n: 4, j: 4}\n";
  const Outcome result = run(fmt::format("search {} bad.yaml", kTeaching));
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("bad.yaml:2:"));
  EXPECT_THAT(result.err, HasSubstr("unknown key 'j'"));
}

TEST_F(CommandLine, ShowsControlCharactersOfInputsAsPictures) {
  std::ofstream{folder() / "bad.yaml"} << "name: bad\ngemm: {m: 4, n: 4, \"\\e[31mk\": 4}\n";
  const Outcome result = run(fmt::format("search {} bad.yaml", kTeaching));
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("unknown key '\u241B[31mk'"));
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
}

TEST_F(CommandLine, RecordsTheTablesOfAnArchitecture) {
  std::ofstream{folder() / "ert.yaml"}
      << "ERT: {version: 0.4, tables: [{name: MAC, actions: [{name: compute, energy: 1}]}]}\n";
  std::ofstream{folder() / "arch.yaml"}
      << "name: a\nert: ert.yaml\nnodes:\n"
         "  - {storage: DRAM, capacity: unlimited, word: 8 b,"
         " energy: {read: 1 pJ/b, write: 1 pJ/b}}\n  - {compute: MAC}\n";
  const Outcome first = run(fmt::format("search arch.yaml {} --json", kLayer));
  ASSERT_EQ(first.code, 0) << first.err;
  const Json inputs = Json::parse(first.out)["inputs"];
  EXPECT_EQ(inputs["ert"]["path"], "ert.yaml");
  EXPECT_FALSE(inputs.contains("art"));
  std::ofstream{folder() / "ert.yaml", std::ios::app} << "# the same, in other bytes\n";
  const Json changed = Json::parse(run(fmt::format("search arch.yaml {} --json", kLayer)).out);
  EXPECT_NE(changed["inputs"]["ert"]["fnv1a"], inputs["ert"]["fnv1a"]);
  EXPECT_EQ(changed["inputs"]["arch"], inputs["arch"]);
}

TEST_F(CommandLine, SaysWhyInJsonToo) {
  const Json search =
      Json::parse(run(fmt::format("search {} {} --why --json", kTeaching, kLayer)).out);
  EXPECT_GE(search["why"]["reliefs"].size(), 1);
  const Json eval =
      Json::parse(run(fmt::format("eval {} {} {} --why --json", kTeaching, kLayer, kMapping)).out);
  EXPECT_EQ(eval["why"]["optimum"]["energy_pj"], search["cost"]["energy_pj"]);
  EXPECT_EQ(eval["why"]["reliefs"], search["why"]["reliefs"]);
  const Json histogram =
      Json::parse(run(fmt::format("histogram {} {} --mappings 50 --json", kTeaching, kLayer)).out);
  EXPECT_EQ(histogram["optimum_pj"], search["cost"]["energy_pj"]);
  EXPECT_GE(histogram["mappings"].get<int>(), 50);
}

TEST_F(CommandLine, DrawsMachinesAndMappings) {
  const std::string tpu = source_path("configs/arch/tpu_v1.yaml");
  const Outcome machine = run("show " + tpu);
  EXPECT_EQ(machine.code, 0);
  EXPECT_THAT(machine.out, ::testing::StartsWith("<svg "));
  EXPECT_THAT(machine.out, HasSubstr("systolic in Array"));
  const Outcome mapping =
      run("show " + tpu + " " + source_path("configs/workloads/tpu_v1/lstm1.yaml") + " " +
          source_path("configs/mappings/tpu_v1_fully_connected.yaml"));
  EXPECT_EQ(mapping.code, 0);
  EXPECT_THAT(mapping.out, HasSubstr(">B stays<"));
  EXPECT_THAT(mapping.out, HasSubstr(">9 folds<"));
}

TEST_F(CommandLine, WritesFilesWholeOrNotAtAll) {
  EXPECT_EQ(run(fmt::format("search {} missing.yaml --out result.txt", kTeaching)).code, 2);
  EXPECT_TRUE(is_empty());
  EXPECT_EQ(run(fmt::format("roofline {} {} --out result.txt", kTeaching, kLayer)).code, 0);
  EXPECT_THAT(contents(folder() / "result.txt"), HasSubstr("roofline"));
  EXPECT_EQ(std::distance(fs::directory_iterator{folder()}, {}), 1);
}

TEST_F(CommandLine, ReportsAFullDisk) {
  const Outcome result = run(fmt::format("roofline {} {} --out /dev/full", kTeaching, kLayer));
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err, "mapsim: cannot write '/dev/full': No space left on device\n");
}

TEST_F(CommandLine, KnowsItsVersionAndHelpsEveryCommand) {
  EXPECT_THAT(run("--version").out, ::testing::StartsWith("mapsim 0."));
  for (const char* command : {"", "search", "network", "eval", "simulate", "roofline"}) {
    const Outcome result = run(fmt::format("{} --help", command));
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, HasSubstr("Usage: mapsim"));
  }
}

TEST_F(CommandLine, SearchesForPowersWithinLimits) {
  const Outcome free = run(fmt::format("search {} {} --json", kTeaching, kLayer));
  const Json energy = Json::parse(free.out)["cost"]["energy_pj"];
  const Outcome limited =
      run(fmt::format("search {} {} --json --objective 'energy^2*latency' --latency ramped "
                      "--max-energy '{} nJ' --max-latency '1 us'",
                      kTeaching, kLayer, energy.get<double>() * 1.2e-3));
  ASSERT_EQ(limited.code, 0) << limited.err;
  const Json json = Json::parse(limited.out);
  EXPECT_EQ(json["objective"], "energy^2*latency");
  EXPECT_EQ(json["latency_mode"], "ramped");
  EXPECT_EQ(json["limits"]["latency_cycles"], 1000);
  EXPECT_LE(json["cost"]["latency_cycles_ramped"], 1000);
  EXPECT_EQ(json["certificate"]["status"], "optimal");
  const Outcome impossible =
      run(fmt::format("search {} {} --max-latency '3 cycles'", kTeaching, kLayer));
  EXPECT_EQ(impossible.code, 1);
  EXPECT_THAT(impossible.out, HasSubstr("latency limit"));
}

TEST_F(CommandLine, WritesAFrontWithAMappingPerPoint) {
  const Outcome front = run(fmt::format(
      "search {} {} --pareto --json --save-mapping points --svg front.svg", kTeaching, kLayer));
  ASSERT_EQ(front.code, 0) << front.err;
  const Json json = Json::parse(front.out);
  EXPECT_EQ(json["front"], "energy_latency");
  EXPECT_TRUE(json["complete"]);
  const std::string front_svg = contents(folder() / "front.svg");
  EXPECT_THAT(front_svg, HasSubstr(": energy against steady latency</text>"));
  EXPECT_THAT(front_svg, HasSubstr(">energy (nJ)"));
  EXPECT_THAT(front_svg, HasSubstr(">latency ("));
  EXPECT_THAT(front_svg, HasSubstr("prefers-color-scheme: dark"));
  std::size_t i = 0;
  for (const Json& point : json["points"]) {
    const std::string file = fmt::format("points/point_{:03}.yaml", ++i);
    const Outcome again = run(fmt::format("eval {} {} {} --json", kTeaching, kLayer, file));
    EXPECT_EQ(Json::parse(again.out)["cost"]["energy_pj"], point["energy_pj"]);
    EXPECT_EQ(Json::parse(again.out)["cost"]["latency_cycles"], point["latency_cycles"]);
  }
  EXPECT_GE(i, 1U);
  ASSERT_EQ(run(fmt::format("search {} {} --curve Buffer --objective edp --svg curve.svg",
                            kTeaching, kLayer))
                .code,
            0);
  const std::string curve = contents(folder() / "curve.svg");
  EXPECT_THAT(curve, HasSubstr(": least edp with a capacity of Buffer</text>"));
  EXPECT_THAT(curve, HasSubstr(">capacity of Buffer ("));
  EXPECT_THAT(curve, HasSubstr("J\u00b7s)"));
  EXPECT_EQ(run(fmt::format("search {} {} --curve GLB", kTeaching, kLayer)).err,
            "mapsim: --curve: no level 'GLB'; one of DRAM, Buffer, Registers\n");
}

}  // namespace
}  // namespace mapsim::cli_test
