"""A checkout of the transformer: where it is, and which one."""

import hashlib
import subprocess
import sys
from pathlib import Path

PACKAGE = "hl7scout"


class NoTransformer(ValueError):
    """A folder that holds no transformer."""


def use(folder: Path) -> None:
    """Makes the package importable from this folder, and from no other."""
    if not (folder / PACKAGE).is_dir():
        raise NoTransformer(
            f"{folder} holds no package {PACKAGE}; name the transformer's folder in a checkout"
        )
    sys.path.insert(0, str(folder))


def revision(folder: Path) -> str:
    """Which transformer it is: its revision in git, marked where files were changed, or else a
    digest of its modules."""
    tracked = _git(folder, "ls-files", PACKAGE)
    commit = _git(folder, "rev-parse", "HEAD") if tracked else None
    if commit:
        changed = _git(folder, "status", "--porcelain", "--", PACKAGE)
        return f"git {commit}{' with changes' if changed else ''}"
    hashed = hashlib.sha256()
    for file in sorted((folder / PACKAGE).rglob("*.py")):
        hashed.update(f"{file.relative_to(folder)}\n".encode())
        hashed.update(file.read_bytes())
    return f"sha256 {hashed.hexdigest()[:16]}"


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
