// SPDX-License-Identifier: Apache-2.0
#include "app/examples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace mapsim {

namespace {

constexpr std::array kExamples = {
    Example{"search",
            "mapsim search eyeriss resnet50/conv2_3x3 --save-mapping best.yaml --certificate "
            "proof.json",
            "the mapping of least energy, kept with its proof"},
    Example{"search", "mapsim search nvdla_like_1024 --gemm 4096x4096x4096 --objective edp",
            "a layer without a file, for the energy-delay product"},
    Example{"search", "mapsim search eyeriss resnet50/conv2_3x3 --even --save-mapping even.yaml",
            "the best of the mappings that Timeloop can say"},
    Example{"search", "mapsim search teaching teaching/conv --pareto --svg front.svg",
            "energy against latency, and its picture"},
    Example{"network", "mapsim network nvdla_like_1024 alexnet",
            "every layer of a shipped network, and totals"},
    Example{"network", "mapsim network eyeriss alexnet --objective edp --json -o network.json",
            "the same for programs and for report"},
    Example{"sweep", "mapsim sweep teaching_buffers --db results.sqlite",
            "every point of a shipped campaign; again: those that are missing"},
    Example{"sweep", "mapsim sweep teaching_buffers --db part1.sqlite --shard 1/2",
            "the first half, for a machine of its own"},
    Example{"merge", "mapsim merge all.sqlite results.sqlite",
            "a database with all that another one has"},
    Example{"merge", "mapsim merge all.sqlite part*.sqlite", "... and with what the shards have"},
    Example{"results", "mapsim results results.sqlite", "a table of all points"},
    Example{"results", "mapsim results all.sqlite --csv -o all.csv",
            "every column with all digits, for a spreadsheet"},
    Example{"report", "mapsim report results.sqlite -o report.html", "a campaign as one page"},
    Example{"report", "mapsim report network.json -o network.html --figures figures",
            "a network, and each figure as SVG and CSV"},
    Example{"check", "mapsim check proof.json", "whether the proof of a search holds"},
    Example{"check", "mapsim check proof.json --json -o verdict.json", "the same for programs"},
    Example{"eval", "mapsim eval eyeriss resnet50/conv2_3x3 best.yaml --explain-energy",
            "what a mapping costs, action by action"},
    Example{"eval", "mapsim eval a100_40gb --gemm 4096x4096x4096 --block 128x128x32 --stages 3",
            "what one kernel costs on a GPU, beside the best"},
    Example{"simulate", "mapsim simulate teaching teaching/conv teaching_weight_stationary",
            "a shipped mapping walked, every count compared"},
    Example{"simulate", "mapsim simulate eyeriss resnet50/conv2_3x3 best.yaml --trace trace.json",
            "a mapping in time, for https://ui.perfetto.dev"},
    Example{"roofline", "mapsim roofline eyeriss resnet50/conv2_3x3",
            "what no mapping of the layer can beat"},
    Example{"roofline", "mapsim roofline a100_40gb --gemm 512x512x4096 --precision f16",
            "the same on a GPU"},
    Example{"show", "mapsim show eyeriss -o eyeriss.svg", "a machine as a picture"},
    Example{"show", "mapsim show eyeriss resnet50/conv2_3x3 best.yaml --html -o steps.html",
            "a mapping to step through, in a browser"},
    Example{"histogram", "mapsim histogram teaching teaching/conv --mappings 2000",
            "how much better the best mapping is than others"},
    Example{"histogram",
            "mapsim histogram teaching teaching/conv --mappings 2000 --svg energies.svg",
            "the same as a picture"},
    Example{"list", "mapsim list", "all names that commands take"},
    Example{"list", "mapsim list machines --names", "those of machines, one a line"},
    Example{"import", "mapsim import timeloop arch.yaml problem.yaml mapping.yaml -o design",
            "a design of Timeloop as arch.yaml, workload.yaml and mapping.yaml"},
    Example{"import", "mapsim import onnx model.onnx -o layers --batch 8",
            "the layers of a model as workload files"},
    Example{"compare", "mapsim compare timeloop design.yaml --stats timeloop-model.stats.txt",
            "where our figures and Timeloop's differ, and why"},
    Example{"compare",
            "mapsim compare timeloop design.yaml --stats timeloop-model.stats.txt --all --json",
            "all figures, for programs"},
    Example{"compare", "mapsim compare zigzag arch.yaml conv2_complete.json",
            "ZigZag's mapping in our model, beside the proven optimum"},
    Example{"export", "mapsim export timeloop eyeriss resnet50/conv2_3x3 even.yaml -o map.yaml",
            "a mapping as Timeloop reads it"},
    Example{"export", "mapsim export cuda a100_40gb teaching/gemm -o kernel.cu",
            "the best kernel as CUDA C++"},
    Example{"calibrate", "mapsim calibrate measurements.csv --arch h100_sxm",
            "how well the model would do on problems that it was not fitted to"},
    Example{"calibrate",
            "mapsim calibrate measurements.csv --arch h100_sxm --save-arch fitted.yaml",
            "a GPU with its calibration"},
    Example{"validate", "mapsim validate h200 bert_base/ffn_up --measurements new.csv",
            "kernels built, checked and timed on this machine's GPU"},
    Example{"validate", "mapsim validate h200 bert_base/ffn_up --device replay=measurements.csv",
            "the same from measurements of another machine"},
    Example{"microbench", "mapsim microbench h200", "the rates of this machine's GPU"},
    Example{"microbench", "mapsim microbench h200 -o rates.csv", "... as a file"},
};

}  // namespace

std::vector<Example> examples_of(std::string_view command) {
  std::vector<Example> found;
  std::copy_if(kExamples.begin(), kExamples.end(), std::back_inserter(found),
               [command](const Example& example) { return example.command == command; });
  return found;
}

std::string examples_text(std::string_view command) {
  std::string text;
  for (const Example& example : examples_of(command)) {
    text += fmt::format("{}  {}\n      {}\n", text.empty() ? "Examples:\n" : "", example.line,
                        example.what);
  }
  return text;
}

}  // namespace mapsim
