"""What hostile working folders hold, kind by kind: see `tests.security.folders`."""

from __future__ import annotations

import py_compile
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from jali import config
from tests.commands import PAPER
from tests.security.harness import pickled

RUN = 'import os\nwith open(os.environ["RAN"], "a") as file:\n    file.write(__name__ + "\\n")\n'
STANDARD = ("random", "json", "secrets", "tempfile", "pickle", "zipfile", "typing", "socket", "ssl", "ctypes", "queue")
WELL_KNOWN = ("numexpr", "bottleneck", "lz4", "psutil", "zstandard", "cupy", "dask", "numba", "IPython", "torch")
Plant = Callable[[Path], None]


def optional() -> list[str]:
    """Names of modules that any library which jali installs may look for: all its requirements, optional ones too."""
    waiting = [re.split(r"[^\w.-]", need)[0] for need in metadata.requires("jali-audit") or []]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        waiting += [re.split(r"[^\w.-]", need)[0] for need in needs]
    modules = {name.replace("-", "_") for name in seen} | {name.replace("-", "_").lower() for name in seen}
    return sorted(name for name in modules | set(WELL_KNOWN) if name.isidentifier() and name != "jali_audit")


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def modules(folder: Path) -> None:
    """A module named like everything."""
    write(folder, {f"{name}.py": RUN for name in optional()})


def packages(folder: Path) -> None:
    """A package named like everything, with inner modules."""
    write(folder, {f"{name}/{inner}.py": RUN for name in optional() for inner in ("__init__", "core", "compat")})


def namespaces(folder: Path) -> None:
    """Folders without __init__, which are packages all the same."""
    write(folder, {f"{name}/{inner}.py": RUN for name in optional() for inner in ("plugins", "contrib", "_version")})


def standard_library(folder: Path) -> None:
    """Modules of Python itself."""
    write(folder, {f"{name}.py": RUN for name in STANDARD})


def startup(folder: Path) -> None:
    """What Python runs when it starts, if it finds it."""
    write(
        folder, {f"{name}.py": RUN for name in ("sitecustomize", "usercustomize", "__main__", "__init__", ".pythonrc")}
    )


def path_files(folder: Path) -> None:
    """Lines of .pth files are run in site folders."""
    line = "import os; open(os.environ['RAN'], 'a').write('pth\\n')\n"
    write(folder, {"a.pth": line, "zz-nspkg.pth": line, "site-packages/a.pth": line, "x.egg-link": ".\n."})


def plugins(folder: Path) -> None:
    """A distribution that says that it has plugins for the libraries which look for some."""
    groups = ("pydantic", "matplotlib.backend", "pandas_dataframe_backends", "pandas.plotting_backends", "fsspec.specs")
    groups += (
        "pytest11",
        "console_scripts",
        "joblib",
        "sklearn",
        "jali",
        "typer",
        "rich",
        "array_api",
        "torch.backends",
    )
    points = "".join(f"[{group}]\nplanted = planted_plugin\n" for group in groups)
    about = "Metadata-Version: 2.1\nName: planted\nVersion: 9\n"
    write(folder, {"planted-9.dist-info/METADATA": about, "planted-9.dist-info/entry_points.txt": points})
    write(folder, {"planted.egg-info/PKG-INFO": about, "planted.egg-info/entry_points.txt": points})
    write(folder, {"planted_plugin.py": RUN})


def builders(folder: Path) -> None:
    """What test runners and builders run."""
    write(folder, {f"{name}.py": RUN for name in ("conftest", "setup", "noxfile", "fabfile", "manage", "tasks")})
    write(
        folder,
        {"pytest.ini": "[pytest]\naddopts = -p planted\n", "tox.ini": "[tox]\n", "Makefile": "all:\n\ttouch x\n"},
    )


