// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/command_line.hpp"

namespace mapsim::chain_test {
namespace {

using ::testing::HasSubstr;

const std::string kConvs =
    kRoot + "/configs/chains/teaching_convs.yaml " + kRoot + "/configs/trees/teaching_convs.yaml";

const std::string kAttention = "/configs/chains/attention_1024.yaml";

// 14 x 14 points of four channels, of which a tile of two rows needs four.
TEST_F(CommandLine, SaysWhatATreeOfAChainCosts) {
  const Outcome text = run(fmt::format("eval {} {}", kTeaching, kConvs));
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("teaching_convs on teaching"));
  EXPECT_THAT(text.out, HasSubstr("intermediates: elements"));
  EXPECT_THAT(text.out, HasSubstr("occupancy per phase"));
  const Json json = Json::parse(run(fmt::format("eval {} {} --json", kTeaching, kConvs)).out);
  EXPECT_EQ(json["intermediates"][0]["made"], 784);
  EXPECT_EQ(json["intermediates"][0]["live"], 4 * 14 * 4);
  EXPECT_EQ(json["intermediates"][0]["carried"], 2 * 14 * 4);
  double energy = 0;
  for (const Json& einsum : json["einsums"]) {
    energy += einsum["energy_pj"].get<double>();
  }
  EXPECT_EQ(json["energy_pj"], energy);
  EXPECT_EQ(json["phases"].size(), 2U);
}

TEST_F(CommandLine, SimulatesATreeAndShowsIt) {
  const Json json = Json::parse(run(fmt::format("simulate {} {} --json", kTeaching, kConvs)).out);
  EXPECT_EQ(json["simulation"]["agrees"], true);
  EXPECT_EQ(json["simulation"]["outputs"], 576);
  const Outcome shown = run(fmt::format("show {} {}", kTeaching, kConvs));
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out, HasSubstr("t 224 B (live)"));
  EXPECT_THAT(shown.out, HasSubstr("\n  2 einsums, 1 intermediate, "));
}

TEST_F(CommandLine, KeepsLimitsOfAFusedNetwork) {
  const std::string search = "network nvdla_like_1024 graphs/vit_b16 --fuse --json --max-latency ";
  const Json json = Json::parse(run(search + "'60e6 cycles'").out);
  EXPECT_EQ(json["max_latency_cycles"], 60'000'000);
  const Json& total = json["total"];
  EXPECT_LE(total["latency_cycles"], 60e6);
  EXPECT_LE(total["lower_bound_pj"], total["energy_pj"]);
  EXPECT_GE(total["lower_bound_pj"].get<double>(), 0.99 * total["energy_pj"].get<double>());
  double energy = total["streams_energy_pj"];
  for (const Json& chain : json["chains"]) {
    energy += chain["count"].get<double>() * chain["energy_pj"].get<double>();
  }
  EXPECT_NEAR(total["energy_pj"].get<double>(), energy, 1e-9 * energy);
  const Outcome nothing = run(search + "1ms");
  EXPECT_EQ(nothing.code, 1);
  EXPECT_EQ(Json::parse(nothing.out)["total"]["energy_pj"], nullptr);
  EXPECT_EQ(Json::parse(nothing.out)["total"]["proven"], true);
  EXPECT_EQ(Json::parse(nothing.out)["total"]["lower_bound"], nullptr);
  EXPECT_THAT(run(search + "1ms -o out.txt --certificate p").err,
              HasSubstr("the checker proves sums over the chains of a network, without limits"));
}

