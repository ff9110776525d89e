#!/usr/bin/env bash
# Compares the builds of build.sh; writes the comment to the job summary and to a file, which it outputs.
set -euo pipefail

folder="$RUNNER_TEMP/hashlane-compare"
comment="$folder/comment.md"

# Words of the inputs, without patterns of file names.
set -f
# shellcheck disable=SC2206
words=($STUDIES $ARGUMENTS)

code=0
"$folder/after" compare --run "$folder/before" "$folder/after" "${words[@]}" \
    --time "$TIME" --ci --threshold "$THRESHOLD" > "$comment" || code=$?
if [ "$code" -gt 1 ]; then
    echo "hashlane compare failed with exit code $code" >&2
    exit "$code"
fi

cat "$comment" >> "$GITHUB_STEP_SUMMARY"
regressed=$([ "$code" = 1 ] && echo true || echo false)
{
    echo "comment=$comment"
    echo "regressed=$regressed"
} >> "$GITHUB_OUTPUT"

if [ "$regressed" = true ] && [ "$FAIL" = true ]; then
    echo "a row is slower by $THRESHOLD % or more: see the job summary" >&2
    exit 1
fi
