#!/bin/bash
# The standard validation of the GPU model on the GPU of this machine: 14 GEMMs (square, skinny, ragged,
# decode, large K) and 6 convolutions of ResNet-50, 44 kernels each, into one folder. Stops when its
# time is up and goes on where it stopped when it is run again with the same folder. docs/gpu_validation.md
#
# usage: gpu_validate.sh MAPSIM FOLDER [ARCH.yaml] [SECONDS]
#   MAPSIM   the program (of the tarball for a machine that has nothing but libc and CUDA)
#   FOLDER   everything goes here: measurements.csv, reports, cubins
#   ARCH     default configs/arch/h200.yaml
#   SECONDS  time for this run, default 480
# Environment: MAPSIM_CUBLAS_LIBRARY, MAPSIM_NVRTC_LIBRARY, CUDA_HOME ... where they are not found by
# themselves; PRECISION (f16); TOP, SAMPLE (20 each); NCU=1: counters of the 4096 GEMM, too.
# Exit codes: 0 all done; 1 done, but kernels were wrong or refused by a check; 130 run it again.
set -uo pipefail
(($# >= 2)) || { sed -n '2,16p' "$0"; exit 2; }
mapsim=$(realpath "$1")
mkdir -p "$2" && out=$(realpath "$2")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
arch=$(realpath "${3:-$root/configs/arch/h200.yaml}")
seconds=${4:-480}
precision=${PRECISION:-f16}
begin=$SECONDS
left() { echo $((seconds - (SECONDS - begin))); }

# cuBLAS of a Python package, where there is no toolkit's.
if [[ -z "${MAPSIM_CUBLAS_LIBRARY:-}" ]] && ! ldconfig -p 2>/dev/null | grep -q libcublas.so &&
  ! compgen -G '/usr/local/cuda/lib64/libcublas.so.1[123]' >/dev/null; then
  found=$(python3 -c 'import glob, nvidia, os
for folder in nvidia.__path__:
    for name in sorted(glob.glob(os.path.join(folder, "*", "lib", "libcublas.so.1[123]"))):
        print(name)' 2>/dev/null | tail -1)
  [[ -n "$found" ]] && export MAPSIM_CUBLAS_LIBRARY=$found
fi

mkdir -p "$out/workloads"
workloads=()
while read -r name m n k; do
  [[ -n "$name" ]] || continue
  printf 'name: %s\ngemm: {m: %s, n: %s, k: %s}\n' "$name" "$m" "$n" "$k" >"$out/workloads/$name.yaml"
  printf 'precision: {input: 16 b, weight: 16 b, output: 16 b, partial: 32 b}\n' >>"$out/workloads/$name.yaml"
  workloads+=("$out/workloads/$name.yaml")
done <<'TABLE'
square_4096 4096 4096 4096
square_1024 1024 1024 1024
square_2048 2048 2048 2048
square_8192 8192 8192 8192
tall_8192x128 8192 128 8192
wide_128x8192 128 8192 4096
prefill_ffn_down 2048 4096 11008
ragged_1000 1000 1000 1000
ragged_odd 2047 1023 513
ragged_3000 3000 500 1500
decode_projection 1 4096 4096
decode_batch_16 16 11008 4096
large_k_16384 512 512 16384
large_k_65536 256 256 65536
TABLE
# ResNet-50 at a batch of 32.
for layer in conv1 conv2_3x3 conv3_3x3_first conv3_projection conv4_3x3 conv5_3x3; do
  sed -e 's/^name: .*/&_batch_32/' -e 's/^conv2d:$/&\n  batch: 32/' \
    "$root/configs/workloads/resnet50/$layer.yaml" >"$out/workloads/$layer.yaml"
  workloads+=("$out/workloads/$layer.yaml")
done

# Runs mapsim with what is left of the time; a minute more for the problem that is being measured.
worst=0
run() {
  local log=$1 code
  shift
  (($(left) > 20)) || return 130
  timeout --kill-after=10 $(($(left) + 60)) "$mapsim" "$@" >"$out/$log" 2>"$out/$log.err"
  code=$?
  cat "$out/$log.err" >&2
  return $code
}
# validate, again and again until it is done: an illegal address ends its process, and the kernel is
# marked in the file and left out the next time.
validate() {
  local file=$out/$1 log=$2 code=130 tries=0
  shift 2
  while ((code == 130 && tries < 20 && $(left) > 20)); do
    run "$log" validate "$arch" "$@" --top "${TOP:-20}" --sample "${SAMPLE:-20}" \
      --cubins "$out/cubins" --measurements "$file" --budget "$(left) s"
    code=$?
    tries=$((tries + 1))
    ((code == 2)) && exit 2
  done
  ((code > worst)) && worst=$code
  echo "$log: exit code $code, $(grep -vc '^#' "$file" 2>/dev/null) rows, $(left) s left"
  return $code
}

if [[ ! -s "$out/microbench.csv" ]]; then
  run microbench.log microbench "$arch" --out "$out/microbench.csv" --cubins "$out/cubins"
  code=$?
  ((code == 2)) && exit 2
  cat "$out/microbench.csv" 2>/dev/null
fi
warm=20
[[ -s "$out/measurements.csv" ]] && warm=5
validate measurements.csv "validate_$precision.txt" "${workloads[@]}" --precision "$precision" --warm-up "$warm s"
main=$?
# Other precisions and a cold L2, of the first GEMM, when the main set is done.
if ((main != 130)); then
  sed -e 's/output: 16 b/output: 32 b/' "${workloads[0]}" >"$out/workloads/wide_results.yaml"
  for other in bf16 tf32 s8 f64; do
    file=${workloads[0]}
    [[ "$other" == s8 ]] && file=$out/workloads/wide_results.yaml  # sums of bytes are 32 b
    [[ "$other" == "$precision" ]] ||
      validate measurements.csv "validate_$other.txt" "$file" --precision "$other" --warm-up "1 s"
  done
  validate measurements_cold.csv validate_cold.txt "${workloads[@]:0:7}" --precision "$precision" --cold --warm-up "1 s"
fi
if [[ "${NCU:-0}" == 1 ]] && command -v ncu >/dev/null && [[ ! -s "$out/ncu.csv" ]] && (($(left) > 120)); then
  metrics=dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_op_read.sum
  metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,smsp__inst_executed_pipe_tensor.sum
  metrics+=,smsp__inst_executed.sum,smsp__cycles_active.avg,launch__registers_per_thread
  metrics+=,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed,gpu__time_duration.sum
  metrics+=,launch__occupancy_limit_blocks,launch__occupancy_limit_registers
  metrics+=,launch__occupancy_limit_shared_mem,launch__occupancy_limit_warps
  timeout $(left) ncu --csv --page raw --clock-control none --nvtx --print-nvtx-rename kernel \
    --metrics "$metrics" "$mapsim" validate "$arch" "${workloads[0]}" --precision "$precision" --once \
    --top "${TOP:-20}" --sample 0 --no-library --cubins "$out/cubins" >"$out/ncu.csv" 2>"$out/ncu.err" ||
    { cat "$out/ncu.err" >&2; rm -f "$out/ncu.csv"; }
fi

# What does not need the GPU: a calibration, and the report before and after it.
name=$(basename "$arch" .yaml)
calibrated=$out/${name}_calibrated.yaml
"$mapsim" calibrate "$out/measurements.csv" --arch "$arch" --save-arch "$calibrated" >"$out/calibrate.txt" 2>&1
counters=()
[[ -s "$out/ncu.csv" ]] && counters=(--counters "$out/ncu.csv")
report() {
  local file=$1 name=$2
  "$mapsim" validate "$file" "${workloads[@]}" --precision "$precision" "${counters[@]}" \
    --device "replay=$out/measurements.csv" --report "$out/$name.html" --svg "$out/$name.svg" \
    --out "$out/$name.txt" --top "${TOP:-20}" --sample "${SAMPLE:-20}" &&
    "$mapsim" validate "$file" "${workloads[@]}" --precision "$precision" --json \
      --device "replay=$out/measurements.csv" --out "$out/$name.json"
}
report "$arch" report
[[ -s "$calibrated" ]] && report "$calibrated" report_calibrated
cat "$out/report.txt"
exit $worst