// Sums are those of the chains, each as often as it occurs, and of what stands between them.
TEST_F(CommandLine, FusesANetwork) {
  const Outcome text = run("network nvdla_like_1024 graphs/vit_b16 --fuse");
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("layer.1.scores .. layer.1.context        6     12"));
  const Json json = Json::parse(run("network nvdla_like_1024 graphs/vit_b16 --fuse --json").out);
  double best = json["total"]["streams_energy_pj"];
  double spilled = json["total"]["streams_energy_layer_by_layer_pj"];
  EXPECT_LT(best, spilled);  // sums of branches ride
  for (const Json& chain : json["chains"]) {
    EXPECT_EQ(chain["proven"], true);
    EXPECT_LE(chain["energy_pj"], chain["energy_layer_by_layer_on_chip_pj"]);
    best += chain["count"].get<double>() * chain["energy_pj"].get<double>();
    spilled +=
        chain["count"].get<double>() * chain["energy_layer_by_layer_spilled_pj"].get<double>();
  }
  EXPECT_NEAR(json["total"]["energy_pj"].get<double>(), best, 1e-9 * best);
  EXPECT_NEAR(json["total"]["energy_layer_by_layer_spilled_pj"].get<double>(), spilled,
              1e-9 * spilled);
  EXPECT_LT(best, spilled);
  EXPECT_THAT(run("network nvdla_like_1024 resnet50 --fuse").err,
              HasSubstr("--fuse needs a graph"));
  EXPECT_THAT(run("network nvdla_like_1024 graphs/resnet50 --fuse --objective energy,latency").err,
              HasSubstr("--fuse: ties of chains"));
  EXPECT_THAT(run("network nvdla_like_1024 graphs/resnet50 --fuse --latency ramped").err,
              HasSubstr("--fuse: chains are timed in the steady state"));
  EXPECT_THAT(run("network a100_40gb graphs/resnet50 --fuse").err, HasSubstr("not for GPUs"));
}

// By latency and weighted sums the chains add up; by a product their trees are chosen together.
TEST_F(CommandLine, FusesANetworkByTime) {
  const std::string network = "network nvdla_like_1024 graphs/vit_b16 --fuse --json --objective ";
  const Json fastest = Json::parse(run(network + "latency").out);
  double cycles = fastest["total"]["streams_latency_cycles"];
  for (const Json& chain : fastest["chains"]) {
    EXPECT_EQ(chain["value"], chain["latency_cycles"]);
    EXPECT_EQ(chain["lower_bound"], chain["latency_cycles"]);
    cycles += chain["count"].get<double>() * chain["latency_cycles"].get<double>();
  }
  EXPECT_EQ(fastest["total"]["latency_cycles"], cycles);
  EXPECT_EQ(fastest["total"]["proven"], true);
  EXPECT_FALSE(fastest["total"].contains("lower_bound_pj"));
  const Json least = Json::parse(run(network + "energy").out);
  const Json edp = Json::parse(run(network + "edp").out);
  EXPECT_EQ(edp["total"]["proven"], true);
  EXPECT_GE(edp["total"]["latency_cycles"], fastest["total"]["latency_cycles"]);
  EXPECT_GE(edp["total"]["energy_pj"].get<double>(),
            least["total"]["energy_pj"].get<double>() * (1 - 1e-9));
  for (const Json& other : {fastest["total"], least["total"]}) {
    EXPECT_LE(
        edp["total"]["value"].get<double>(),
        other["energy_pj"].get<double>() * other["latency_cycles"].get<double>() * (1 + 1e-9));
  }
  EXPECT_THAT(run("network nvdla_like_1024 graphs/vit_b16 --fuse --objective edp").out,
              HasSubstr("chosen together"));
}

