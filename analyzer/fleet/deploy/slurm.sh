#!/bin/bash
# The same as a job array of Slurm on a shared file system: sbatch --array=0-7 slurm.sh /shared/nights/2026-11-23 /shared/tables/2026-11-23
#SBATCH --job-name=casefile-fleet
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --requeue
set -euo pipefail
exec casefile-analyzer fleet run "$1" -o "$2" --jobs "$SLURM_CPUS_PER_TASK" --worker-memory 1536 \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
