// SPDX-License-Identifier: Apache-2.0
#include "plan/soc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "arch/gpu_load.hpp"
#include "arch/load.hpp"
#include "campaign/network.hpp"
#include "core/file_kind.hpp"
#include "core/reader.hpp"
#include "core/shipped.hpp"
#include "workloads/operators.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kMostEngines = 8;  // of one kind, and kinds
const Words kModes{"graph", "stream"};    // in the order of the enum
const Words kPrecisions{"s8", "f16", "f32"};
constexpr std::array<std::int64_t, 3> kWidths{8, 16, 32};

// Bytes a second; a chip's memory has no clock, so that bytes a cycle mean nothing.
Parsed<BytesPerSecond> parse_rate(std::string_view text) {
  if (text.find("/cycle") != std::string_view::npos) {
    return fmt::format("'{}' is a rate by the cycle; give bytes a second: 204.8 GB/s", text);
  }
  constexpr double kClock = 1e9;
  const Parsed<BitsPerCycle> rate = parse_bandwidth(text, std::nullopt, Hertz{kClock});
  if (const auto* problem = std::get_if<std::string>(&rate)) {
    return *problem;
  }
  return BytesPerSecond{std::get<0>(rate).count() * kClock / 8};
}

Parsed<PicojoulesPerBit> parse_energy_per_bit(std::string_view text) {
  return parse_access_energy(text, std::nullopt);
}

// A storage port of this many bytes a second, at the clock of its machine.
Bandwidth port_of(BytesPerSecond rate, Hertz clock) {
  Bandwidth port;
  port.shared = BitsPerCycle{rate.count() * 8 / clock.count()};
  return port;
}

// A machine with the memory of its chip. `port`: the most that the engine can move.
void set_memory(const SocMemory& memory, std::optional<BytesPerSecond> port, Gpu& gpu) {
  gpu.dram_bandwidth =
      BytesPerSecond{std::min(memory.bandwidth.count(), port.value_or(memory.bandwidth).count())};
  gpu.dram_size = Bytes{memory.capacity.count() / 8};
  gpu.energy.dram = PicojoulesPerBit{(memory.read.count() + memory.write.count()) / 2};
  if (!memory.share) {
    return;
  }
  if (gpu.calibrations.empty()) {
    gpu.calibrations.emplace_back();
  }
  for (GpuCalibration& calibration : gpu.calibrations) {
    calibration.dram = *memory.share;
  }
}

void set_memory(const SocMemory& memory, std::optional<BytesPerSecond> port, Arch& arch) {
  const double shared = memory.bandwidth.count() * memory.share.value_or(1);
  Storage& outermost = *arch.levels.begin();
  outermost.bandwidth = port_of(
      BytesPerSecond{std::min(shared, port.value_or(BytesPerSecond{shared}).count())}, arch.clock);
  outermost.energy = {memory.read, memory.write, memory.write};
  outermost.sources = {};
}

class SocReader {
 public:
  SocReader(Reader& reader, const Document& document, const Words& configs)
      : reader_{reader}, document_{document}, configs_{configs} {}

  Soc read() {
    const Fields top = reader_.fields(reader_.root(), {"name", "soc"});
    soc_.name = reader_.name(top.require("name")).value_or("");
    const Node* body = top.require("soc");
    if (body == nullptr) {
      return soc_;
    }
    const Fields fields = reader_.fields(*body, {"memory", "power", "engines", "transitions"});
    read_memory(fields.require("memory"));
    if (const auto power = reader_.quantity(fields.find("power"), parse_power)) {
      soc_.power = *power;
      if (!(power->count() > 0)) {
        reader_.error(fields.place("power"), "more than 0 W");
      }
    }
    if (const Node* list = fields.require("engines")) {
      read_engines(*list);
      mark(*list);
    }
    if (const Node* list = fields.find("transitions")) {
      read_transitions(*list);
      mark(*list);
    }
    return soc_;
  }

 private:
  void mark(const Node& list) {
    soc_.line = list.line;
    soc_.column = list.column;
  }

  void read_memory(const Node* node) {
    if (node == nullptr) {
      return;
    }
    const Fields fields = reader_.fields(*node, {"bandwidth", "share", "capacity", "energy"});
    SocMemory& memory = soc_.memory;
    memory.bandwidth =
        reader_.quantity(fields.require("bandwidth"), parse_rate).value_or(BytesPerSecond{1});
    memory.capacity = reader_.quantity(fields.require("capacity"), parse_size).value_or(Bits{0});
    memory.share = reader_.number(fields.find("share"), 0);
    if (memory.share && (*memory.share <= 0 || *memory.share > 1)) {
      reader_.error(fields.place("share"), "a share of the bandwidth, above 0 and at most 1");
    }
    if (const Node* energy = fields.require("energy")) {
      const Fields each = reader_.fields(*energy, {"read", "write"});
      const auto of = [&](const char* key) {
        return reader_.quantity(each.require(key), parse_energy_per_bit)
            .value_or(PicojoulesPerBit{0});
      };
      memory.read = of("read");
      memory.write = of("write");
    }
  }