// The proof of a whole network holds, is about its graph, and about no other.
TEST_F(CommandLine, ProvesANetwork) {
  const std::string network = "network nvdla_like_1024 graphs/vit_b16 --fuse ";
  const Outcome found = run(network + "--certificate proof.yaml --json");
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(found.err, "");
  const Outcome held =
      run("check proof.yaml --arch nvdla_like_1024 --workload graphs/vit_b16 --json");
  EXPECT_EQ(held.code, 0) << held.out << held.err;
  const Json check = Json::parse(held.out)["check"];
  EXPECT_EQ(check["holds"], true);
  const double best = Json::parse(found.out)["total"]["energy_pj"];
  EXPECT_NEAR(check["value"].get<double>(), best, 1e-9 * best);
  EXPECT_NEAR(check["lower_bound"].get<double>(), best, 1e-9 * best);
  const Outcome text = run("check proof.yaml");
  EXPECT_THAT(text.out, HasSubstr("vit_b16 on nvdla_like_1024: the proof holds"));
  EXPECT_THAT(text.out, HasSubstr("space: groups of at most 32 einsums"));
  EXPECT_THAT(text.out, HasSubstr("not verified: their costs, step by step; that vit_b16 is "
                                  "cut into these chains"));
  const Outcome other = run("check proof.yaml --arch eyeriss --workload graphs/bert_base_128");
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out, HasSubstr("the network has 4 chains, not 5"));
  EXPECT_THAT(other.out, HasSubstr("it is not about the architecture of "));
  EXPECT_THAT(run("check proof.yaml --workload resnet50").err, HasSubstr("a list of layers"));
  EXPECT_THAT(run(network + "--objective edp --certificate edp.yaml").err,
              HasSubstr("--certificate: the checker proves sums over the chains of a network"));
  EXPECT_THAT(run("network nvdla_like_1024 graphs/vit_b16 --certificate p.yaml").err,
              HasSubstr("--certificate requires --fuse"));
  const Outcome begun = run(network + "--budget 1us --certificate begun.yaml");
  EXPECT_EQ(begun.code, 0) << begun.err;
  EXPECT_THAT(begun.err, HasSubstr("--certificate: the file proves no more than "));
  EXPECT_EQ(run("check begun.yaml").code, 0);
}

TEST_F(CommandLine, DrawsTheCurveOfAChain) {
  const Outcome found =
      run(fmt::format("search teaching_flat {}/configs/chains/teaching_convs.yaml --curve Buffer "
                      "--svg curve.svg --json",
                      kRoot));
  EXPECT_EQ(found.code, 0) << found.err;
  const Json json = Json::parse(found.out);
  EXPECT_EQ(json["curve_of"], "Buffer");
  EXPECT_EQ(json["curves"]["best"]["steps"].back()["capacity_bits"], 0);
  EXPECT_LE(json["curves"]["best"]["steps"][0]["energy_pj"],
            json["curves"]["spilled"]["steps"][0]["energy_pj"]);
  EXPECT_THAT(file("curve.svg"), HasSubstr("layer by layer, spilled"));
  const Outcome limited =
      run(fmt::format("search teaching_flat {}/configs/chains/teaching_convs.yaml --curve Buffer "
                      "--objective latency --max-energy 500nJ",
                      kRoot));
  EXPECT_THAT(limited.out, HasSubstr("least latency"));
  EXPECT_THAT(limited.out, HasSubstr("0 B            48,960 cycles  48,960 cycles"));
  const Outcome outermost = run(fmt::format(
      "search teaching_flat {}/configs/chains/teaching_convs.yaml --curve DRAM", kRoot));
  EXPECT_EQ(outermost.code, 2);
  EXPECT_THAT(outermost.err, HasSubstr("DRAM holds everything"));
}

// Nothing was refuted, and nothing verified.
TEST_F(CommandLine, HasNoVerdictOfACheckThatWasStopped) {
  run("search eyeriss " + kRoot +
      "/configs/chains/resnet50_conv2_block.yaml --max-group 1 --certificate p.yaml");
  const Outcome stopped = run("check p.yaml --json -o verdict.json",
                              "timeout --foreground --preserve-status -s INT 0.5");
  EXPECT_EQ(stopped.code, 130);
  EXPECT_EQ(stopped.out, "");
  EXPECT_EQ(stopped.err, "mapsim: interrupted: the proof was neither verified nor refuted\n");
  EXPECT_FALSE(std::filesystem::exists(folder() / "verdict.json"));
}

