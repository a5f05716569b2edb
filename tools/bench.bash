# SPDX-License-Identifier: Apache-2.0
# Builds and starts the benchmarks. `./run bench` reads this file.

bench() {
    local program="$release/bin/thalweg-bench" target=thalweg-bench read=() ranks=4 arguments=()
    case "${1:-}" in
        pio) set -- "${@:2}"; target=pio-bench; program="$release/bin/pio-bench" ;;
        history) set -- "${@:2}"; program="$release/bin/history-bench" target=history-bench ranks=1 ;;
        netcdf) bench_netcdf "${@:2}"; return ;;
        pnetcdf) bench_pnetcdf "${@:2}"; return ;;
        overlap) build release thalweg-bench; bench_overlap "${@:2}"; return ;;
        model) build release shallow_water; bench_model "${@:2}"; return ;;
        restart-read) set -- "${@:2}"; read=(read) ;;
        prefetch) set -- "${@:2}"; read=(prefetch) ;;
        irregular) ranks=16 ;;
        --readme) build release thalweg-bench; bench_readme "${@:2}"; return ;;
    esac
    while [[ $# -gt 0 ]]; do
        case "$1" in
            --ranks) [[ $# -gt 1 ]] || die "--ranks needs a number"; ranks="$2"; shift 2 ;;
            --ranks=*) ranks="${1#*=}"; shift ;;
            *) arguments+=("$1"); shift ;;
        esac
    done
    if [[ "${read[*]}" == read && "$ranks" =~ ^[1-9][0-9]*(,[1-9][0-9]*)+$ ]]; then
        arguments+=(--sweep "$ranks")
        ranks="$(tr , '\n' <<<"$ranks" | sort -n | tail -n 1)"
    fi
    [[ "$ranks" =~ ^[1-9][0-9]*$ ]] || die "--ranks needs a number, not '$ranks'"
    build release "$target"
    mpi_run "$ranks" "$program" "${read[@]}" "${arguments[@]}"
}

# bench_overlap: the program itself calculates the number of ranks that it needs, servers included.
bench_overlap() {
    local ranks
    ranks="$("$program" overlap "$@" --print-ranks)" || exit
    mpi_run "$ranks" "$program" overlap "$@"
}

# Programs plain and under thalweg run: bench_netcdf [--ranks N,N] ..., bench_pnetcdf [--ranks N] ...
bench_netcdf() {
    local mpi_launch
    build release netcdf-bench pnetcdf-bench thalweg_shim thalweg_fronts thalweg-app
    find_launcher
    # As with PnetCDF's own bench; MPI-IO of Open MPI itself is far slower.
    OMPI_MCA_io="${OMPI_MCA_io:-romio321}" python3 lab/netcdf-bench/netcdf_bench.py \
        --program "$root/$release/bin/netcdf-bench" \
        --pnetcdf-program "$root/$release/bin/pnetcdf-bench" \
        --tool "$root/$release/bin/thalweg" --launch "${mpi_launch[*]}" "$@"
}

bench_pnetcdf() {
    local mpi_launch ranks=4
    if [[ "${1:-}" == --ranks ]]; then ranks="$2"; shift 2; fi
    build release pnetcdf-bench thalweg_shim thalweg_fronts thalweg-app
    find_launcher
    python3 lab/pnetcdf-bench/pnetcdf_bench.py --program "$root/$release/bin/pnetcdf-bench" \
        --own "$root/$release/bin/pnetcdf-own-bench" --tool "$root/$release/bin/thalweg" \
        --launch "${mpi_launch[*]} -n $ranks" "$@"
}

# bench_readme: measures the tables of README.md and docs/performance.md, and writes them.
bench_readme() {
    local mpi_launch
    find_launcher
    # As for the papers; MPI-IO of Open MPI itself is far slower.
    OMPI_MCA_io="${OMPI_MCA_io:-romio321}" python3 tools/speeds.py --program "$program" \
        --launch "${mpi_launch[*]}" "$@"
}

# bench_model: measures the whole example model.
bench_model() {
    local mpi_launch
    find_launcher
    python3 lab/model-bench/model_bench.py --program "$root/$release/bin/shallow_water" "$@" \
        -- "${mpi_launch[@]}"
}

# bench_help: shows help from the sources, without compiling.
bench_help() {
    local sources=(options.cpp:parse_options) common=(options.cpp:add_workload_options
        options.cpp:add_measuring_options)
    echo "usage: ./run bench WORKLOAD | restart-read | prefetch | overlap | irregular | model | history | pio | netcdf | pnetcdf | --readme [options]"
    echo "  --ranks N                       Ranks that measure; restart-read: several, as 1,2,4"
    case "${1:-}" in
        --readme) python3 tools/speeds.py --help; return ;;
        model) python3 lab/model-bench/model_bench.py --help; return ;;
        netcdf | pnetcdf) python3 "lab/$1-bench/$1_bench.py" --help; return ;;
        history) python3 tools/option_help.py lab/history-bench/main.cpp:usage; return ;;
        pio) python3 tools/option_help.py lab/pio-bench/options.cpp:help; return ;;
        restart-read) sources=(reading.cpp) common=() ;;
        prefetch) sources=(prefetch.cpp) ;;
        overlap) sources=(overlap_options.cpp) ;;
        irregular) sources=(irregular/command_line.cpp) common=() ;;
        *) echo "  --list                          The workloads and methods" ;;
    esac
    python3 tools/option_help.py "${sources[@]/#/lab/bench/}" "${common[@]/#/lab/bench/}"
}
