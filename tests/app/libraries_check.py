#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No shared library is loaded from the working directory.

usage: libraries_check.py MAPSIM DECOY FAKE_CUDA SOURCE

Puts a library that says when it is loaded into a folder under every name that the sources load at run time, that the
program is linked with, and that its module for MPI has; then runs the commands that load libraries there. FAKE_CUDA is
a driver for tests, given by its path, so that the libraries that are loaded after the driver are looked for, too. A run
that is told to look there (LD_LIBRARY_PATH) shows that loading is noticed.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KERNEL_LIBRARIES = {"libcuda.so.1", "libnvidia-ml.so.1", "libcublas.so.13", "libnvrtc.so.13"}


def named_in_sources(source):
    """Literals such as "libcuda.so.1" of the folders that load libraries."""
    names = set()
    for folder in ("app", "campaign", "validate", "core"):
        for path in sorted((source / folder).rglob("*.cpp")):
            names |= set(re.findall(r'"(?:/[^"]*/)?(lib[\w+-]+\.so[.\d]*|\w+\.so)"', path.read_text()))
    return names


def needed_by(program):
    text = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    paths = [part for found in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", text) for part in found.split(":")]
    # An empty part is the working directory.
    assert all(part.startswith(("$ORIGIN", "/")) for part in paths), f"{program} looks for libraries in {paths}"
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))


class Folder:
    def __init__(self, path, mapsim, fake, names, decoy):
        self.path, self.mapsim, self.fake = path, mapsim, fake
        for name in names:
            shutil.copy(decoy, path / name)
        (path / "gemm.yaml").write_text("name: small\ngemm: {m: 64, n: 96, k: 128}\n"
                                        "precision: {input: 16 b, weight: 16 b, output: 16 b, partial: 32 b}\n")
        (path / "sweep.yaml").write_text("name: small\narch: teaching\nlayers: [gemm.yaml]\nobjectives: [energy]\n")
        (path / "mma.h").write_text("\n")

    def loaded(self, *words, **environment):
        """Names of the decoys that a command loads."""
        log = self.path / "loaded.log"
        log.unlink(missing_ok=True)
        without = {key: value for key, value in os.environ.items()
                   if key != "LD_LIBRARY_PATH" and not key.startswith(("MAPSIM_", "OMPI_", "PMIX_"))}
        subprocess.run([self.mapsim, *words], cwd=self.path, capture_output=True, check=False, timeout=120,
                       env={**without, "MAPSIM_DECOYS": str(log), **environment})
        return {Path(line).name for line in log.read_text().split()} if log.exists() else set()

    def all_commands(self, **environment):
        kernels = ("--top", "1", "--sample", "1", "--rounds", "1", "--per-kernel", "100 us", "--warm-up", "1 us")
        loaded = self.loaded("search", "teaching", "gemm.yaml", **environment)
        loaded |= self.loaded("sweep", "sweep.yaml", "--db", "r.sqlite", OMPI_COMM_WORLD_SIZE="2", **environment)
        loaded |= self.loaded("microbench", "h200", **environment)
        # Each of these fails for want of a library, and the next one is then given by its path.
        given = {}
        for variable in ("CUDA", "NVRTC", "CUBLAS", "NVML"):
            loaded |= self.loaded("validate", "h200", "gemm.yaml", *kernels, **given, **environment)
            given[f"MAPSIM_{variable}_LIBRARY"] = str(self.fake)
        return loaded | self.loaded("validate", "h200", "gemm.yaml", *kernels, MAPSIM_CUDA_LIBRARY=str(self.fake),
                                    MAPSIM_NVRTC_LIBRARY="libnvrtc.so.13", MAPSIM_NVML_LIBRARY="libnvidia-ml.so.1",
                                    MAPSIM_CUBLAS_LIBRARY="libcublas.so.13", **environment)


def main():
    mapsim, decoy, fake, source = (Path(word).resolve() for word in sys.argv[1:])
    at_run_time = named_in_sources(source)
    assert KERNEL_LIBRARIES <= at_run_time | {"libcublas.so.13"}, at_run_time
    names = at_run_time | needed_by(mapsim) | KERNEL_LIBRARIES
    if (mapsim.parent / "mapsim_mpi.so").exists():
        names |= needed_by(mapsim.parent / "mapsim_mpi.so")
    with tempfile.TemporaryDirectory() as folder:
        here = Folder(Path(folder), mapsim, fake, names, decoy)
        loaded = here.all_commands()
        assert not loaded, f"loaded from the working directory: {', '.join(sorted(loaded))}"
        assert "libcuda.so.1" in here.loaded("microbench", "h200", MAPSIM_CUDA_LIBRARY="./libcuda.so.1")
    with tempfile.TemporaryDirectory() as folder:  # without those that the program is linked with
        here = Folder(Path(folder), mapsim, fake, (at_run_time | KERNEL_LIBRARIES) - needed_by(mapsim), decoy)
        loaded = here.all_commands(LD_LIBRARY_PATH=".")
        assert KERNEL_LIBRARIES <= loaded, f"not noticed: {', '.join(sorted(KERNEL_LIBRARIES - loaded))}"


if __name__ == "__main__":
    main()
