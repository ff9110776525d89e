#!/usr/bin/env bash
# Makes RUNNER_TEMP/hashlane-audit/hashlane: COMMAND, or a build of the repository that has this action.
set -euo pipefail

folder="$RUNNER_TEMP/hashlane-audit"
mkdir -p "$folder"
if [ -n "$COMMAND" ]; then
    command=$(command -v "$COMMAND") || { echo "no command $COMMAND: install it, or leave it out" >&2; exit 2; }
    ln -sf "$(realpath "$command")" "$folder/hashlane"
    exit
fi
# Without the studies of other projects' tables and renderers, which the audit does not use.
cd "$GITHUB_ACTION_PATH/../../.."
CARGO_TARGET_DIR="$folder/target" cargo build --release --locked --package hashlane --no-default-features
ln -sf "$folder/target/release/hashlane" "$folder/hashlane"
