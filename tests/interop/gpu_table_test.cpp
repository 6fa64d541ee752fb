// SPDX-License-Identifier: Apache-2.0
#include "interop/gpu_table.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/diagnostic.hpp"
#include "tests/support/bad_inputs.hpp"
#include "tests/support/golden_table.hpp"

namespace mapsim::gpu_table_test {
namespace {

GpuTableImport import(const std::string& text, const GpuTableContext& context = {}) {
  return import_gpu_table(text, "t.csv", context);
}

const GpuTableContext kBf16{"h200", GpuPrecision::kBf16, {}, ""};
const GpuTableContext kCube{"rtx3090", GpuPrecision::kF32, GemmTile{4096, 4096, 4096}, "run"};

TEST(GpuTable, PlainTableIsOfALibrary) {
  const GpuTableImport read = import("m,n,k,latency_us\n16,4096,8192,35.5\n", kBf16);
  EXPECT_EQ(read.kind, "plain");
  ASSERT_EQ(read.measurements.size(), 1U);
  const GpuMeasurement& m = read.measurements[0];
  EXPECT_EQ(m.gpu, "h200");
  EXPECT_EQ(m.problem.m, 16);
  EXPECT_EQ(m.problem.k, 8192);
  EXPECT_EQ(m.problem.precision, GpuPrecision::kBf16);
  EXPECT_EQ(m.problem.output, Bytes{2});
  EXPECT_EQ(m.kernel, std::nullopt);
  EXPECT_DOUBLE_EQ(m.median.count(), 35.5e-6);
  EXPECT_DOUBLE_EQ(import("M,N,K,time_ms\n1,2,3,4\n", kBf16).measurements[0].median.count(), 4e-3);
}

TEST(GpuTable, SaysWhatATableLacks) {
  EXPECT_EQ(error_text([] { import("m,n,latency_us\n1,2,x\n"); }),
            "t.csv:1:1: not a table that is known, and as a plain one it lacks 'k'\n"
            "m,n,latency_us\n^\n"
            "t.csv:1:1: tables that are known: plain ones with m, n, k and a time (latency_us, "
            "latency_ms, time_ms, ms, median_ms, ...); leetcuda (told by 'warp_frag_m'); "
            "neusight_conv (told by 'kernel_szie'); deepbench_conv (told by 'pad_w'); ladder (told "
            "by 'max_abs_err'); neusight (told by 'grid_x'); clblast "
            "(told by 'MWG'); triton (told by 'util_of_peak_at_clock'); deepbench (told by "
            "'transA'); cutlass (told by 'cta_m')\nm,n,latency_us\n^");
  EXPECT_EQ(error_text([] { import("m,n,k,latency_us\n1,2,3,4\n"); }),
            "t.csv:1:1: the table does not say of which GPU it is; use --gpu NAME\n"
            "m,n,k,latency_us\n^\n"
            "t.csv:1:1: the table does not say in which precision; use --precision NAME\n"
            "m,n,k,latency_us\n^");
  EXPECT_EQ(error_text([] { import("m,n,k,latency_us\n1,2,3,x\n", kBf16); }),
            "t.csv:2:7: latency_us: 'x' is not a number above zero\n1,2,3,x\n      ^");
}

// What published tables hold beside timings of GEMMs: each refused with what it is.
TEST(GpuTable, OtherTablesAreRefusedWithWhatTheyHold) {
  for (const auto& [head, why] :
       {std::pair{"model,best_time_us,config", "best AutoTVM schedules of direct and Winograd"},
        {"rep,variant,flop_per_sm_clk", "rates of MMA instructions"},
        {"M,N,K,cta_m,pred_ms", "times that a model predicts"},
        {"gpu,b,h,latency_ms", "a row-wise operation"},
        {"kernel,mean HW_power", "power, no times"},
        {"fact,value,gpu", "specifications of chips"}}) {
    const std::string text = error_text([&] { import(std::string{head} + "\n"); });
    EXPECT_EQ(text.find("t.csv:1:1: not a table of GEMM timings: " + std::string{why}), 0U) << text;
  }
}

// Every file of the recorded tables is read, or refused with a reason.
TEST(GpuTable, EveryRecordedTableIsKnown) {
  if (goldens().empty()) {
    GTEST_SKIP() << "recorded tables not read: MAPSIM_GOLDENS is not set";
  }
  int read = 0;
  int refused = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{goldens() + "/gpu"}) {
    if (entry.path().extension() != ".csv") {
      continue;
    }
    std::ostringstream text;
    text << std::ifstream{entry.path()}.rdbuf();
    try {
      const GpuTableImport table = import_gpu_table(
          text.str(), "t.csv", {"g", GpuPrecision::kF16, GemmTile{4096, 4096, 4096}, ""});
      EXPECT_FALSE(table.measurements.empty()) << entry.path();
      ++read;
    } catch (const ConfigError& error) {
      const std::string reason = error.what();
      // One of them holds lines of a compiler's message and is no table at all.
      EXPECT_TRUE(reason.find("not a table of GEMM timings") != std::string::npos ||
                  entry.path().filename() == "wmma_gemm_regs_spills.csv")
          << entry.path() << reason;
      ++refused;
    }
  }
  EXPECT_GE(read, 12);
  EXPECT_GE(refused, 13);
}

TEST(GpuTable, PlainColumnsHaveManyNames) {
  const GpuTableImport read = import(
      "Device,dtype,B,M,N,K,std_ms,median_ms\nA40,float16,3,8,16,32,0.1,0.5\nA40,int4,1,8,8,8,1,"
      "1\n");
  ASSERT_EQ(read.measurements.size(), 1U);
  const GpuMeasurement& m = read.measurements[0];
  EXPECT_EQ(m.gpu, "A40");
  EXPECT_EQ(m.problem.precision, GpuPrecision::kF16);
  EXPECT_EQ(m.problem.batch, 3);
  EXPECT_DOUBLE_EQ(m.median.count(), 0.5e-3);
  EXPECT_EQ(read.notes, (std::vector<std::string>{"left out 1 rows: precision 'int4'",
                                                  "columns that were not read: std_ms"}));
}

TEST(GpuTable, LaddersOfKernelsComeWithTheTilesOfTheirSources) {
  const GpuTableImport read = import(
      "device,sm,M,N,K,kernel,ms,tflops,max_abs_err\nH,90,4096,4096,4096,mma_pipe@s3,1,1,0\n"
      "H,90,1024,1024,1024,wmma,1,1,0\nH,90,4096,4096,4096,wmma,1,1,0\n"
      "H,90,4096,4096,4096,cublastc,1,1,0\nH,90,4096,4096,4096,naive,1,1,0\n");
  EXPECT_EQ(read.kind, "ladder");
  ASSERT_EQ(read.measurements.size(), 4U);
  EXPECT_EQ(read.measurements[0].kernel->path, GpuPath::kMma);
  EXPECT_EQ(read.measurements[0].kernel->stages, 3);
  EXPECT_EQ(read.measurements[0].problem.output, Bytes{4});
  EXPECT_EQ(read.measurements[0].problem.b, MatrixLayout::kRow);
  EXPECT_EQ(read.measurements[1].kernel->block, (GemmTile{64, 64, 32}));
  EXPECT_EQ(read.measurements[2].kernel->block, (GemmTile{128, 128, 32}));
  EXPECT_EQ(read.measurements[2].kernel->threads(), 512);
  EXPECT_FALSE(read.measurements[3].kernel);
}

// The third side of a batched GEMM's grid is no split of K, and which extents are summed the grid
// says.
TEST(GpuTable, BatchedTablesAreBatches) {
  const std::string head =
      "gpu,b,m,n,k,latency_ms,tile_m,tile_n,tile_k,stages,grid_x,grid_y,grid_z,block,n_kernels,"
      "kernel\n";
  const GpuTableImport read =
      import(head + "V100,16,512,512,64,0.21,128,64,,,8,4,16,128,1,volta_sgemm_128x64_nn\n");
  ASSERT_EQ(read.measurements.size(), 1U);
  const GpuMeasurement& m = read.measurements[0];
  EXPECT_EQ(m.problem.batch, 16);
  EXPECT_EQ(m.kernel->split_k, 1);
  EXPECT_EQ(m.problem.n, 512);
  EXPECT_EQ(m.problem.k, 64);
  const GpuTableImport linear =
      import(head + "V100,1,512,64,512,0.21,128,64,,,8,4,2,128,1,volta_sgemm_128x64_nn\n");
  EXPECT_EQ(linear.measurements.at(0).problem.k, 64);
  EXPECT_EQ(linear.measurements.at(0).kernel->split_k, 2);
}

TEST(GpuTable, ColumnsOfTheProblemAreNotIgnored) {
  const std::string head = "gpu,precision,mode,M,N,K,transA,transB,time_ms,groups\n";
  EXPECT_NE(error_text([&] {
              import(head + "V100,FP32,train,8,8,8,N,N,1,4\n");
            }).find("column 'groups' says which problem it is"),
            std::string::npos);
  EXPECT_EQ(import(head + "V100,FP32,train,8,8,8,N,N,1,1\n").notes.at(0),
            "columns that were not read: mode, groups");
}

TEST(GpuTable, ConvolutionsAreImplicitGemms) {
  const GpuTableImport read = import(
      "gpu,b,input_channel,output_channel,kernel_szie,input_size,stride,padding,latency_ms,tile_m,"
      "tile_n,tile_k,stages,grid_x,grid_y,grid_z,block,n_kernels,kernel\n"
      "Tesla T4,2,64,96,3,56,2,1,0.5,128,64,,,13,2,1,128,2,"
      "cudnn_infer_volta_scudnn_128x64_relu_small_nn_v1\n"
      "Tesla T4,2,64,96,3,56,1,1,0.5,128,128,,,1,1,1,256,2,volta_scudnn_winograd_128x128\n"
      "Tesla T4,2,64,96,1,56,1,0,0.5,128,64,,,1,1,1,128,1,volta_sgemm_128x64_nn\n");
  EXPECT_EQ(read.kind, "neusight_conv");
  ASSERT_EQ(read.measurements.size(), 1U);
  EXPECT_EQ(read.notes.size(), 3U);
  const GpuMeasurement& m = read.measurements[0];
  EXPECT_EQ(m.problem.m, 2 * 28 * 28);
  EXPECT_EQ(m.problem.n, 96);
  EXPECT_EQ(m.problem.k, 64 * 9);
  EXPECT_EQ(m.problem.stored_a, 2 * 64 * 56 * 56);
  EXPECT_EQ(m.problem.run_a, 1);
  ASSERT_TRUE(m.kernel);
  EXPECT_EQ(m.kernel->block, (GemmTile{128, 64, 8}));
  EXPECT_EQ(m.kernel->threads(), 128);
  EXPECT_EQ((m.problem.m + 127) / 128, 13);  // as the grid of the table says
  const GpuTableImport deep = import(
      "gpu,mode,precision,pass,W,H,C,N,K,S,R,pad_w,pad_h,stride_w,stride_h,time_ms,tflops,algo\n"
      "V100,train,FP32,fwd,700,161,1,4,32,20,5,0,0,2,2,0.078,8.842,IMPLICIT_GEMM\n"
      "V100,train,FP32,wgrad,700,161,1,4,32,20,5,0,0,2,2,0.127,5.43,\n"
      "V100,train,FP32,fwd,7,7,8,4,32,3,3,1,1,1,1,0.1,1,WINOGRAD\n"
      "V100,train,\"FP16 ip, Mixed math\",fwd,7,7,8,4,32,3,3,1,1,1,1,0.1,1,IMPLICIT_GEMM\n");
  EXPECT_EQ(deep.kind, "deepbench_conv");
  ASSERT_EQ(deep.measurements.size(), 1U);
  EXPECT_EQ(deep.notes.size(), 4U);
  EXPECT_EQ(deep.measurements[0].problem.m, 4 * 341 * 79);
  EXPECT_EQ(deep.measurements[0].problem.k, 100);
  EXPECT_EQ(deep.measurements[0].kernel, std::nullopt);
}

TEST(GpuTable, LeetCudaKernelsKeepTheirTiles) {
  const std::string head =
      "gpu,date,M,N,K,label,family,warps,warp_frag_m,warp_frag_n,BM,BN,BK,stages,dyn_smem,"
      "grid_swizzle_cols,time_ms,tflops_f16acc\n";
  const GpuTableImport read =
      import(head + "L20,d,8192,4096,2048,s3,wmma,8,2,4,128,128,16,3,0,1024,0.7,99\n" +
             "L20,d,8192,4096,2048,one,wmma,8,1,1,64,32,16,,0,,1.5,46\n" +
             "L20,d,8192,4096,2048,naive,wmma,,,,,,,,0,,3,2\nL20,d,8,8,8,x,simt,,,,,,,,0,,3,2\n" +
             "L20,d,8192,4096,2048,cublas,cublas,,,,,,,,0,,0.66,104\n");
  ASSERT_EQ(read.measurements.size(), 3U);
  EXPECT_EQ(to_string(*read.measurements[0].kernel),
            "wmma 128x128x16 warp 32x64 frag 16x16x16 stages 3 split 1 raster 8 pad 8");
  EXPECT_EQ(to_string(*read.measurements[1].kernel),
            "wmma 64x32x16 warp 16x16 frag 16x16x16 stages 1 split 1 raster 0 pad 0");
  EXPECT_EQ(read.measurements[2].kernel, std::nullopt);
  EXPECT_EQ(read.measurements[0].problem.b, MatrixLayout::kRow);
  EXPECT_EQ(read.notes,
            (std::vector<std::string>{"left out 1 rows: a kernel without tensor cores",
                                      "left out 1 rows: a kernel without tiles in shared memory",
                                      "columns that were not read: dyn_smem, tflops_f16acc"}));
}

// "mma" of other than 2 x 4 warps is WMMA by LeetCUDA's own program, and a third extent is the
// depth of the tile: whatever columns a table has made of it.
TEST(GpuTable, LeetCudaLabelsNameTheKernel) {
  const std::string head =
      "gpu,date,M,N,K,label,family,warps,warp_frag_m,warp_frag_n,BM,BN,BK,stages,dyn_smem,"
      "grid_swizzle_cols,time_ms,tflops_f16acc\n";
  const GpuTableImport read = import(
      head + "L20,d,4096,4096,4096,(mma4x2+warp2x4+stage3),mma,8,2,4,128,64,16,3,0,,1,1\n" +
      "L20,d,4096,4096,4096,(mma4x4+warp4x4+stage3+dsmem),mma,16,4,4,256,128,16,3,1,,1,1\n" +
      "L20,d,4096,4096,4096,(mma2x4+warp4x4x2+stage2+dsmem),mma,8,4,4,128,128,16,2,1,,1,1\n" +
      "L20,d,4096,4096,4096,(mma4x2),mma,8,1,1,64,16,16,,0,,1,1\n" +
      "L20,d,4096,4096,4096,(mma2x4+warp4x4),mma,8,4,4,128,128,16,,0,,1,1\n");
  ASSERT_EQ(read.measurements.size(), 5U);
  const auto kernel = [&](std::size_t i) { return to_string(*read.measurements[i].kernel); };
  EXPECT_EQ(kernel(0), "wmma 128x128x16 warp 32x64 frag 16x16x16 stages 3 split 1 raster 0 pad 8");
  EXPECT_EQ(kernel(1), "wmma 256x256x16 warp 64x64 frag 16x16x16 stages 3 split 1 raster 0 pad 8");
  EXPECT_EQ(kernel(2), "mma 128x128x32 warp 64x32 frag 16x16x16 stages 2 split 1 raster 0 pad 8");
  EXPECT_EQ(kernel(3), "wmma 64x32x16 warp 16x16 frag 16x16x16 stages 1 split 1 raster 0 pad 0");
  EXPECT_EQ(kernel(4), "mma 128x128x16 warp 64x32 frag 16x16x16 stages 1 split 1 raster 0 pad 0");
}

// 16 x 8 threads of 8 x 16 elements: 32 of them, along M first, are two columns of threads.
TEST(GpuTable, ClblastKernelsKeepTheirThreads) {
  const GpuTableImport read = import(
      "MWG,NWG,MDIMC,NDIMC,MDIMA,NDIMB,VWM,VWN,SA,SB,time_ms\n"
      "128,128,16,8,32,16,4,2,1,1,5.7\n64,32,32,8,8,8,1,1,1,1,9\n32,32,8,8,8,8,1,1,1,0,9\n",
      kCube);
  ASSERT_EQ(read.measurements.size(), 2U);
  const KernelChoice& first = *read.measurements[0].kernel;
  EXPECT_EQ(first.block, (GemmTile{128, 128, 32}));
  EXPECT_EQ(first.fragment, (GemmTile{8, 16, 1}));
  EXPECT_EQ(first.warp, (GemmTile{128, 32, 32}));
  EXPECT_EQ(first.threads(), 128);
  EXPECT_EQ(first.simt, (SimtAccess{4, 2, 32, 16}));
  EXPECT_EQ(read.measurements[1].kernel->warp, (GemmTile{64, 4, 32}));
  EXPECT_EQ(read.measurements[1].kernel->threads(), 256);
  EXPECT_EQ(read.notes, std::vector<std::string>{
                            "left out 1 rows: SA or SB is 0: operands do not go through shared "
                            "memory"});
}

// The table as it was first written, with the wrong columns, and as it was put right.
TEST(GpuTable, LeetCudaTablesAreReadAlikeWhateverTheirColumnsSay) {
  if (goldens().empty()) {
    GTEST_SKIP() << "two forms of a recorded table not compared: MAPSIM_GOLDENS is not set";
  }
  const auto rows = [](const std::string& name) {
    std::ostringstream text;
    text << std::ifstream{goldens() + "/gpu/leetcuda_wmma/" + name}.rdbuf();
    return import(text.str()).measurements;
  };
  const std::vector<GpuMeasurement> first = rows("hgemm_kernels.csv");
  EXPECT_EQ(first, rows("hgemm_kernels_corrected.csv"));
  EXPECT_EQ(first.size(), 1574U);
}

// Whether the L2 held the operands is for the row to say, then for the context.
TEST(GpuTable, TakesTheCacheFromTheRowOrTheContext) {
  GpuTableContext context = kBf16;
  const std::string table = "m,n,k,latency_us,cache\n8,8,8,1,cold\n8,8,8,1,\n8,8,8,1,Hot\n";
  const auto states = [&] {
    std::string text;
    for (const GpuMeasurement& m : import(table, context).measurements) {
      text += m.hot ? "hot " : m.cold ? "cold " : "- ";
    }
    return text;
  };
  EXPECT_EQ(states(), "cold - hot ");
  context.hot = true;
  EXPECT_EQ(states(), "cold hot hot ");
  context.hot = false;
  EXPECT_EQ(states(), "cold cold hot ");
}

// The grid of the row says which way the tile lies: 5 x 1 blocks of 32 x 128 cover 141 x 58.
TEST(GpuTable, NeuSightTilesLieAlongColumns) {
  const GpuTableImport read = import(
      "gpu,m,n,k,latency_ms,tile_m,tile_n,tile_k,stages,grid_x,grid_y,grid_z,block,n_kernels,"
      "kernel\nA,58,13,141,0.054,32,128,,,5,1,1,256,1,ampere_sgemm_32x128_tn\n"
      "A,1,1,1,0.1,,,,,1,1,1,64,1,gemv\n");
  ASSERT_EQ(read.measurements.size(), 1U);
  const GpuMeasurement& m = read.measurements[0];
  EXPECT_EQ((GemmTile{m.problem.m, m.problem.n, m.problem.k}), (GemmTile{58, 141, 13}));
  EXPECT_EQ(m.kernel->path, GpuPath::kSimt);
  EXPECT_EQ(m.kernel->block, (GemmTile{128, 32, 8}));
  EXPECT_EQ(m.kernel->threads(), 256);
  EXPECT_EQ(m.kernel->warp.m * m.kernel->warp.n, 32 * m.kernel->fragment.m * m.kernel->fragment.n);
}

TEST(GpuTable, TritonUtilisationIsOfThePeakAtItsClock) {
  const GpuTableImport read = import(
      "gpu,sm_clock_mhz,mem_clock_mhz,M,N,K,dtype,util_of_peak_at_clock\n"
      "A100,1350,1215,4096,4096,4096,float16,0.81\n");
  // 108 SMs x 4 x 512 operations x 1.35 GHz = 298.6 Top/s.
  EXPECT_NEAR(read.measurements.at(0).median.count(),
              2.0 * 4096 * 4096 * 4096 / (0.81 * 298.598e12), 1e-9);
  EXPECT_DOUBLE_EQ(read.measurements[0].clock.count(), 1350e6);
}

// Column-major C[m][n] = A B is our C[n][m] = B^T A^T.
TEST(GpuTable, DeepBenchIsColumnMajor) {
  const GpuTableImport read = import(
      "gpu,mode,precision,M,N,K,transA,transB,time_ms,tflops\n"
      "V100,train,FP32,1760,16,512,N,N,0.038,2\nV100,train,FP32,1760,16,512,T,N,0.038,2\n");
  const GemmProblem& nn = read.measurements.at(0).problem;
  EXPECT_EQ((GemmTile{nn.m, nn.n, nn.k}), (GemmTile{16, 1760, 512}));
  EXPECT_EQ(nn.a, MatrixLayout::kRow);
  EXPECT_EQ(nn.b, MatrixLayout::kRow);
  EXPECT_EQ(read.measurements[1].problem.b, MatrixLayout::kColumn);
}

TEST(GpuTable, CutlassProfilerRows) {
  const std::string head =
      "Problem,Provider,OperationKind,Operation,Disposition,Status,gemm_kind,m,n,k,A,B,C,accum,"
      "split_k_slices,batch_count,op_class,cta_m,cta_n,cta_k,stages,warps_m,warps_n,warps_k,"
      "inst_m,inst_n,inst_k,Runtime\n";
  const GpuTableImport read = import(
      head +
          "1,CUTLASS,gemm,old,passed,success,universal,1024,512,256,f16:row,f16:column,f16:column,"
          "f32,2,1,tensorop,256,128,32,3,4,2,1,16,8,16,0.05\n"
          "1,CUTLASS,gemm,new,passed,success,universal,1024,512,256,bf16:row,bf16:column,f32:row,"
          "f32,1,1,tensorop,128,256,64,4,8,1,1,64,256,16,0.04\n"
          "1,CUTLASS,gemm,bad,failed,error,universal,1024,512,256,f16:row,f16:column,f16:column,"
          "f32,1,1,tensorop,128,128,32,3,2,2,1,16,8,16,0\n"
          "1,CUTLASS,gemm,odd,incorrect,success,universal,1024,512,256,f16:row,f16:column,f16:row,"
          "f32,1,1,tensorop,128,128,32,3,2,2,1,16,8,16,0.01\n",
      {"a100", {}, {}, ""});
  ASSERT_EQ(read.measurements.size(), 2U);
  const GpuMeasurement& old = read.measurements[0];
  EXPECT_EQ((GemmTile{old.problem.m, old.problem.n, old.problem.k}), (GemmTile{512, 1024, 256}));
  EXPECT_EQ(old.problem.a, MatrixLayout::kRow);  // B's column is A's row
  EXPECT_EQ(old.problem.b, MatrixLayout::kColumn);
  EXPECT_EQ(old.kernel->block, (GemmTile{128, 256, 32}));
  EXPECT_EQ(old.kernel->warps(), 8);
  EXPECT_EQ(old.kernel->split_k, 2);
  const GpuMeasurement& wgmma = read.measurements[1];
  EXPECT_EQ(wgmma.kernel->path, GpuPath::kWgmma);
  EXPECT_EQ(wgmma.kernel->warps(), 2);  // warpgroups
  EXPECT_EQ(wgmma.kernel->fragment, (GemmTile{64, 256, 16}));
  EXPECT_EQ(wgmma.problem.output, Bytes{4});
  EXPECT_EQ(wgmma.problem.precision, GpuPrecision::kBf16);
  EXPECT_EQ(read.notes, (std::vector<std::string>{"left out 1 rows: a status that is not success",
                                                  "left out 1 rows: disposition 'incorrect'",
                                                  "columns that were not read: Problem, Provider, "
                                                  "OperationKind, gemm_kind, warps_k"}));
}

TEST(GpuTable, KernelTunerT4) {
  const std::string text = R"({"schema_version": "1.0.0", "results": [
  {"timestamp": "2023-01-01 12:00:00", "configuration": {"MWG": 64, "NWG": 64, "KWG": 32,
   "MDIMC": 16, "NDIMC": 8, "SA": 1, "SB": 1, "PRECISION": 32, "kernel": "gemm"},
   "invalidity": "correct", "correctness": 1.0, "objectives": ["time"],
   "measurements": [{"name": "power", "value": 9, "unit": "W"},
                    {"name": "time", "value": 12.5, "unit": "ms"}]},
  {"configuration": {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32, "num_warps": 4,
   "num_stages": 3, "GROUP_M": 4}, "invalidity": "correct",
   "measurements": [{"name": "time", "value": 900, "unit": "us"}]},
  {"configuration": {"MWG": 16, "NWG": 16}, "invalidity": "compile", "measurements": []}]})";
  const GpuTableImport read = import_gpu_table(text, "t.json", kCube);
  EXPECT_EQ(read.kind, "t4");
  ASSERT_EQ(read.measurements.size(), 2U);
  EXPECT_EQ(read.measurements[0].kernel->threads(), 128);
  EXPECT_DOUBLE_EQ(read.measurements[0].median.count(), 12.5e-3);
  EXPECT_EQ(read.measurements[1].kernel->warp, (GemmTile{64, 64, 32}));
  EXPECT_EQ(read.measurements[1].kernel->raster, 4);
  EXPECT_DOUBLE_EQ(read.measurements[1].median.count(), 900e-6);
  EXPECT_EQ(read.notes, std::vector<std::string>{"left out 1 rows: invalidity 'compile'"});
  const std::string error = error_text([&] { import_gpu_table("{\"a\": 1}", "t.json", {}); });
  EXPECT_NE(error.find("not a T4 file: no 'results'"), std::string::npos) << error;
  EXPECT_NE(error.find("use --problem MxNxK"), std::string::npos) << error;
}

