// SPDX-License-Identifier: Apache-2.0
// usage: emit_kernels PATH FOLDER FILES: writes the kernels of a path as C++ for the emulation, and
// a few as they go to CUDA's compiler.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "tests/validate/kernels/cases.hpp"
#include "validate/kernels/kernel_text.hpp"

namespace mapsim {
namespace {

// What is written of a path.
struct Suite {
  std::string prefix;  // of files and functions
  std::string header;  // of the emulation
  std::string body;
  std::string arguments;
  std::vector<KernelCase> cases;
  std::vector<KernelMutant> mutants;
  std::vector<std::string> as_cuda;  // names of cases
};

Suite wmma_suite() {
  return {"",
          "emulated_wmma.hpp",
          std::string{kernel_text::common} + kernel_text::operand + kernel_text::gemm,
          "Arguments",
          kernel_cases(),
          kernel_mutants(),
          {"f16_rc", "s8_split_5", "conv_3x3_halo"}};
}
Suite mma_suite() {
  return {"mma_",
          "emulated_mma.hpp",
          std::string{kernel_text::common} + kernel_text::tile_loader + kernel_text::epilogue +
              kernel_text::mma_gemm,
          "RunArguments",
          mma_cases(),
          mma_mutants(),
          {"tn_whole", "large_tile", "split_bias_gelu", "conv_3x3"}};
}

Suite wgmma_suite() {
  return {"wgmma_",
          "emulated_wgmma.hpp",
          std::string{kernel_text::common} + kernel_text::tile_loader + kernel_text::epilogue +
              kernel_text::wgmma_gemm,
          "TmaArguments",
          wgmma_cases(),
          wgmma_mutants(),
          {"f16_tn", "f16_nt", "bf16_turned", "tf32_tn", "s8_tn", "cluster", "acc16_split"}};
}

std::string head(const Suite& suite) {
  return "// Written by emit_kernels.\n#include <cstring>\n"
         "#include \"tests/validate/kernels/cases.hpp\"\n"
         "#include \"tests/validate/kernels/" +
         suite.header + "\"\n";
}

// `text` with its namespace renamed to `name` inside of that of the emulation.
std::string renamed(std::string text, const std::string& name) {
  const std::string from = "namespace mapsim_kernel {";
  const std::string to = from + " namespace " + name + " {";
  const std::string end = "}  // namespace mapsim_kernel";
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
    text.replace(at, from.size(), to);
  }
  for (std::size_t at = text.find(end); at != std::string::npos; at = text.find(end, at + 2)) {
    text.insert(at, 1, '}');
  }
  return text;
}

std::string launch(const Suite& suite, const std::string& function, const std::string& space,
                   const KernelSpec& spec) {
  const GpuPath path = spec.kernel.path;
  const auto call = [&](const char* name) {
    return fmt::format("mapsim_kernel::{0}::{1}<mapsim_kernel::{0}::{2}_spec>(to)", space, name,
                       function);
  };
  return fmt::format(
      "namespace mapsim {{ void {}(const KernelArguments& from, bool reduces) {{\n"
      "  mapsim_kernel::{}::{} to;\n"
      "  static_assert(sizeof to <= sizeof from);\n"
      "  std::memcpy(&to, &from, sizeof to);\n"
      "  reduces ? {} : {};\n"
      "}} }}\n",
      function, space, suite.arguments,
      spec.kernel.split_k > 1 ? call(path == GpuPath::kWmma ? "reduce" : "reduce_slices")
                              : "void()",
      call(path == GpuPath::kMma     ? "mma_gemm"
           : path == GpuPath::kWgmma ? "wgmma_gemm"
           : spec.naive              ? "naive"
                                     : "gemm"));
}

std::string table(const std::string& name, const std::vector<std::string>& functions) {
  std::string text = "namespace mapsim {\n";
  std::string list;
  for (const std::string& function : functions) {
    text += fmt::format("void {}(const KernelArguments&, bool);\n", function);
    list += function + ", ";
  }
  return text + fmt::format("std::vector<Launch> {}() {{ return {{{}}}; }}\n}}\n", name, list);
}

// Kernels in files, those of one text once.
class Emitter {
 public:
  Emitter(const Suite& suite, std::size_t files)
      : suite_{&suite}, texts_(files, head(suite) + renamed(suite.body, suite.prefix + "whole")) {}

  // The function that launches it.
  std::string add(const KernelCase& of, const std::string& name, const std::string& space,
                  const std::string& body) {
    const std::string constants = spec_text(case_gpu(of), of.spec, "");
    const auto [at, is_new] = functions_.try_emplace(space + constants, name);
    if (is_new) {
      texts_[next_++ % texts_.size()] +=
          (body.empty() ? "" : renamed(body, space)) +
          renamed(spec_text(case_gpu(of), of.spec, name + "_spec"), space) +
          launch(*suite_, name, space, of.spec);
    }
    return at->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  const Suite* suite_;
  std::vector<std::string> texts_;
  std::map<std::string, std::string> functions_;
  std::size_t next_ = 0;
};

// The text of a mutant; says what is wrong with it.
std::string broken(const Suite& suite, const KernelMutant& mutant) {
  std::string text = suite.body;
  const std::size_t at = text.find(mutant.from);
  if (at == std::string::npos || text.find(mutant.from, at + 1) != std::string::npos) {
    std::cerr << mutant.name << ": not once in the kernel text: " << mutant.from << '\n';
    return "";
  }
  return text.replace(at, mutant.from.size(), mutant.to);
}

int emit(const Suite& suite, const std::string& folder, std::size_t files) {
  Emitter emitter{suite, files};
  std::vector<std::string> cases, mutants;
  for (const KernelCase& one : suite.cases) {
    if (const auto reason = not_generated(case_gpu(one), one.spec)) {
      std::cerr << one.name << ": " << *reason << '\n';
      return 1;
    }
    cases.push_back(emitter.add(one, fmt::format("{}case_{}", suite.prefix, cases.size()),
                                suite.prefix + "whole", ""));
    if (std::count(suite.as_cuda.begin(), suite.as_cuda.end(), one.name) > 0) {
      std::ofstream{fmt::format("{}/{}{}.cu", folder, suite.prefix, one.name)}
          << kernel_source(case_gpu(one), one.spec).text;
    }
  }
  for (const KernelMutant& mutant : suite.mutants) {
    const std::string text = broken(suite, mutant);
    if (text.empty()) {
      return 1;
    }
    mutants.push_back(emitter.add(mutant.on,
                                  fmt::format("{}mutant_{}", suite.prefix, mutants.size()),
                                  fmt::format("{}broken_{}", suite.prefix, mutants.size()), text));
  }
  for (std::size_t i = 0; i < files; ++i) {
    std::ofstream{fmt::format("{}/{}kernels_{}.cpp", folder, suite.prefix, i)}
        << emitter.texts()[i];
  }
  std::ofstream{fmt::format("{}/{}kernels_table.cpp", folder, suite.prefix)}
      << "// Written by emit_kernels.\n#include \"tests/validate/kernels/cases.hpp\"\n"
      << table(suite.prefix + "case_launches", cases)
      << table(suite.prefix + "mutant_launches", mutants);
  return 0;
}

}  // namespace
}  // namespace mapsim

int main(int argc, char** argv) {
  if (argc != 4) {
    return 2;
  }
  const std::string path = argv[1];
  return mapsim::emit(path == "mma"     ? mapsim::mma_suite()
                      : path == "wgmma" ? mapsim::wgmma_suite()
                                        : mapsim::wmma_suite(),
                      argv[2], std::stoul(argv[3]));
}
