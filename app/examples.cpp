// SPDX-License-Identifier: Apache-2.0
#include "app/examples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace mapsim {

namespace {

constexpr std::array kExamples = {
    Example{"", "mapsim search eyeriss resnet50/conv2_3x3",
            "find the mapping of least energy of a layer, and prove that none is better"},
    Example{"", "mapsim network nvdla_like_1024 alexnet", "search every layer of a network"},
    Example{"", "mapsim search h100_sxm --gemm 4096x4096x4096 --precision f16",
            "rank the tensor-core kernels of a GPU"},
    Example{"", "mapsim list", "list what is shipped: machines, GPUs, layers, networks"},
    Example{"search",
            "mapsim search eyeriss resnet50/conv2_3x3 --save-mapping best.yaml --certificate "
            "proof.yaml",
            "find the mapping of least energy; save it and its proof"},
    Example{"search", "mapsim search nvdla_like_1024 --gemm 4096x4096x4096 --objective edp",
            "minimise the energy-delay product of a layer that has no file"},
    Example{"search", "mapsim search eyeriss resnet50/conv2_3x3 --even --save-mapping even.yaml",
            "search even mappings only, which Timeloop can express"},
    Example{"search", "mapsim search teaching teaching/conv --pareto --svg front.svg",
            "find the Pareto front of energy and latency, and draw it"},
    Example{"search", "mapsim search teaching_flat attention_1024 --save-mapping tree.yaml",
            "find out whether fusing two layers saves energy, and save the mapping tree"},
    Example{"network", "mapsim network nvdla_like_1024 alexnet",
            "search every layer of a shipped network"},
    Example{"network", "mapsim network nvdla_like_1024 graphs/bert_base_128 --fuse",
            "fuse chains of layers where that saves energy, and prove it"},
    Example{"network", "mapsim network eyeriss alexnet --objective edp --json -o network.json",
            "write JSON, for programs and for mapsim report"},
    Example{"plan", "mapsim plan jetson_agx_orin graphs/googlenet --why inception_3a_1x1",
            "find the fastest plan of a network on a chip, and explain one of its nodes"},
    Example{"plan",
            "mapsim plan teaching_chip graphs/squeezenet --objective energy --json -o plan.json",
            "find the plan of least energy, as JSON"},
    Example{"plan",
            "mapsim plan jetson_agx_orin graphs/resnet50 --objective throughput --batch 32 "
            "--engine-batch dla=2",
            "find how a stream of frames is shared by all engines, and what limits it"},
    Example{"sweep", "mapsim sweep teaching_buffers --db results.sqlite",
            "search every point of a shipped campaign; run again, only what is missing"},
    Example{"sweep", "mapsim sweep teaching_buffers --db part1.sqlite --shard 1/2",
            "search the first half; another machine may search 2/2"},
    Example{"design", "mapsim design eyeriss_10k --objective sum-edp --max-area 4mm2",
            "find the best of 420 variants of Eyeriss, of at most 4 mm2, for ResNet-50"},
    Example{"design",
            "mapsim design teaching_buffers alexnet --objective latency --save-arch fastest.yaml",
            "find the fastest machine of a space for a network, and write it as a file"},
    Example{"design",
            "mapsim design teaching_buffers --objective edp --pareto area --svg front.svg",
            "find the front of EDP and area, and draw it"},
    Example{"merge", "mapsim merge all.sqlite results.sqlite",
            "copy all results of one database into another"},
    Example{"merge", "mapsim merge all.sqlite part*.sqlite", "merge the databases of all shards"},
    Example{"results", "mapsim results results.sqlite", "print a table of all points"},
    Example{"results", "mapsim results all.sqlite --csv -o all.csv",
            "write all columns with all digits, for a spreadsheet"},
    Example{"report", "mapsim report results.sqlite -o report.html",
            "write a page about a campaign"},
    Example{"report", "mapsim report network.json -o network.html --figures figures",
            "write a page about a network, and each figure as SVG and CSV"},
    Example{"check", "mapsim check proof.yaml", "verify the proof that a search wrote"},
    Example{"check", "mapsim check proof.yaml --json -o verdict.json", "write the verdict as JSON"},
    Example{"eval", "mapsim eval eyeriss resnet50/conv2_3x3 best.yaml --explain-energy",
            "print the cost of a mapping, action by action"},
    Example{"eval", "mapsim eval a100_40gb --gemm 4096x4096x4096 --block 128x128x32 --stages 3",
            "print the cost of one GPU kernel, and that of the best"},
    Example{"simulate", "mapsim simulate teaching teaching/conv teaching_weight_stationary",
            "simulate a shipped mapping, and compare every count"},
    Example{"simulate", "mapsim simulate eyeriss resnet50/conv2_3x3 best.yaml --trace trace.json",
            "write a timeline, for https://ui.perfetto.dev"},
    Example{"roofline", "mapsim roofline eyeriss resnet50/conv2_3x3",
            "print bounds that no mapping of the layer can beat"},
    Example{"roofline", "mapsim roofline a100_40gb --gemm 512x512x4096 --precision f16",
            "print such bounds on a GPU"},
    Example{"show", "mapsim show eyeriss -o eyeriss.svg", "draw a machine"},
    Example{"show", "mapsim show eyeriss resnet50/conv2_3x3 best.yaml --html -o steps.html",
            "write a page to step through a mapping, for a browser"},
    Example{"histogram", "mapsim histogram teaching teaching/conv --mappings 2000",
            "compare 2000 random mappings with the best one"},
    Example{"histogram",
            "mapsim histogram teaching teaching/conv --mappings 2000 --svg energies.svg",
            "draw their energies as a histogram"},
    Example{"list", "mapsim list", "list everything that is shipped"},
    Example{"list", "mapsim list machines --names",
            "list only the names of machines, one per line"},
    Example{"list", "mapsim list machines eyeriss -o mine.yaml",
            "copy the file of a shipped machine, to change it"},
    Example{"import", "mapsim import timeloop arch.yaml problem.yaml mapping.yaml -o design",
            "convert a design of Timeloop to arch.yaml, workload.yaml and mapping.yaml"},
    Example{"import", "mapsim import timeloop design.yaml --counts-only -o design",
            "convert a design without energies: counts and cycles only"},
    Example{"import", "mapsim import onnx model.onnx -o layers --batch 8",
            "write each layer of a model as a workload file"},
    Example{"import", "mapsim import onnx model.onnx -o layers --dim sequence=128",
            "give a symbolic dim of the model's inputs a value"},
    Example{"import", "mapsim import scalesim array.cfg layers.csv -o systolic",
            "convert a systolic array and its layers; scalesim.csv has SCALE-Sim's cycles"},
    Example{"import", "mapsim import scalesim array.cfg gemms.csv -o products",
            "do the same for a topology of matrix products"},
    Example{"import", "mapsim import zigzag accelerator.yaml layers.yaml mapping.yaml -o zigzag",
            "convert an accelerator of ZigZag, its layers and what it unrolls"},
    Example{"import", "mapsim import zigzag arch.yaml model.onnx mapping.yaml -o zigzag",
            "convert an accelerator, and the layers of an ONNX model"},
    Example{"import", "mapsim import accelforge arch.yaml workload.yaml -o accelforge",
            "convert a machine of AccelForge, and its einsums to a network"},
    Example{"import",
            "mapsim import accelforge arch.yaml workload.yaml mapping.yaml --set BATCH_SIZE=1 -o "
            "accelforge",
            "convert a mapping, too, and give a name in templates a value"},
    Example{
        "import",
        "mapsim import gpu-table timings.csv --gpu a100_80gb --precision bf16 -o measurements.csv",
        "add a table of GEMM timings to measurements, for calibrate"},
    Example{
        "import",
        "mapsim import gpu-table timings.csv --gpu rtx3090 --precision f32 --problem 512x512x512 "
        "-o new.csv",
        "add a table of kernels of one GEMM, as Kernel Tuner writes it"},
    Example{"compare", "mapsim compare timeloop design.yaml --stats timeloop-model.stats.txt",
            "print where our figures differ from Timeloop's, and why"},
    Example{"compare",
            "mapsim compare timeloop design.yaml --stats timeloop-model.stats.txt --all --json",
            "write all figures as JSON"},
    Example{"compare", "mapsim compare zigzag arch.yaml conv2_complete.json",
            "compare ZigZag's mapping, in our model, with the proven optimum"},
    Example{"compare", "mapsim compare zigzag arch.yaml conv2_complete.json --json",
            "write all figures as JSON"},
    Example{"export", "mapsim export timeloop eyeriss resnet50/conv2_3x3 even.yaml -o map.yaml",
            "write a mapping for Timeloop"},
    Example{"export", "mapsim export timeloop arch.yaml layer.yaml mapping.yaml -o map.yaml",
            "write a mapping of an imported design"},
    Example{"export", "mapsim export cuda a100_40gb teaching/gemm -o kernel.cu",
            "write the best kernel as CUDA C++"},
    Example{"export",
            "mapsim export cuda a100_40gb --gemm 512x512x8192 --precision f16 --bias --relu -o "
            "product.cu",
            "write the best kernel of a product, with bias and ReLU"},
    Example{"calibrate", "mapsim calibrate measurements.csv --arch h100_sxm",
            "fit the model, and judge it on problems that it was not fitted to"},
    Example{"calibrate",
            "mapsim calibrate measurements.csv --arch h100_sxm --save-arch fitted.yaml",
            "write the GPU with its new calibration"},
    Example{"predict", "mapsim predict timings.csv --arch a100_80gb --precision bf16",
            "score the model, as it is shipped, on a table of GEMM timings"},
    Example{"predict", "mapsim predict measurements.csv --arch h100_sxm --json",
            "score it on measurements, as JSON"},
    Example{"validate", "mapsim validate h200 bert_base/ffn_up --measurements new.csv",
            "build, check and time kernels on this machine's GPU"},
    Example{"validate", "mapsim validate h200 bert_base/ffn_up --device replay=measurements.csv",
            "judge the model by measurements of another machine"},
    Example{"microbench", "mapsim microbench h200", "print the rates of this machine's GPU"},
    Example{"microbench", "mapsim microbench h200 -o rates.csv", "write them to a file"},
};

}  // namespace

std::vector<Example> examples_of(std::string_view command) {
  std::vector<Example> found;
  std::copy_if(kExamples.begin(), kExamples.end(), std::back_inserter(found),
               [command](const Example& example) { return example.command == command; });
  return found;
}

std::string examples_text(std::string_view command, std::string_view format) {
  std::string text;
  for (const Example& example : examples_of(command)) {
    if (example.line.find(fmt::format(" {}", format)) == std::string_view::npos) {
      continue;
    }
    text += fmt::format("{}  {}\n      {}\n", text.empty() ? "Examples:\n" : "", example.line,
                        example.what);
  }
  return text;
}

}  // namespace mapsim
