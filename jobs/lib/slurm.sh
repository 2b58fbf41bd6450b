# SPDX-License-Identifier: Apache-2.0
# Submits the job scripts of jobs/slurm, for `jobs/run slurm`. Sourced by jobs/run; uses its $root,
# models, fail_usage and build_program.

slurm_usage() {
    cat <<END
usage: ./jobs/run slurm SCRIPT [--print] [--OPTION=VALUE...] [MODEL OPTION...]

Builds MODEL and submits SCRIPT with it to SLURM, from the checkout.

  SCRIPT          $(slurm_scripts);
                  or the path of your own script, such as a changed copy
  --OPTION=VALUE  for sbatch, as in --nodes=4 or --time=02:00:00; overrides the options in SCRIPT
  MODEL           one of: $(models); or the path of your own program;
                  default: the model in SCRIPT
  --print         show the script and, in the last line, the command that would submit it; submit nothing

docs/how-to/slurm.md describes the purpose of each script.
Exit codes: 0 submitted; 2 wrong SCRIPT, MODEL or option; 4 no sbatch here; else the exit code of sbatch.
END
}

slurm_scripts() {
    local file names=()
    for file in "$root"/jobs/slurm/*.sbatch; do
        names+=("$(basename "$file" .sbatch)")
    done
    echo "${names[*]}"
}

# take_slurm_words WORD...: sorts the words that follow SCRIPT into $only_print, $for_sbatch, and
# $words for MODEL and its options.
take_slurm_words() {
    only_print='' for_sbatch=() words=()
    local word
    for word in "$@"; do
        if [[ $word == --print ]]; then
            only_print=1
        elif [[ ${#words[@]} -eq 0 && $word == -* ]]; then
            for_sbatch+=("$word")
        else
            words+=("$word")
        fi
    done
}

# slurm_model SCRIPT WORD...: prints the first WORD, or the default model of SCRIPT.
slurm_model() {
    local script=$1
    shift
    if [[ $# -gt 0 ]]; then
        echo "$1"
    else
        sed -n 's/.*|| set -- \([^ ]*\).*/\1/p' "$script"
    fi
}

run_slurm() {
    local script=$root/jobs/slurm/${1-}.sbatch model job command
    case ${1-} in
        --help | -h) slurm_usage; exit 0 ;;
        */* | *.sbatch) script=$(realpath --canonicalize-missing "$1") ;;
        *) [[ -f $script || ! -f ${1-} ]] || script=$(realpath "$1") ;;
    esac
    [[ -f $script ]] || fail_usage "slurm: unknown script '${1-}'; allowed: $(slurm_scripts)," \
        "or the path of a file"
    take_slurm_words "${@:2}"
    model=$(slurm_model "$script" "${words[@]}")
    if [[ $model == */* ]]; then
        [[ -x $model ]] || fail_usage "slurm: no program '$model'"
        [[ ${#words[@]} -eq 0 ]] || words[0]=$(realpath "$model")
    elif [[ " $(models) " != *" $model "* ]]; then
        fail_usage "slurm: unknown model '$model'; allowed: $(models), or the path of a program;" \
            "options of sbatch must precede it, as in --nodes=4"
    fi

    cd "$root" || exit
    command=(sbatch --parsable "${for_sbatch[@]}" "${script#"$root"/}" "${words[@]}")
    if [[ -n $only_print ]]; then
        cat "$script"
        printf '\n# In %q:%s\n' "$root" "$(printf ' %q' "${command[@]}")"
        exit 0
    fi
    if ! command -v sbatch >/dev/null; then
        echo "numawarp: slurm: no sbatch on this machine; --print shows the command that would be run" >&2
        exit 4
    fi
    [[ $model == */* ]] || build_program "$model" build ranks
    job=$("${command[@]}") || exit
    job=${job%%;*} # the cluster's name may follow
    echo "job      $job; show it with: squeue --job $job"
    echo "log      $(scontrol show job "$job" | sed -n 's/^ *StdOut=//p' | head -n 1)"
}