def projects(folder: Path) -> None:
    """Projects, environments and settings that name jali."""
    tool = '[tool.jali]\ntrust = true\nmodel = "planted:X"\n[build-system]\nrequires = []\nbuild-backend = "planted"\n'
    write(folder, {"pyproject.toml": tool, "jali.toml": tool, ".jali.toml": tool, "planted.py": RUN})
    write(folder, {"pyvenv.cfg": "home = .\ninclude-system-site-packages = true\n", "python3._pth": ".\nimport site\n"})
    write(folder, {"setup.cfg": "[options.entry_points]\nconsole_scripts = jali = planted:X\n"})


def environments(folder: Path) -> None:
    """Variables in files."""
    text = (
        "PYTHONPATH=.\nPYTHONSTARTUP=planted.py\nPYTHONINSPECT=1\nJALI_STORE_KEY=known\nMPLBACKEND=module://planted\n"
    )
    write(folder, dict.fromkeys((".env", ".envrc", ".flaskenv", "env", ".profile", ".bashrc"), text))
    write(folder, {"planted.py": RUN})


def drawing(folder: Path) -> None:
    """Settings of matplotlib, and a backend."""
    write(
        folder,
        {"matplotlibrc": "backend: module://planted\n", ".matplotlib/matplotlibrc": "backend: module://planted\n"},
    )
    write(folder, {"planted.py": RUN, "stylelib/default.mplstyle": "backend: module://planted\n", "fontlist.json": "{"})


def installers(folder: Path) -> None:
    """Settings of pip and conda, and wheels."""
    text = "[global]\nindex-url = http://127.0.0.1:9/\nfind-links = .\n"
    write(folder, dict.fromkeys(("pip.conf", ".pip/pip.conf", ".pypirc", ".pydistutils.cfg", ".condarc"), text))
    write(folder, {"requirements.txt": "--index-url http://127.0.0.1:9/\nplanted\n"})


def libraries(folder: Path) -> None:
    """Settings and caches of libraries that keep some."""
    write(
        folder,
        {
            ".config/fsspec/conf.json": '{"file": {"protocol": "planted"}}',
            ".dask/config.yaml": "x: !!python/name:os.system\n",
        },
    )
    write(
        folder,
        {".ipython/profile_default/startup/00.py": RUN, ".jupyter/jupyter_notebook_config.py": RUN, "planted.py": RUN},
    )
    write(
        folder,
        {
            ".config/pandas/pandas.ini": "x",
            ".keras/keras.json": "{}",
            ".streamlit/config.toml": "x",
            "terminfo/x/xterm": "x",
        },
    )
    (folder / "joblib" / "cache").mkdir(parents=True)
    (folder / "joblib" / "cache" / "output.pkl").write_bytes(pickled())


def compiled(folder: Path) -> None:
    """Modules without source, and caches of compiled ones, of numba too."""
    source = folder / "source.txt"
    source.write_text(RUN)
    (folder / "__pycache__").mkdir()
    tag = sys.implementation.cache_tag
    for name in (*optional(), "people", "jali"):
        py_compile.compile(str(source), cfile=str(folder / f"{name}.pyc"))
        shutil.copy(folder / f"{name}.pyc", folder / "__pycache__" / f"{name}.{tag}.pyc")
    for name in ("x.nbi", "x.1.nbc"):
        (folder / "__pycache__" / name).write_bytes(pickled())


def extensions(folder: Path) -> None:
    """Modules in machine code; without a compiler, bytes that are none."""
    made = _shared_object(folder)
    for name in optional():
        shutil.copy(made, folder / f"{name}.abi3.so")
        shutil.copy(made, folder / f"{name}.so")


def system(folder: Path) -> None:
    """Libraries and settings of the system."""
    made = _shared_object(folder)
    for name in (
        "libc.so.6",
        "libm.so.6",
        "libgomp.so.1",
        "libopenblas.so.0",
        "libz.so.1",
        "libssl.so.3",
        "libsqlite3.so.0",
    ):
        shutil.copy(made, folder / name)
    write(
        folder,
        {
            "ld.so.preload": f"{folder}/libc.so.6\n",
            "ld.so.conf": f"{folder}\n",
            "gconv-modules": "module X// Y// z 1\n",
        },
    )
    write(
        folder, {"openssl.cnf": "[x]\n", ".netrc": "machine x\n", ".inputrc": "x", "nsswitch.conf": "passwd: planted\n"}
    )


