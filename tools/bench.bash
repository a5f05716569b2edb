# SPDX-License-Identifier: Apache-2.0
# Builds and starts the benchmarks. `./run bench` reads this file.

bench() {
    local mpi_launch ranks=4 each arguments=()
    find_launcher
    case "${1:-}" in
        netcdf | pnetcdf | zarr) bench_programs "$@"; return ;;
        --readme) bench_readme "${@:2}"; return ;;
        overlap) bench_overlap "$@"; return ;;
        restart-read) set -- read "${@:2}" ;;
        history) ranks=1 ;;
        irregular) ranks=16 ;;
    esac
    while [[ $# -gt 0 ]]; do
        case "$1" in
            --ranks) [[ $# -gt 1 ]] || die "--ranks needs a number"; ranks="$2"; shift 2 ;;
            --ranks=*) ranks="${1#*=}"; shift ;;
            *) arguments+=("$1"); shift ;;
        esac
    done
    [[ "$ranks" =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || die "--ranks needs a number, not '$ranks'"
    build release thalweg-bench
    for each in ${ranks//,/ }; do
        "${mpi_launch[@]}" -n "$each" "$release/bin/thalweg-bench" "${arguments[@]}"
    done
}

# bench_overlap: the model's ranks, and as many servers as the row with most of them needs.
bench_overlap() {
    build release thalweg-bench
    "${mpi_launch[@]}" -n "$(python3 lab/papers/ranks.py "$@")" "$release/bin/thalweg-bench" "$@"
}

# bench_programs: programs that know nothing of the library, plain and under thalweg run; Zarr stores.
bench_programs() {
    local python=python3
    if [[ "$1" == zarr ]]; then
        install_python
        build release thalweg_python
        python="$venv/bin/python3"
    else
        build release bench-netcdf bench-pnetcdf bench-own thalweg_shim thalweg_fronts thalweg-app
    fi
    # As for the papers; MPI-IO of Open MPI itself is far slower.
    OMPI_MCA_io="${OMPI_MCA_io:-romio321}" "$python" lab/bench/programs.py "$@" \
        --bin "$release/bin" --launch "${mpi_launch[*]}"
}

# bench_readme: measures the tables of README.md and docs/performance.md, and writes them.
bench_readme() {
    build release thalweg-bench
    OMPI_MCA_io="${OMPI_MCA_io:-romio321}" python3 tools/speeds.py \
        --program "$release/bin/thalweg-bench" --launch "${mpi_launch[*]}" "$@"
}

# bench_help: shows help from the sources, without compiling.
bench_help() {
    case "${1:-}" in
        --readme) python3 tools/speeds.py --help; return ;;
        netcdf | pnetcdf | zarr) python3 lab/bench/programs.py "$1" --help; return ;;
    esac
    echo "usage: ./run bench WORKLOAD | restart-read | prefetch | overlap | irregular | history | pio | netcdf | pnetcdf | zarr | --readme [options]"
    echo "  --ranks N                       Ranks that measure, or several numbers, as 1,2,4"
    python3 tools/option_help.py lab/bench/options.cpp:parse_options
}
