#!/bin/bash
# A campaign under MPI: a process a core, points handed out as they ask, one database. Rank 0 writes
# it; the others need the files of the campaign at the same paths.
#
#   sbatch configs/campaigns/slurm/mpi.sh CAMPAIGN.yaml RESULTS.sqlite
#
# Where a node is lost the job ends; submitted again, it computes what is missing. mapsim has to be
# built with MPI (MAPSIM_MPI=ON), against the Open MPI that runs here.
#SBATCH --job-name=mapsim
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=32
#SBATCH --cpus-per-task=1
#SBATCH --time=02:00:00
#SBATCH --requeue
set -euo pipefail
campaign=$1
results=$2
exec mpirun -n "$SLURM_NTASKS" mapsim sweep "$campaign" --db "$results"