TEST(GpuTable, SurvivesDamage) {
  const std::string text =
      "MWG,NWG,MDIMC,NDIMC,SA,SB,time_ms\n64,64,16,8,1,1,2.5\n32,128,8,8,0,1,3\n";
  expect_survival(text, [](const std::string& csv) { import(csv, kCube); });
}

// One row of every kind of table, cut in every way.
TEST(GpuTable, SurvivesCuts) {
  const GpuTableContext all{"h200", GpuPrecision::kF16, GemmTile{512, 512, 512}, ""};
  for (const char* const table :
       {"gpu,m,n,k,batch,dtype,latency_ms\nA,8,8,8,1,float16,2\n",
        "device,sm,M,N,K,kernel,ms,tflops,max_abs_err\nH,90,512,512,512,wmma,1,1,0\n",
        "gpu,m,n,k,latency_ms,tile_m,tile_n,tile_k,stages,grid_x,grid_y,grid_z,block,n_kernels,"
        "kernel\nA,58,13,141,0.054,32,128,,,5,1,1,256,1,ampere_sgemm_32x128_tn\n",
        "gpu,b,input_channel,output_channel,kernel_szie,input_size,stride,padding,latency_ms,"
        "tile_m,tile_n,tile_k,stages,grid_x,grid_y,grid_z,block,n_kernels,kernel\n"
        "T4,2,64,96,3,56,2,1,0.5,128,64,,,13,2,1,128,2,cudnn_infer_volta_scudnn_128x64\n",
        "gpu,mode,precision,pass,W,H,C,N,K,S,R,pad_w,pad_h,stride_w,stride_h,time_ms,tflops,algo\n"
        "V100,train,FP32,fwd,700,161,1,4,32,20,5,0,0,2,2,0.078,8.842,IMPLICIT_GEMM\n",
        "gpu,date,M,N,K,label,family,warps,warp_frag_m,warp_frag_n,BM,BN,BK,stages,dyn_smem,"
        "grid_swizzle_cols,time_ms,tflops_f16acc\n"
        "L20,d,8192,4096,2048,s3,wmma,8,2,4,128,128,16,3,0,1024,0.7,99\n",
        "MWG,NWG,MDIMC,NDIMC,SA,SB,time_ms\n64,64,16,8,1,1,2.5\n",
        "gpu,sm_clock_mhz,mem_clock_mhz,M,N,K,dtype,util_of_peak_at_clock\n"
        "A100,1350,1215,4096,4096,4096,float16,0.81\n",
        "gpu,mode,precision,M,N,K,transA,transB,time_ms,tflops\nV100,train,FP32,8,8,8,N,N,1,2\n",
        "Operation,Disposition,Status,m,n,k,A,B,C,accum,split_k_slices,batch_count,op_class,cta_m,"
        "cta_n,cta_k,stages,warps_m,warps_n,inst_m,inst_n,inst_k,Runtime\nold,passed,success,1024,"
        "512,256,f16:row,f16:column,f16:column,f32,2,1,tensorop,256,128,32,3,4,2,16,8,16,0.05\n"}) {
    EXPECT_EQ(import(table, all).measurements.size(), 1U) << table;
    expect_survival_of_cuts(table, [&all](const std::string& csv) { import(csv, all); });
  }
}

