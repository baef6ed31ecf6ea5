# Habits of this project, one recipe each. `just` lists them; docs/ and CONTRIBUTING.md explain.

set shell := ["bash", "-euo", "pipefail", "-c"]

# The list of recipes.
default:
    @just --list --unsorted

# Fetch the toolchain and all dependencies.
setup:
    rustup show active-toolchain || rustup toolchain install
    cargo fetch --locked

# Build the command `bench`.
build:
    cargo build --release --bin bench

# The tests that everybody runs: seconds, once built.
test:
    cargo test --release --workspace

# Also the tests that take longer.
test-slow:
    cargo test --release --workspace -- --include-ignored

# Format the code.
fmt:
    cargo fmt --all

# Format and clippy, warnings as errors.
lint:
    cargo fmt --all --check
    cargo clippy --release --workspace --all-targets -- -D warnings

# The documentation of the crates.
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps

# Everything that must hold for a commit.
ci:
    .ci/run
