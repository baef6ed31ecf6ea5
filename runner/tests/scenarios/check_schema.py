"""Judges the schema of scenario files, and files against it, by an independent validator.

check_schema.py BENCH FOLDER: BENCH prints the schema, every *.toml in FOLDER must fit it, and must
not fit any more once it has a key that does not exist.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

from jsonschema import Draft202012Validator


def main(bench: str, folder: str) -> int:
    schema = json.loads(subprocess.run([bench, "schema"], check=True, capture_output=True).stdout)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    wrong = []
    files = sorted(Path(folder).glob("*.toml"))
    for path in files:
        scenario = tomllib.loads(path.read_text())
        wrong += [f"{path}: {error.json_path}: {error.message}" for error in validator.iter_errors(scenario)]
        tables = [scenario] + [value for value in scenario.values() if isinstance(value, dict)]
        for table in tables:
            table["no_such_key"] = [1]
            if validator.is_valid(scenario):
                wrong.append(f"{path}: a key that does not exist fits beside {sorted(table)}")
            del table["no_such_key"]
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(files)} scenarios, {len(wrong)} wrong")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