// The proof of a chain holds, is about its files, and about nothing else.
TEST_F(CommandLine, ProvesAChain) {
  const std::string chain = kRoot + "/configs/chains/teaching_convs.yaml";
  const Outcome found =
      run(fmt::format("search teaching_flat {} --certificate proof.yaml --max-group 1", chain));
  EXPECT_EQ(found.code, 0) << found.err;
  const Outcome held =
      run(fmt::format("check proof.yaml --arch teaching_flat --workload {}", chain));
  EXPECT_EQ(held.code, 0) << held.out << held.err;
  EXPECT_THAT(held.out, HasSubstr("teaching_convs on teaching_flat: the proof holds"));
  EXPECT_THAT(held.out, HasSubstr("space: groups of at most 1 einsums"));
  const Json json = Json::parse(run("check proof.yaml --json").out);
  EXPECT_EQ(json["check"]["holds"], true);
  EXPECT_EQ(json["check"]["value"], json["check"]["lower_bound"]);
  const Outcome other =
      run(fmt::format("check proof.yaml --arch teaching --workload {}", kRoot + kAttention));
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out, HasSubstr("it is not about the chain of"));
  EXPECT_THAT(other.out, HasSubstr("it is not about the architecture of "));
  EXPECT_EQ(run("check proof.yaml --constraints eyeriss_3x3").code, 2);
  run(fmt::format("search teaching_flat {} --certificate fast.yaml --objective latency", chain));
  const Json fast = Json::parse(run("check fast.yaml --json").out);
  EXPECT_EQ(fast["check"]["holds"], true);
  EXPECT_EQ(fast["check"]["objective"], "latency (steady)");
  EXPECT_EQ(fast["check"]["unit"], "cycles");
  EXPECT_THAT(run("check fast.yaml").out, HasSubstr(" cycles, and one needs that"));
}

// A product follows from least sums; within a limit they may leave a gap, which is said.
TEST_F(CommandLine, ProvesAProductOfAChain) {
  const std::string search = "search eyeriss " + kRoot + kAttention + " --certificate p.yaml ";
  EXPECT_EQ(run(search + "--objective edp").err, "");
  const Json product = Json::parse(run("check p.yaml --json").out);
  EXPECT_EQ(product["check"]["holds"], true);
  EXPECT_EQ(product["check"]["unit"], "pJ*cycles");
  EXPECT_EQ(product["check"]["value"], product["check"]["lower_bound"]);
  EXPECT_THAT(run("check p.yaml").out, HasSubstr("follows from the least sums above"));
  const Outcome limited = run(search + "--objective latency --max-energy 500uJ");
  EXPECT_EQ(limited.code, 0);
  EXPECT_THAT(limited.err, HasSubstr("--certificate: the file proves no more than "));
  EXPECT_THAT(limited.err, HasSubstr(" cycles, a gap of "));
  const Outcome held = run("check p.yaml");
  EXPECT_EQ(held.code, 0) << held.out;
  EXPECT_THAT(held.out, HasSubstr("objective: latency (steady), at most 500000000 pJ\n"));
  EXPECT_EQ(run(search + "--max-latency '10 cycles'").code, 1);
  EXPECT_THAT(run("check p.yaml").out, HasSubstr("claimed of all mapping trees: none fits"));
  EXPECT_EQ(run(search + "--pareto").code, 2);
}

// A limit that does not bind costs no time, and one that none keeps is named.
TEST_F(CommandLine, NamesTheLimitThatNoTreeKeeps) {
  const std::string attention = "search simba_like " + kRoot + kAttention + " ";
  EXPECT_THAT(run(attention + "--objective edp --max-energy 1J --budget 60s").out,
              HasSubstr("proven: no mapping tree of the space is better"));
  const Outcome fast = run(attention + "--max-latency '10 cycles'");
  EXPECT_EQ(fast.code, 1);
  EXPECT_THAT(fast.out, HasSubstr("no mapping tree keeps the latency limit of 10 cycles: the least "
                                  "latency is 131,072 cycles\n"));
  EXPECT_THAT(run(attention + "--objective latency --max-energy 1nJ").out,
              HasSubstr("no mapping tree keeps the energy limit of 1.000 nJ: the least energy is "
                        "195.3 uJ\n"));
  EXPECT_THAT(run("search teaching " + kRoot +
                  "/configs/chains/teaching_convs.yaml --max-energy 370nJ --max-latency '1200 "
                  "cycles'")
                  .out,
              HasSubstr("no mapping tree keeps both limits, though each alone can be kept: the "
                        "least energy is 363.9 nJ, the least latency 765 cycles\n"));
}

