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

# The criterion benches.
bench *filter:
    cargo bench -p bench-suites {{ filter }}

# Fuzz the HL7 reader for some seconds, from the seed corpus; what is found new stays out of it.
fuzz seconds="60":
    command -v cargo-fuzz > /dev/null || cargo install cargo-fuzz --locked
    mkdir -p hl7/fuzz/target/found
    cd hl7 && RUSTC_BOOTSTRAP=1 cargo fuzz run read fuzz/target/found fuzz/corpus/read -- -max_total_time={{ seconds }}

# Every quantity of a profile, asked and found: all shipped ones, or those that are named.
profiles messages="100000" *names="varied lifelike webs dirty production":
    cargo run --release -q -p bench-generator --example profile-table -- --messages {{ messages }} {{ names }}

# The schema of scenario files, and the shipped ones against it, by an independent validator.
check-schema:
    python3 -m venv target/schema-venv
    target/schema-venv/bin/pip install --quiet jsonschema==4.26.0
    cargo build --release --bin bench
    target/schema-venv/bin/python runner/tests/scenarios/check_schema.py "${CARGO_TARGET_DIR:-target}/release/bench" scenarios

# Compare `bench ingest` with the platform's own transformer on a folder of logs; needs Java 17, Maven and Python.
compare-reference logs transformer="../shared/peers/scout-hl7-transformer" *options:
    made=$(python3 targets/embedded/compare/prepare.py) && "$made/venv/bin/python" targets/embedded/compare/compare.py --jars "$made/jars" {{ logs }} {{ transformer }} {{ options }}

# Whether Spark and the Python `deltalake` read an embedded lake as its ledger counts it; needs the same.
readers *options:
    made=$(python3 targets/embedded/compare/prepare.py) && "$made/venv/bin/python" targets/embedded/compare/readers.py --jars "$made/jars" {{ options }}

# Take the bytes that the generator makes now as the golden ones. Raise GENERATOR_VERSION first.
golden:
    INSTA_UPDATE=always cargo test --release -p bench-generator golden

# Everything that must hold for a commit.
ci:
    .ci/run
