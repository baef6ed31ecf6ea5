"""Ingests a folder of logs with the platform's own transformer and with `bench ingest`, and
compares the two lakes.

Exits with 0 where they agree but for documented deviations, with 10 where they do not.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import xxhash

import differences
import transformer
from lake import Lake
from stored import store
from transformer import Workflow

ROOT = Path(__file__).resolve().parents[3]
MODALITIES = ROOT / "hl7" / "data" / "modality_mapping_codes.csv"
# Fails in the reference and completes with 0 rows here (docs/embedded.md).
NO_MESSAGE = "No data extracted from HL7 messages"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("logs", type=Path, help="folder of logs")
    add("transformer", type=Path, help="folder that holds the package hl7scout")
    add("--batch", type=int, default=150, help="logs a workflow [150]")
    pair: dict[str, Any] = {"action": "append", "default": [], "metavar": "KEY=VALUE"}
    add("--set", **pair, help="write setting of `bench ingest`")
    add("--conf", **pair, help="Spark setting of the reference")
    folder: dict[str, Any] = {"type": Path, "metavar": "DIR"}
    add("--keep", **folder, help="keep both lakes here, and use a reference again that is there")
    add("--store", **folder, help="store the reference's tables as expected values of a test")
    add("--jars", **folder, required=True, help="Delta's jars, from prepare.py")
    add("--bench", type=Path, metavar="FILE", help="the command `bench`, where it is built already")
    add("--modalities", type=Path, default=MODALITIES, help="exam codes and modalities, CSV")
    return parser.parse_args()


def pairs(settings: list[str]) -> dict[str, str]:
    split = [setting.partition("=") for setting in settings]
    wrong = [key for key, equals, _ in split if not equals]
    if wrong:
        sys.exit(f"error: {wrong[0]!r} is no setting\n  write it as KEY=VALUE")
    return {key: value for key, _, value in split}


def digest(logs: Path, names: list[str], batch: int) -> str:
    """Names what a reference was made of."""
    hashed = xxhash.xxh3_128(f"{batch}\n".encode())
    for name in names:
        hashed.update(os.fsencode(name))
        hashed.update((logs / name).read_bytes())
    return hashed.hexdigest()


def reference(options: argparse.Namespace, names: list[str], out: Path) -> list[Workflow]:
    """The reference's workflows; made now, or before from the same logs."""
    made_of, wanted = out / "made-of", digest(options.logs, names, options.batch)
    if (out / "workflows.json").exists() and made_of.exists():
        if made_of.read_text() != wanted:
            sys.exit(f"error: {out} was made of other logs or batches\n  give another --keep")
        return [Workflow(**one) for one in json.loads((out / "workflows.json").read_text())]
    done = transformer.run(
        options.transformer.resolve(),
        options.logs.resolve(),
        out,
        options.jars.resolve(),
        options.modalities.resolve(),
        options.batch,
        pairs(options.conf),
    )
    made_of.write_text(wanted)
    return done


def bench(given: Path | None) -> Path:
    """The command: the one that is given, or else built now."""
    if given is not None:
        return given.resolve()
    build = ["cargo", "build", "--release", "-q", "--bin", "bench"]
    if subprocess.run(build, cwd=ROOT).returncode != 0:
        sys.exit("error: `bench` does not build\n  what cargo says stands above")
    metadata = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    told = subprocess.run(metadata, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    return Path(json.loads(told)["target_directory"]) / "release" / "bench"


def ingest(options: argparse.Namespace, lake: Path) -> tuple[dict[str, Any], float]:
    """Runs `bench ingest`; its ledger, and the processor seconds that it took."""
    command = [
        str(bench(options.bench)),
        "ingest",
        "--json",
        str(options.logs.resolve()),
        "--lake",
        str(lake),
    ]
    command += ["--files-per-workflow", str(options.batch)]
    command += ["--modalities", str(options.modalities.resolve())]
    for setting in options.set:
        command += ["--set", setting]
    before = transformer.processor_seconds()
    done = subprocess.run(command, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"error: `bench ingest` failed (exit code {done.returncode})")
    return json.loads(done.stdout), transformer.processor_seconds() - before


def tell(tables: list[differences.Table]) -> bool:
    """Prints what was found; whether the lakes agree."""
    for table in tables:
        verdict = "DIFFERS" if table.differences else "agrees"
        print(f"{table.name:40} {verdict:8} {table.rows:7} rows, reference {table.reference_rows}")
        for line in table.differences:
            print(f"    {line}")
        for line in table.deviations:
            print(f"    documented: {line}")
    return not any(table.differences for table in tables)


def main() -> None:
    options = arguments()
    names = transformer.find_logs(options.logs)
    if not names:
        sys.exit(f"error: no *.log under {options.logs}\n  give a folder of logs")
    workflow_of = {Path(name).stem: at // options.batch + 1 for at, name in enumerate(names)}
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or Path(temporary)).resolve()
        done = reference(options, names, folder / "reference")
        made = tempfile.mkdtemp(prefix="lake-", dir=folder)
        ledger, own = ingest(options, Path(made))
        theirs = Lake("reference", folder / "reference" / "warehouse")
        failed = [workflow for workflow in done if workflow.failure]
        unknown = [workflow for workflow in failed if workflow.failure != NO_MESSAGE]
        seconds = sum(workflow.seconds for workflow in done)
        spent = sum(workflow.processor_seconds for workflow in done)
        print(f"{len(done)} workflows, seconds (of processors)")
        print(f"    reference     {seconds:8.2f} ({spent:.2f})")
        print(f"    bench ingest  {ledger['seconds']:8.2f} ({own:.2f})")
        for workflow in failed:
            kind = "FAILED" if workflow in unknown else "documented: failed"
            print(f"    reference: workflow {workflow.number} {kind}: {workflow.failure}")
        agree = tell(differences.compare(Lake("lake", Path(made)), theirs, workflow_of))
        if options.store:
            store(theirs, workflow_of, options.store)
            print(f"stored in {options.store}")
    sys.exit(0 if agree and not unknown else 10)


if __name__ == "__main__":
    main()
