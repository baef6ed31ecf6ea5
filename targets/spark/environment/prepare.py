"""Makes what Spark needs, once: a virtual environment and six jars, in the user's cache.

Prints the folder that holds them, so that a recipe can go on with it. Runs again at no cost: the
folder is named by the digest of the pins, and a stamp written last says that it is whole. The
targets and the comparisons with the platform's transformer share it. Uses the standard library
alone, and runs on an old Python to say that it is too old.
"""

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
# What names the folder; `bench` computes the same digest of the same files, in this order.
PINS = ("requirements.txt", "pom.xml")
STAMP = "whole"
# Maven brings these with others that Spark already has.
JARS = (
    "delta-spark_4.1_2.13-*.jar",
    "delta-storage-*.jar",
    "delta-kernel-api-*.jar",
    "delta-kernel-defaults-*.jar",
    "unitycatalog-client-*.jar",
    "unitycatalog-hadoop-*.jar",
)


def fail(problem, remedy):
    sys.exit(f"error: {problem}\n  {remedy}")


def check_programs():
    if sys.version_info < (3, 10):
        fail(f"Python {sys.version.split()[0]} is too old", "install Python 3.10 or later")
    java = find_java()
    if java is None:
        fail("no `java` on the path", "install Java 17 or 21 (Debian: openjdk-17-jre-headless)")
    told = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)', told)
    if found is None or found[1] not in ("17", "21"):
        version = found[1] if found else "of an unknown version"
        remedy = "put Java 17 or 21 first on the path, or name it in JAVA_HOME"
        fail(f"Java {version} does not run Spark 4.1", remedy)
    if shutil.which("mvn") is None:
        fail("no `mvn` on the path", "install Maven (Debian: maven); it fetches Delta's jars")


def find_java():
    """The Java that Spark's own scripts take: that of JAVA_HOME, else the first on the path."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java")


def run(what, command, folder=HERE):
    print(f"{what} …", file=sys.stderr, flush=True)
    try:
        code = subprocess.run(command, stdout=sys.stderr, cwd=folder).returncode
    except OSError as error:
        fail(f"{what} failed: {error}", "see that the program can be run")
    if code != 0:
        fail(f"{what} failed (exit code {code})", "what it printed stands above")


def install(folder, requirements):
    python = str(folder / "venv" / "bin" / "python")
    command = [python, "-m", "pip", "install", "--disable-pip-version-check", "-qr", requirements]
    run(f"installing {requirements}", command)


def make(folder):
    check_programs()
    if folder.exists():
        # One that was interrupted. A folder that somebody named may be anything.
        if os.environ.get("BENCH_SPARK") and any(folder.iterdir()):
            remedy = "let BENCH_SPARK name an empty folder, or one that this script made"
            fail(f"{folder} holds something else", remedy)
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    try:
        venv.create(folder / "venv", with_pip=True)
    except subprocess.CalledProcessError:
        remedy = "install the module venv with pip (Debian: python3-venv)"
        fail("a virtual environment cannot be made", remedy)
    install(folder, "requirements.txt")
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


def digest():
    hashed = hashlib.sha256()
    for name in PINS:
        hashed.update((HERE / name).read_bytes())
    return hashed.hexdigest()


def place():
    """Where the environment stands, or is to stand."""
    named = os.environ.get("BENCH_SPARK")
    if named:
        return Path(named)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "hl7-ingest-bench" / f"spark-{digest()[:16]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dev", action="store_true", help="add what tests and lints the package")
    parser.add_argument("--where", action="store_true", help="print the folder and make nothing")
    options = parser.parse_args()
    folder = place()
    if not options.where:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with open(folder.parent / f"{folder.name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / STAMP).exists():
                make(folder)
                (folder / STAMP).write_text(digest())
            wanted = (HERE / "requirements-dev.txt").read_text()
            stamp = folder / "dev"
            if options.dev and not (stamp.exists() and stamp.read_text() == wanted):
                install(folder, "requirements-dev.txt")
                stamp.write_text(wanted)
    print(folder)


if __name__ == "__main__":
    main()