TEST(GpuTable, LeavesOutConvolutionsOfTooManyMacs) {
  const GpuTableImport read = import(
      "gpu,mode,precision,pass,W,H,C,N,K,S,R,pad_w,pad_h,stride_w,stride_h,time_ms,tflops,algo\n"
      "V100,train,FP32,fwd,2147483648,2147483648,2147483648,4,32,1,1,0,0,1,1,1,1,IMPLICIT_GEMM\n");
  EXPECT_TRUE(read.measurements.empty());
  EXPECT_EQ(read.notes.at(0), "left out 1 rows: no output, or too many MACs");
}

// Every table of the reference data, and how many rows come over.
TEST(GpuTable, ReadsTheRecordedTables) {
  if (goldens().empty()) {
    GTEST_SKIP() << "7 recorded tables not read: MAPSIM_GOLDENS is not set";
  }
  struct Case {
    const char* path;
    GpuTableContext context;
    const char* kind;
    std::size_t least;
  };
  for (const Case& one :
       {Case{"aiconfigurator/h200_sxm-trtllm-1.3.0rc20-bfloat16.csv", kBf16, "plain", 35000},
        Case{"aiconfigurator/a100_sxm-trtllm-1.0.0-sq.csv",
             {"a100", GpuPrecision::kS8, {}, ""},
             "plain",
             6000},
        Case{"llmcompass/matmul_fp16_a100.csv", {"a100", GpuPrecision::kF16, {}, ""}, "plain", 20},
        Case{"leetcuda_wmma/hgemm_kernels_corrected.csv", {}, "leetcuda", 1500},
        Case{"neusight/linear_fp32_train.csv", {}, "neusight", 25000},
        Case{"kernel_tuner/gemm-RTX_3090.csv", kCube, "clblast", 4000},
        Case{"triton_ci/matmul_util.csv", {}, "triton", 38},
        Case{"deepbench/gemm.csv", {}, "deepbench", 800}}) {
    std::ostringstream text;
    text << std::ifstream{goldens() + "/gpu/" + one.path}.rdbuf();
    const GpuTableImport read = import_gpu_table(text.str(), one.path, one.context);
    EXPECT_EQ(read.kind, one.kind);
    EXPECT_GE(read.measurements.size(), one.least) << one.path;
  }
}

}  // namespace
}  // namespace mapsim::gpu_table_test