// A search that found nothing in its time has not shown that nothing fits.
// The layers one after the other are an answer, and the operations alone a bound, at any time.
TEST_F(CommandLine, WritesATrueCertificateOfAChainThatItOnlyBegan) {
  const Outcome begun =
      run("search teaching_flat " + kRoot + kAttention + " --certificate p.yaml --budget 1us");
  EXPECT_EQ(begun.code, 0);
  EXPECT_THAT(begun.out, HasSubstr("stopped early: at most"));
  const Outcome checked = run("check p.yaml");
  EXPECT_EQ(checked.code, 0);
  EXPECT_THAT(checked.out, HasSubstr("the proof holds"));
}

// The ends of the front are the least energy and the least latency.
TEST_F(CommandLine, DrawsTheFrontOfAChain) {
  const std::string search =
      fmt::format("search teaching_flat {}/configs/chains/teaching_convs.yaml", kRoot);
  const Outcome text = run(search + " --pareto --svg front.svg");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("proven: every mapping tree of the space"));
  EXPECT_THAT(file("front.svg"), HasSubstr("energy against latency"));
  const Json front = Json::parse(run(search + " --pareto --json").out)["fronts"]["best"];
  EXPECT_EQ(front["complete"], true);
  const Json energy = Json::parse(run(search + " --json").out);
  const Json latency = Json::parse(run(search + " --objective latency --json").out);
  EXPECT_EQ(front["points"].front()["energy_pj"], energy["energy_pj"]);
  EXPECT_EQ(front["points"].back()["latency_cycles"], latency["latency_cycles"]);
  // Within a limit the front is the part that lies there.
  const std::int64_t most = front["points"].back()["latency_cycles"].get<std::int64_t>();
  const Json within =
      Json::parse(run(fmt::format("{} --pareto --max-latency {}cycles --json", search, most))
                      .out)["fronts"]["best"];
  ASSERT_EQ(within["points"].size(), 1U);
  EXPECT_EQ(within["points"][0]["energy_pj"], front["points"].back()["energy_pj"]);
}

// Of values that no number can hold none is less than another: that is said before the search.
TEST_F(CommandLine, RefusesObjectivesBeyondTheLargestNumber) {
  const std::string huge =
      "name: huge\nnodes:\n"
      "  - {storage: DRAM, word: 8 b, capacity: unlimited, energy: {read: 1e30 pJ/word, write: "
      "1e30 "
      "pJ/word}}\n"
      "  - {storage: Buffer, word: 8 b, capacity: 32 KiB, energy: {read: 10 pJ/word, write: 10 "
      "pJ/word}}\n"
      "  - {compute: MAC, energy: 1e30 pJ}\n";
  write("huge.yaml", huge);
  const std::string search =
      fmt::format("search huge.yaml {}/configs/chains/teaching_convs.yaml ", kRoot);
  for (const std::string& each : {search, std::string{"search huge.yaml teaching/conv "}}) {
    const Outcome refused = run(each + "--objective 'energy^8*latency^8' --certificate p.yaml");
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("energy^8*latency^8 on huge may exceed 1.8e+308 [pJ, "
                                       "cycles], the largest number"));
    EXPECT_FALSE(std::filesystem::exists(folder() / "p.yaml"));
  }
  const Outcome edp = run(search + "--objective edp --certificate p.yaml");
  EXPECT_EQ(edp.code, 0) << edp.err;
  EXPECT_EQ(run("check p.yaml").code, 0);
}

TEST_F(CommandLine, RefusesWhatTreesDoNotHaveYet) {
  EXPECT_THAT(run(fmt::format("eval systolic_32x32 {}", kConvs)).err,
              HasSubstr("mapping trees are not timed on a systolic array yet"));
  EXPECT_EQ(run(fmt::format("eval {} {} --why", kTeaching, kConvs)).code, 2);
  EXPECT_THAT(
      run(fmt::format("search systolic_32x32 {}/configs/chains/teaching_convs.yaml", kRoot)).err,
      HasSubstr("mapping trees are not timed on a systolic array yet"));
}

}  // namespace
}  // namespace mapsim::chain_test
