// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/gpu_device.hpp"
#include "arch/gpu_load.hpp"
#include "validate/device/microbenchmarks.hpp"

namespace mapsim {

Answer run(const MicrobenchArguments& arguments) {
  const Gpu gpu = load_gpu(arguments.arch);
  const OpenDevice open = open_device(arguments.tools, gpu, false);
  const std::vector<Microbenchmark> figures = microbenchmarks(open.tools(), gpu, open.compile, {});
  Answer answer{kDone,
                arguments.output.json
                    ? microbenchmarks_json(
                          provenance_text({"microbench", {input_file("arch", arguments.arch)}}),
                          gpu.name, open.driver, figures)
                    : microbenchmarks_csv(gpu.name, open.driver, figures)};
  for (const std::string& note : open.notes) {
    answer.remark += answer.remark.empty() ? "" : "; ";
    answer.remark += note;
  }
  for (const Microbenchmark& figure : figures) {
    answer.code = figure.refusal.empty() ? answer.code : kNegative;
  }
  return answer;
}

}  // namespace mapsim