def _shared_object(folder: Path) -> Path:
    made = folder / "planted.bin"
    code = folder / "planted.c"
    code.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void run(void) {\n"
        'char *name = getenv("RAN"); FILE *f = name ? fopen(name, "a") : 0;\n'
        'if (f) { fputs("native\\n", f); fclose(f); } }\n'
        "void *PyInit_numexpr(void) { return 0; }\n"
    )
    compiler = shutil.which("cc")
    if compiler is None:
        made.write_bytes(b"\x7fELF" + bytes(200))
        return made
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(made), str(code)], check=True)
    return made


def links(folder: Path) -> None:
    """The same modules as links to a file elsewhere, and outputs that lead elsewhere."""
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    (elsewhere / "code.py").write_text(RUN)
    for name in optional():
        (folder / f"{name}.py").symlink_to(elsewhere / "code.py")
    (folder / "store").symlink_to(elsewhere)


def our_name(folder: Path) -> None:
    """Packages called as ours, and as the commands' parts."""
    inner = (
        "__init__",
        "__main__",
        "cli",
        "api",
        "core/__init__",
        "data/people",
        "models/logistic",
        "attacks/threshold",
    )
    write(folder, {f"jali/{name}.py": RUN for name in inner})
    write(folder, {f"{name}.py": RUN for name in ("people", "paper", "threshold", "rotate", "laplace_recourse", "y")})


def archives(folder: Path) -> None:
    """Archives that Python can import from."""
    with zipfile.ZipFile(folder / "python311.zip", "w") as file:
        for name in (*optional(), "__main__"):
            file.writestr(f"{name}.py", RUN)
    for name in ("planted.egg", "jali.zip", "planted-1-py3-none-any.whl", "site-packages.zip", "lib.zip"):
        shutil.copy(folder / "python311.zip", folder / name)


def configurations(folder: Path) -> None:
    """Files that commands do read, which name modules: each is one sentence."""
    settings = {"data": "planted:X", "game": "rotate(models=4)", "attack": ["threshold"]}
    write(folder, {"hostile.toml": config.written(settings), "planted.py": RUN})
    write(folder, {"hostile-paper.toml": PAPER.replace('"logistic"', '"planted:X"')})


def foreign_stores(folder: Path) -> None:
    """Stores and outputs from elsewhere, where the commands will write theirs."""
    for out in ("one", "two", "jali-audit"):
        store = folder / out / "store"
        for key in ("ab" + "c" * 62, "cd" + "e" * 62):
            (store / key[:2]).mkdir(parents=True)
            (store / key[:2] / f"{key}.npz").write_bytes(pickled())
        (store / "shared" / "x-1-y").mkdir(parents=True)
        (store / "shared" / "x-1-y" / "X.npy").write_bytes(pickled())
        (store / "began").write_text("")
        (folder / out / ".results.json.00000000-1.x.part").write_bytes(pickled())
    write(
        folder, {"one/results.json": '{"schema_version": "jali.results/2", "x": "\\u001b[31m"}', "store.key": "known"}
    )


def pickles(folder: Path) -> None:
    """Pickles under every ending and name that libraries cache under."""
    for name in (
        "model.pkl",
        "people.csv.pkl",
        "evidence.joblib",
        "x.pickle",
        "weights.pt",
        "people.feather",
        "cache.db",
        "a.npy",
    ):
        (folder / name).write_bytes(pickled())


KINDS: tuple[Plant, ...] = (
    modules, packages, namespaces, standard_library, startup, path_files, plugins, builders, projects,
    environments, drawing, installers, libraries, compiled, extensions, system, links, our_name, archives,
    configurations, foreign_stores, pickles,
)  # fmt: skip
