#!/usr/bin/env bash
# Audits a function or a table; writes the text to the job summary and to a file, which it outputs.
set -euo pipefail

folder="$RUNNER_TEMP/hashlane-audit"
report="$folder/audit.txt"

# Words of the arguments, without patterns of file names.
set -f
# shellcheck disable=SC2206
words=($ARGUMENTS)
[ -z "$TABLE" ] || words+=(--table "$TABLE")
if [ -n "$LIBRARY" ]; then
    words+=(--library "$LIBRARY" --symbol "$SYMBOL" --signature "$SIGNATURE")
elif [ -z "$TABLE" ]; then
    echo "nothing to audit: state library, symbol and signature, or table" >&2
    exit 2
fi

code=0
"$folder/hashlane" audit --seed "$SEED" "${words[@]}" > "$report" || code=$?
cat "$report"
{ echo '```'; cat "$report"; echo '```'; } >> "$GITHUB_STEP_SUMMARY"
floodable=$([ "$code" = 1 ] && echo true || echo false)
{
    echo "report=$report"
    echo "floodable=$floodable"
} >> "$GITHUB_OUTPUT"

if [ "$code" -gt 1 ]; then
    echo "hashlane audit failed with exit code $code, or the function is faulty" >&2
    exit "$code"
fi
if [ "$floodable" = true ] && [ "$FAIL" = true ]; then
    echo "the table can be flooded without its seed: see the job summary" >&2
    exit 1
fi
