#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH --job-name=thalweg-site
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=32
#SBATCH --exclusive
#SBATCH --time=00:30:00
# Measures the machine, predicts what output takes, and compares that with runs on 1, 2, ... nodes of
# the job. Change the lines above, and start it in the folder of the sources, which are built
# (./run build release; ninja -C build/release thalweg-plan thalweg-scale scale-messages):
#
#   sbatch examples/site/job.sh /path/on/the/file/system
set -euo pipefail
folder="${1:-${SCRATCH:?give the folder to write to, or set SCRATCH}}"
per_node="${SLURM_NTASKS_PER_NODE%%(*}"
ranks=""
for ((nodes = 1; nodes <= SLURM_NNODES; nodes *= 2)); do
    ranks+="${ranks:+,}$((nodes * per_node))"
done
python3 lab/scale/site.py --launch "srun -N {nodes} -n {ranks}" --ranks "$ranks" \
    --per-node "$per_node" --folder "$folder" --output "site-$SLURM_JOB_ID" "${@:2}"