  void read_engines(const Node& list) {
    std::set<std::string> names;
    for (const Node* item : reader_.items(list, "a list of engines")) {
      Engine engine = read_engine(*item);
      if (!names.insert(engine.name).second) {
        reader_.error(*item, fmt::format("a second engine '{}'; `count` says how many there are of "
                                         "one kind",
                                         engine.name));
      }
      soc_.engines.push_back(std::move(engine));
    }
    if (soc_.engines.size() > static_cast<std::size_t>(kMostEngines)) {
      reader_.error(list, fmt::format("more than {} kinds of engines", kMostEngines));
    }
  }

  Engine read_engine(const Node& item) {
    const Fields fields = reader_.fields(item, {"name", "arch", "count", "launch", "overhead",
                                                "port", "formats", "precisions", "operators"});
    Engine engine;
    engine.name = reader_.name(fields.require("name")).value_or("");
    engine.count = reader_.integer(fields.find("count"), 1, kMostEngines).value_or(1);
    engine.overhead = reader_.quantity(fields.find("overhead"), parse_seconds).value_or(Seconds{0});
    engine.formats = words(fields.find("formats"), "a list of formats");
    engine.operators = words(fields.find("operators"), "a list of operators");
    for (const std::string& op : engine.operators) {
      check_operator(op, *fields.find("operators"));
    }
    if (const Node* precisions = fields.find("precisions")) {
      for (const std::size_t i : reader_.choice_list(precisions, kPrecisions, "precision")) {
        engine.widths.push_back(kWidths[i]);
      }
    }
    read_launch(fields.find("launch"), engine);
    read_machine(fields, engine);
    return engine;
  }

  // Those that multiply are in no table of kinds: what does depends on where it is read.
  void check_operator(const std::string& op, const Node& at) {
    const bool multiplies =
        op == "ConvTranspose" ||
        std::find(kMultiplyingOps.begin(), kMultiplyingOps.end(), op) != kMultiplyingOps.end();
    if (op_kind(op) == OpKind::kOther && !multiplies) {
      reader_.error(at,
                    fmt::format("no operator is called {}; names are those of ONNX: Conv, Gemm, "
                                "MaxPool",
                                mapsim::quoted(op)));
    }
  }

  Words words(const Node* list, const char* what) {
    Words found;
    if (list != nullptr) {
      for (const Node* item : reader_.items(*list, what)) {
        if (const auto word = reader_.name(item)) {
          found.push_back(*word);
        }
      }
    }
    return found;
  }

  // One time, or one of each mode.
  void read_launch(const Node* node, Engine& engine) {
    if (node == nullptr) {
      return;
    }
    if (node->kind != Node::Kind::kMap) {
      engine.launch.fill(reader_.quantity(node, parse_seconds));
      return;
    }
    const Fields fields = reader_.fields(*node, kModes);
    for (std::size_t i = 0; i < kModes.size(); ++i) {
      engine.launch[i] = reader_.quantity(fields.find(kModes[i]), parse_seconds);
    }
  }

  void read_machine(const Fields& fields, Engine& engine) {
    const auto port = reader_.quantity(fields.find("port"), parse_rate);
    const auto named = reader_.text(fields.require("arch"), "the file of an architecture");
    if (!named) {
      return;
    }
    const std::string folder = std::filesystem::path{document_.file}.parent_path().string();
    engine.file = find_named(folder, *named, FileKind::kArch, configs_);
    std::error_code error;
    if (!std::filesystem::is_regular_file(engine.file, error)) {
      reader_.error(fields.place("arch"),
                    fmt::format("no such file: {}", mapsim::quoted(engine.file)));
      return;
    }
    const Document machine = read_yaml(checked_file(engine.file, {FileKind::kArch}));
    if (describes_gpu(machine)) {
      Gpu gpu = read_gpu(machine);
      set_memory(soc_.memory, port, gpu);
      engine.machine = std::move(gpu);
      return;
    }
    Arch arch = read_arch(machine);
    set_memory(soc_.memory, port, arch);
    engine.machine = std::move(arch);
    if (fields.has("launch")) {
      reader_.error(fields.place("launch"),
                    "'launch' is for GPUs; other engines have an 'overhead'");
    }
  }

