#!/usr/bin/env bash
# Builds the revisions BASE and HEAD of the clone REPOSITORY as RUNNER_TEMP/hashlane-compare/{before,after}.
set -euo pipefail

folder="$RUNNER_TEMP/hashlane-compare"
mkdir -p "$folder"

# Prints the full name of a commit; fetches it if the clone is shallow.
commit() {
    git -C "$REPOSITORY" rev-parse --verify --quiet "$1^{commit}" && return
    if ! git -C "$REPOSITORY" fetch --quiet --depth 1 origin "$1"; then
        echo "no revision $1 in $REPOSITORY: check out with fetch-depth 0, or name another one" >&2
        exit 2
    fi
    git -C "$REPOSITORY" rev-parse --verify 'FETCH_HEAD^{commit}'
}

# Builds revision $1 as $2. Both have one target directory, so that dependencies are built once; each has its
# sources at the same path, so that no path in the binaries differs.
build() {
    local sources="$folder/sources"
    git -C "$REPOSITORY" worktree remove --force "$sources" 2>/dev/null || true
    git -C "$REPOSITORY" worktree add --quiet --detach --force "$sources" "$1"
    (cd "$sources" && CARGO_TARGET_DIR="$folder/target" cargo build --release --locked --package hashlane)
    cp "$folder/target/release/hashlane" "$folder/$2"
    git -C "$REPOSITORY" worktree remove --force "$sources"
}

base=$(commit "$BASE")
head=$(commit "$HEAD")
if [ "$base" = "$head" ]; then
    echo "base and head are the same commit $base: the comparison shows noise only"
fi
build "$base" before
build "$head" after
