// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "arch/load.hpp"
#include "core/rng.hpp"
#include "tests/mapper/brute_chain.hpp"

namespace mapsim {

namespace {

// Convolutions in one dim with one channel: their halos are what they are for.
std::string halo_chain(Rng& rng, bool large) {
  const std::size_t count = !large && rng.below(4) == 0 ? 3 : 2;
  std::int64_t points = large ? rng.between(8, 29) : rng.between(4, 7);
  std::string text = "name: halos\nchain:\n";
  for (std::size_t e = 0; e < count; ++e) {
    const std::int64_t taps = large ? static_cast<std::int64_t>(e) + rng.between(1, 2)
                                    : std::min<std::int64_t>(points, rng.between(1, 3));
    const std::int64_t outputs = points - taps + 1;
    text += fmt::format(
        "  - name: e{}\n    einsum: {{equation: \"O[p] += A[p+r] * W[r]\", dims: {{p: {}, r: "
        "{}}}}}\n",
        e, outputs, taps);
    text += e > 0 ? fmt::format("    in: {{A: t{}}}\n", e - 1) : "";
    text += e + 1 < count ? fmt::format("    out: t{}\n", e) : "";
    points = outputs;
  }
  return text;
}

std::string einsum_text(Rng& rng, std::size_t e, bool reads, std::vector<std::int64_t>& made,
                        std::size_t shape) {
  const auto size = [&](std::int64_t most) { return rng.between(1, most); };
  std::string text;
  if (shape == 0) {
    const std::int64_t m = reads ? made[0] : size(4);
    const std::int64_t k = reads ? made[1] : size(3);
    const std::int64_t n = size(3);
    text = fmt::format(
        "    einsum: {{equation: \"O[m][n] += A[m][k] * B[k][n]\", dims: {{m: {}, n: {}, k: "
        "{}}}}}\n",
        m, n, k);
    made = {m, n};
  } else {
    const std::int64_t points = reads ? made[1] : size(6) + 2;
    const std::int64_t r = std::min<std::int64_t>(points, reads ? size(3) : size(2));
    const std::int64_t stride = size(2);
    const std::int64_t p = (points - r) / stride + 1;
    const std::int64_t c = reads ? made[0] : size(2);
    const std::int64_t k = size(2);
    text = fmt::format(
        "    einsum: {{equation: \"O[k][p] += A[c][{}*p+r] * W[k][c][r]\", dims: {{k: {}, p: {}, "
        "c: {}, r: {}}}}}\n",
        stride, k, p, c, r);
    made = {k, p};
    if (reads && (p - 1) * stride + r != points) {
      return "";
    }
  }
  text = fmt::format("  - name: e{}\n{}", e, text);
  if (reads) {
    text += fmt::format("    in: {{A: t{}}}\n", e - 1);
  }
  return text;
}

std::string try_chain(Rng& rng) {
  const std::size_t shape = rng.below(2);
  const std::size_t count = rng.below(4) == 0 ? 3 : 2;
  std::vector<std::int64_t> made;
  std::string text = "name: tiny\nchain:\n";
  for (std::size_t e = 0; e < count; ++e) {
    const std::string one = einsum_text(rng, e, e > 0, made, shape);
    if (one.empty()) {
      return "";
    }
    text += one + (e + 1 < count ? fmt::format("    out: t{}\n", e) : "");
  }
  return text;
}

// Matrix products whose sums are wider than what comes of them: three in a row, so that what two
// make together may be held whole, with its final sums or without, until the last one reads it.
std::string wide_chain(Rng& rng, std::int64_t most) {
  const auto size = [&] { return rng.between(1, most); };
  const std::int64_t m = size();
  std::int64_t k = size();
  std::string text = "name: wide\nchain:\n";
  for (std::size_t e = 0; e < 3; ++e) {
    const std::int64_t n = size();
    text += fmt::format(
        "  - name: e{}\n    einsum: {{equation: \"O[m][n] += A[m][k] * B[k][n]\", dims: {{m: {}, "
        "n: "
        "{}, k: {}}}}}\n    precision: {{input: 8 b, weight: 8 b, output: 8 b, partial: {} b}}\n",
        e, m, n, k, 8 * rng.between(2, 4));
    text += e > 0 ? fmt::format("    in: {{A: t{}}}\n", e - 1) : "";
    text += e < 2 ? fmt::format("    out: t{}\n", e) : "";
    k = n;
  }
  return text;
}

// A product, and another of what it makes, or also the sum of both.
std::string deep_chain(Rng& rng, bool graph) {
  const auto size = [&] { return rng.between(1, graph ? 2 : 3); };
  const std::int64_t m = size();
  const std::int64_t n = size();
  const auto product = [&](const char* name, std::int64_t columns, std::int64_t inner) {
    return fmt::format(
        "  - name: {}\n    einsum: {{equation: \"O[m][n] += A[m][k] * B[k][n]\", dims: {{m: {}, n: "
        "{}, k: {}}}}}\n",
        name, m, columns, inner);
  };
  std::string text = "name: deep\nchain:\n" + product("e0", n, size()) + "    out: t0\n";
  text += product("e1", graph ? n : size(), n) + "    in: {A: t0}\n";
  if (graph) {
    text += fmt::format(
        "    out: t1\n  - name: e2\n    einsum: {{equation: \"O[m][n] += A[m][n] * B[m][n]\", "
        "dims: "
        "{{m: {}, n: {}}}}}\n    in: {{A: t1, B: t0}}\n",
        m, n);
  }
  return text;
}

std::string array_text(Rng& rng) {
  const auto one_in = [&](std::uint64_t n) { return rng.below(n) == 0; };
  return fmt::format(
      "  - fanout: PEs\n    x: {}\n    multicast: [{}]\n    spatial_reduction: {}\n    "
      "reduction_energy: {} pJ\n",
      rng.between(2, 3), one_in(2) ? "input, weight" : "weight", !one_in(2), rng.between(0, 2));
}

// A port of every level, or of none.
std::string ports_text(Rng& rng, std::size_t level) {
  const auto rate = [&] { return fmt::format("{} b/cycle", rng.between(2, level == 0 ? 12 : 40)); };
  switch (rng.below(4)) {
    case 0:
      return "";
    case 1:
      return fmt::format("    bandwidth: {{read: {}, write: {}}}\n", rate(), rate());
    default:
      return fmt::format("    bandwidth: {{shared: {}}}\n", rate());
  }
}

// `spread`: with an array of two or three instances, before a level or before the compute units.
// `ports`: of finite bandwidth; none: of no level.
std::string try_machine(Rng& rng, std::size_t levels, std::int64_t most, bool spread, Rng* ports) {
  std::string text = "name: tiny\nclock: 1 GHz\nnodes:\n";
  const std::size_t inside = spread ? rng.between(2, static_cast<std::int64_t>(levels)) : 0;
  for (std::size_t l = 0; l < levels; ++l) {
    text += l > 0 && l == inside ? array_text(rng) : "";
    text += fmt::format(
        "  - storage: L{}\n    word: 8 b\n    capacity: {}\n    energy: {{read: {} pJ/word, write: "
        "{} pJ/word}}\n",
        l, l == 0 ? "unlimited" : fmt::format("{} B", rng.between(2, l == 1 ? most : 6)),
        l == 0 ? rng.between(30, 200) : rng.between(1, 10),
        l == 0 ? rng.between(30, 200) : rng.between(1, 10));
    if (l > 0 && rng.below(3) == 0) {
      text += "    sliding: true\n";
    }
    text += ports != nullptr ? ports_text(*ports, l) : "";
  }
  text += inside == levels ? array_text(rng) : "";
  return text + fmt::format("  - compute: MAC\n    energy: {} pJ\n", rng.between(0, 2));
}

}  // namespace

TinyChain wide_tiny_chain(std::uint64_t seed, std::int64_t most) {
  Rng rng(seed);
  std::string machine =
      "name: wide\nnodes:\n  - {storage: L0, word: 8 b, capacity: unlimited, energy: ";
  machine += fmt::format("{{read: {0} pJ/word, write: {0} pJ/word}}}}\n", rng.between(30, 200));
  for (const std::int64_t bytes : {rng.between(2, 2 * most * most), rng.between(2, most * most)}) {
    machine += fmt::format(
        "  - {{storage: L{}, word: 8 b, capacity: {} B, energy: {{read: {} pJ/word, write: {} "
        "pJ/word}}}}\n",
        machine.find("L1") == std::string::npos ? 1 : 2, bytes, rng.between(1, 20),
        rng.between(1, 20));
  }
  machine += "  - {compute: MAC, energy: 1 pJ}\n";
  TinyChain tiny{parse_arch(machine, "arch.yaml"), {}};
  const auto is_small = [&](const Workload& einsum) { return most > 2 || einsum.macs() <= 4; };
  do {
    tiny.chain = parse_chain(wide_chain(rng, most), "chain.yaml");
  } while (!std::all_of(tiny.chain.einsums.begin(), tiny.chain.einsums.end(), is_small));
  return tiny;
}

namespace {

TinyChain deep_tiny_chain(std::uint64_t seed) {
  Rng rng(seed);
  Rng of_ports(seed + 1);
  const bool is_graph = seed % 2 == 1;
  while (true) {
    const std::string machine = try_machine(rng, is_graph ? 2 : 3, 24, false,
                                            seed >= kFirstDeepTimed ? &of_ports : nullptr);
    TinyChain tiny{parse_arch(machine, "arch.yaml"),
                   parse_chain(deep_chain(rng, is_graph), "chain.yaml")};
    const auto& einsums = tiny.chain.einsums;
    if (std::all_of(einsums.begin(), einsums.end(),
                    [&](const Workload& einsum) { return einsum.macs() <= (is_graph ? 2 : 4); })) {
      return tiny;
    }
  }
}

}  // namespace

// Few enough mapping trees: what every einsum has to do, and the levels, are limited together.
TinyChain tiny_chain(std::uint64_t seed) {
  Rng rng(seed);
  Rng of_ports(seed + 1);
  const bool is_large = seed >= kFirstLarge;
  const bool is_timed = is_large ? seed >= kFirstLargeTimed : seed >= kFirstTimed;
  if (seed >= kFirstDeep) {
    return deep_tiny_chain(seed);
  }
  if (seed >= kFirstWide) {
    return wide_tiny_chain(seed, 2);
  }
  const bool spread = seed / kFirstSpread % 2 == 1;
  Rng* ports = is_timed ? &of_ports : nullptr;
  if (seed % 2 == 0 || is_large) {
    return {parse_arch(try_machine(rng, 2, is_large ? 24 : 8, spread, ports), "arch.yaml"),
            parse_chain(halo_chain(rng, is_large), "chain.yaml")};
  }
  const std::size_t levels = rng.below(3) == 0 ? 3 : 2;
  const std::int64_t most = levels == 3 ? 4 : 8;
  while (true) {
    const std::string text = try_chain(rng);
    if (text.empty()) {
      continue;
    }
    TinyChain tiny{parse_arch(try_machine(rng, levels, 12, spread, ports), "arch.yaml"),
                   parse_chain(text, "chain.yaml")};
    const auto& einsums = tiny.chain.einsums;
    if (std::all_of(einsums.begin(), einsums.end(),
                    [&](const Workload& einsum) { return einsum.macs() <= most; })) {
      return tiny;
    }
  }
}

TinyChain longest_chain() {
  std::string text =
      "name: m\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {read: 100 pJ/word, write: 100 pJ/word}\n";
  for (int l = 0; l < 5; ++l) {
    text += fmt::format(
        "  - storage: L{0}\n    word: 8 b\n    capacity: {1} B\n    energy: {{read: {2} pJ/word, "
        "write: {2} pJ/word}}\n",
        l, 1024 >> l, 20 - 4 * l);
  }
  text += "  - compute: MAC\n    energy: 1 pJ\n";
  std::string chain = "name: long\nchain:\n";
  for (std::size_t e = 0; e < kMaxEinsums; ++e) {
    chain += fmt::format("  - name: e{}\n    gemm: {{m: 1, n: 1, k: 1}}\n", e);
    chain += e > 0 ? fmt::format("    in: {{A: t{}}}\n", e - 1) : "";
    chain += e + 1 < kMaxEinsums ? fmt::format("    out: t{}\n", e) : "";
  }
  return {parse_arch(text, "arch.yaml"), parse_chain(chain, "chain.yaml")};
}

std::string describe(const TinyChain& tiny) {
  std::string text;
  for (const LevelId l : tiny.arch.levels.ids()) {
    const Storage& level = tiny.arch.levels[l];
    text += fmt::format("{}: {} b, read {}, write {}{}\n", level.name,
                        level.capacity.total().count(), level.energy.read.count(),
                        level.energy.write.count(), level.sliding ? ", sliding" : "");
  }
  for (const Workload& einsum : tiny.chain.einsums) {
    for (const Dim& dim : einsum.dims) {
      text += fmt::format("{} {}, ", dim.name, dim.bound);
    }
    text += "\n";
  }
  return text;
}

}  // namespace mapsim
