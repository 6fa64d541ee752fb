#!/bin/bash
# A campaign as an array of independent jobs, without MPI: each takes one shard into a database of
# its own, and a last job merges them.
#
#   array=$(sbatch --parsable configs/campaigns/slurm/array.sh CAMPAIGN.yaml FOLDER)
#   sbatch --dependency=afterok:$array --wrap 'mapsim merge FOLDER/all.sqlite FOLDER/shard-*.sqlite'
#
# A job that was killed or ran out of time goes on where it stopped when it is submitted again; with
# --requeue Slurm does that by itself.
#SBATCH --job-name=mapsim
#SBATCH --array=1-8
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --time=02:00:00
#SBATCH --signal=B:INT@60
#SBATCH --requeue
# As many as in --array above. Not $SLURM_ARRAY_TASK_COUNT, which is 1 when one lost task is submitted
# again with --array=5.
shards=8
set -euo pipefail
campaign=$1
folder=$2
mkdir -p "$folder"
# The write-ahead log of SQLite needs shared memory: not for network file systems that several nodes
# write. Here each database has one writer, so a local disk is only faster, not necessary.
# exec: the signal is for mapsim, which ends in order (exit 130).
exec mapsim sweep "$campaign" --db "$folder/shard-$SLURM_ARRAY_TASK_ID.sqlite" \
  --shard "$SLURM_ARRAY_TASK_ID/$shards" --threads "$SLURM_CPUS_PER_TASK"
