"""Build a release and try it: wheel and sdist, an SBOM, and the wheel in a clean environment. `make release` runs it.

python benchmarks/release.py [--dist dist] [--offline]. With --offline the clean environment sees the libraries that are
installed here, and only jali itself is installed from the wheel: that is what tests run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import tomllib
import venv
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
TRIED = """
import jali, sys
from jali.core import registry
from jali.data.tables import files
assert jali.__file__.startswith(sys.prefix), jali.__file__
assert len(registry.build("data", "german").load()) == 1000
assert (files.EMBEDDED / "SOURCES.md").is_file()
from jali.report.sheet import Sheet, html
assert html(Sheet("Try", "It works.")).startswith("<!doctype html>")
print(jali.__version__)
"""


def built(dist: Path) -> list[Path]:
    """Wheel and sdist, made by the build backend without any network."""
    dist.mkdir(parents=True, exist_ok=True)
    make = (
        "import os, sys; from hatchling import build; os.chdir(sys.argv[1]);"
        "print(build.build_sdist(sys.argv[2])); print(build.build_wheel(sys.argv[2]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", make, str(ROOT), str(dist.absolute())], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"The build failed; it needs hatchling (pip install hatchling).\n{done.stderr}")
    return [dist / name for name in done.stdout.split()]


def version() -> str:
    """The version in pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def required() -> dict[str, metadata.Distribution]:
    """Everything that the core needs, as installed here, by name; extras are left out."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        todo = [_name(text) for text in tomllib.load(file)["project"]["dependencies"]]
    found: dict[str, metadata.Distribution] = {}
    while todo:
        name = todo.pop()
        if name in found:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # needed on other systems only
        todo += [_name(text) for text in found[name].requires or [] if "extra ==" not in text]
    return found


def _name(requirement: str) -> str:
    """The name that a requirement begins with, in the one form in which names compare."""
    end = next((k for k, c in enumerate(requirement) if not (c.isalnum() or c in "-_.")), len(requirement))
    return requirement[:end].lower().replace("_", "-").replace(".", "-")


def sbom(files: list[Path]) -> dict[str, object]:
    """A bill of materials (CycloneDX 1.5): the release itself with its checksums, and the libraries of the core."""
    parts = [
        {
            "type": "library",
            "name": found.name,
            "version": found.version,
            "purl": f"pkg:pypi/{name}@{found.version}",
            "licenses": [{"license": {"name": _licence(found)}}],
        }
        for name, found in sorted(required().items())
    ]
    data = {"type": "data", "name": "Adult and German credit (UCI)", "licenses": [{"license": {"id": "CC-BY-4.0"}}]}
    me = {
        "type": "library",
        "name": "jali-audit",
        "version": version(),
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(f.read_bytes()).hexdigest()} for f in files],
    }
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "metadata": {"component": me}, "components": [*parts, data]}


def _licence(found: metadata.Distribution) -> str:
    about = found.metadata
    for field in ("License-Expression", "License"):
        if field in about:
            return str(about[field]).partition("\n")[0][:80]
    return "not stated"


def tried(wheel: Path, offline: bool) -> str:
    """Install the wheel in a fresh environment, and use it from there; returns the version that it states."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True, system_site_packages=False)
        python = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        options = ["--no-deps", "--no-index"] if offline else []
        install = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", *options, str(wheel)]
        subprocess.run(install, check=True, cwd=folder)
        if offline:
            # Behind the environment's own packages, so that jali itself comes from the wheel.
            own = subprocess.run(
                [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
            here = [path for path in sys.path if "site-packages" in path]
            (Path(own) / "here.pth").write_text("\n".join(here), encoding="utf-8")
        done = subprocess.run(
            [str(python), "-P", "-c", TRIED],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            env={"HOME": folder},
        )
    if done.returncode:
        sys.exit(f"The installed wheel does not work:\n{done.stderr}")
    return done.stdout.strip()


def main() -> None:
    """Build, describe, try."""
    options = argparse.ArgumentParser()
    options.add_argument("--dist", type=Path, default=ROOT / "dist")
    options.add_argument("--offline", action="store_true")
    chosen = options.parse_args()
    files = built(chosen.dist)
    bill = chosen.dist / f"jali_audit-{version()}.cdx.json"
    bill.write_text(json.dumps(sbom(files), indent=1), encoding="utf-8")
    wheel = next(file for file in files if file.suffix == ".whl")
    said = tried(wheel, chosen.offline)
    if said != version():
        sys.exit(f"The wheel says version {said}, and pyproject.toml {version()}.")
    for file in [*files, bill]:
        print(f"{file}: {file.stat().st_size / 1000:,.0f} kB")


if __name__ == "__main__":
    main()