  void read_transitions(const Node& list) {
    Words names;
    for (const Engine& engine : soc_.engines) {
      names.push_back(engine.name);
    }
    std::set<std::pair<std::size_t, std::size_t>> known;
    for (const Node* item : reader_.items(list, "a list of transitions")) {
      const Fields fields = reader_.fields(*item, {"from", "to", "sync", "reformat"});
      const auto from = reader_.choice(fields.require("from"), names, "engine");
      const auto to = reader_.choice(fields.require("to"), names, "engine");
      Transition made;
      made.sync = reader_.quantity(fields.find("sync"), parse_seconds).value_or(Seconds{0});
      made.reformat = reader_.choice(fields.find("reformat"), names, "engine");
      if (!from || !to) {
        continue;
      }
      made.from = *from;
      made.to = *to;
      check_transition(made, *item);
      if (!known.insert({*from, *to}).second) {
        reader_.error(*item,
                      fmt::format("a second transition from {} to {}", names[*from], names[*to]));
      }
      soc_.transitions.push_back(made);
    }
  }

  // Formats of both sides must meet, or somebody must convert.
  void check_transition(Transition& made, const Node& item) {
    const Engine& from = soc_.engines[made.from];
    const Engine& to = soc_.engines[made.to];
    if (made.from == made.to) {
      reader_.error(item, fmt::format("from {} to itself nothing has to pass", from.name));
      return;
    }
    const bool agree =
        (from.formats.empty() && to.formats.empty()) ||
        std::any_of(from.formats.begin(), from.formats.end(), [&to](const std::string& format) {
          return std::find(to.formats.begin(), to.formats.end(), format) != to.formats.end();
        });
    if (!agree && !made.reformat) {
      reader_.error(item, fmt::format("{} and {} have no format in common; `reformat` says which "
                                      "engine converts",
                                      from.name, to.name));
    }
  }

  Reader& reader_;
  const Document& document_;
  const Words& configs_;
  Soc soc_;
};

// An architecture alone: its memory is its own, and nothing has to be replaced.
Soc chip_of(const Document& document) {
  Soc soc;
  Engine engine;
  engine.file = document.file;
  if (describes_gpu(document)) {
    Gpu gpu = read_gpu(document);
    soc.name = gpu.name;
    soc.memory = {gpu.dram_bandwidth, std::nullopt, Bits{gpu.dram_size.count() * 8},
                  gpu.energy.dram, gpu.energy.dram};
    soc.power = gpu.power;
    engine.machine = std::move(gpu);
  } else {
    Arch arch = read_arch(document);
    soc.name = arch.name;
    const Storage& outermost = *arch.levels.begin();
    const double bits =
        outermost.bandwidth.shared.value_or(outermost.bandwidth.read.value_or(BitsPerCycle{0}))
            .count();
    soc.memory = {BytesPerSecond{bits / 8 * arch.clock.count()}, std::nullopt,
                  outermost.capacity.total(), outermost.energy.read, outermost.energy.write};
    engine.machine = std::move(arch);
  }
  engine.name = soc.name;
  soc.engines.push_back(std::move(engine));
  return soc;
}

}  // namespace

const char* to_string(LaunchMode mode) { return kModes[static_cast<std::size_t>(mode)].c_str(); }

Soc read_soc(const Document& document, const Words& configs) {
  Reader reader{document};
  Soc soc = SocReader{reader, document, configs}.read();
  reader.finish();
  return soc;
}

Soc load_soc(const std::string& path, const Words& configs) {
  const Document document = read_yaml(checked_file(path, {FileKind::kSoc, FileKind::kArch}));
  const bool is_chip = std::any_of(document.root.entries.begin(), document.root.entries.end(),
                                   [](const Entry& entry) { return entry.key.text == "soc"; });
  return is_chip ? read_soc(document, configs) : chip_of(document);
}

std::variant<Gpu, Arch> machine_of(const Engine& engine, LaunchMode mode) {
  std::variant<Gpu, Arch> machine = engine.machine;
  const std::optional<Seconds> launch = engine.launch[static_cast<std::size_t>(mode)];
  auto* gpu = std::get_if<Gpu>(&machine);
  if (gpu != nullptr && launch) {
    if (gpu->calibrations.empty()) {
      gpu->calibrations.emplace_back();
    }
    for (GpuCalibration& calibration : gpu->calibrations) {
      calibration.launch = *launch;
    }
  }
  return machine;
}

}  // namespace mapsim
