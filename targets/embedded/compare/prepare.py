"""Makes what the comparison needs, once: a virtual environment and six jars.

Prints the folder that holds them, so that a recipe can go on with it. Runs again at no cost: what
was made from the same requirements.txt and pom.xml stays. Uses the standard library alone.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import NoReturn

HERE = Path(__file__).resolve().parent
# Maven brings these with others that Spark already has.
JARS = (
    "delta-spark_4.1_2.13-*.jar",
    "delta-storage-*.jar",
    "delta-kernel-api-*.jar",
    "delta-kernel-defaults-*.jar",
    "unitycatalog-client-*.jar",
    "unitycatalog-hadoop-*.jar",
)


def fail(problem: str, remedy: str) -> NoReturn:
    sys.exit(f"error: {problem}\n  {remedy}")


def check_programs() -> None:
    if sys.version_info < (3, 11):
        fail(f"Python {sys.version.split()[0]} is too old", "install Python 3.11 or later")
    java = shutil.which("java")
    if java is None:
        fail("no `java` on the path", "install Java 17 or 21 (Debian: openjdk-17-jre-headless)")
    told = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)', told)
    if found is None or found[1] not in ("17", "21"):
        version = found[1] if found else "of an unknown version"
        fail(f"Java {version} does not run Spark 4.1", "put Java 17 or 21 first on the path")
    if shutil.which("mvn") is None:
        fail("no `mvn` on the path", "install Maven (Debian: maven); it fetches Delta's jars")


def run(what: str, command: list[str], folder: Path = HERE) -> None:
    print(f"{what} …", file=sys.stderr, flush=True)
    done = subprocess.run(command, stdout=sys.stderr, cwd=folder)
    if done.returncode != 0:
        fail(f"{what} failed (exit code {done.returncode})", "what it printed stands above")


def make(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    run(
        "installing Python packages",
        [str(python), "-m", "pip", "install", "-qr", "requirements.txt"],
    )
    with tempfile.TemporaryDirectory() as work:
        shutil.copy(HERE / "pom.xml", work)
        target = Path(work) / "jars"
        copy = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime"]
        run("fetching Delta's jars", [*copy, f"-DoutputDirectory={target}"], Path(work))
        (folder / "jars").mkdir()
        for pattern in JARS:
            jars = list(target.glob(pattern))
            if len(jars) != 1:
                fail(f"Maven brought {len(jars)} jars {pattern}, not one", "look into pom.xml")
            shutil.copy(jars[0], folder / "jars")


def main() -> None:
    made_of = b"".join((HERE / name).read_bytes() for name in ("requirements.txt", "pom.xml"))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "hl7-ingest-bench" / "compare-reference"
    stamp = folder / "made-of"
    digest = hashlib.sha256(made_of).hexdigest()
    if not (stamp.exists() and stamp.read_text() == digest):
        check_programs()
        make(folder)
        stamp.write_text(digest)
    print(folder)


if __name__ == "__main__":
    main()
