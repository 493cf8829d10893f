"""The wheel holds what a user needs, away from the checkout."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
import yaml

from runtime.files.paths import DEMOS

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    script = f"import hatchling.build, os; os.chdir({str(ROOT)!r}); print(hatchling.build.build_wheel({str(folder)!r}))"
    built = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return folder / built.stdout.strip().splitlines()[-1]


@pytest.mark.slow
def test_prompts_and_types_are_in_the_wheel(wheel: Path) -> None:
    """Every prompt, both type markers, the migrations, the page's files and the demos are shipped; no test is."""
    names = zipfile.ZipFile(wheel).namelist()
    for prompt in (ROOT / "prompts").iterdir():
        assert f"novelgen/_prompts/{prompt.name}" in names
    assert {"novelgen/py.typed", "runtime/py.typed"} <= set(names)
    assert "runtime/storage/migrations/versions/v0001_baseline.py" in names
    page = ROOT / "runtime/page"
    for file in (*(page / "templates").iterdir(), *(page / "static").iterdir()):
        assert file.relative_to(ROOT).as_posix() in names
    for demo in DEMOS:
        for file in (*(ROOT / "projects" / demo).glob("*.json"), *(ROOT / "projects" / demo / "chapters").iterdir()):
            assert f"runtime/_demos/{file.relative_to(ROOT / 'projects').as_posix()}" in names
    assert not [name for name in names if name.startswith(("tests/", "projects/")) or "/data/" in name]
    assert wheel.stat().st_size < 2_200_000


@pytest.mark.slow
def test_records_of_the_lab_are_not_in_the_sdist(tmp_path: Path) -> None:
    """The source archive has the documentation for users, without records of the lab and pictures."""
    script = f"import hatchling.build, os; os.chdir({str(ROOT)!r}); hatchling.build.build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    (archive,) = tmp_path.iterdir()
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    assert {"README.md", "docs/benchmarks.md", "docs/tutorials/walkthrough.md"} <= names
    assert [name for name in names if name.startswith(("docs/research", "docs/images", "tests/"))] == []


@pytest.mark.slow
def test_prompts_are_found_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    """Prompts are read out of the installed package, wherever the program runs."""
    script = (
        f"import sys; sys.path.insert(0, {str(wheel)!r}); import novelgen; assert {wheel.name!r} in novelgen.__file__; "
        "from novelgen.model_calls.prompting import read_prompt_file; "
        "print(len(read_prompt_file('plan_retrieval.zh.txt')))"
    )
    run = subprocess.run(
        [sys.executable, "-P", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 100


@pytest.mark.parametrize("arguments", [["-c", "import novelgen; novelgen.open"], ["-m", "novelgen", "--version"]])
def test_a_foreign_package_of_the_same_name_is_named(tmp_path: Path, arguments: list[str]) -> None:
    """Somebody's own `runtime` in front of ours ends in an error that names its place and the fix."""
    foreign = tmp_path / "runtime" / "__init__.py"
    foreign.parent.mkdir()
    foreign.touch()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    run = subprocess.run(
        [sys.executable, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert f"another one at {str(foreign)!r}; rename that one" in run.stderr


def test_the_wheel_works_in_an_environment_of_its_own(wheel: Path, tmp_path: Path) -> None:
    """Away from the checkout the installed package is imported, and the program it installs shows its help."""
    home = tmp_path / "venv"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    site_packages = next(home.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site_packages)
    # What it depends on comes from this environment; nothing is fetched.
    installed = [folder for folder in sys.path if Path(folder).name == "site-packages"]
    (site_packages / "dependencies.pth").write_text("\n".join(installed), encoding="utf-8")
    command = "import importlib.metadata as m; (program,) = m.entry_points(group='console_scripts', name='novelgen'); "
    where = "import novelgen, sys; print(novelgen.__file__, file=sys.stderr); "
    run = subprocess.run(
        [str(python), "-P", "-c", command + where + "sys.argv = ['novelgen', '--help']; sys.exit(program.load()())"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    assert str(site_packages) in run.stderr
    assert "Usage: novelgen" in run.stdout


def test_the_container_files_fit_the_package() -> None:
    """What the image copies is there, nothing runs as root or writes beside its volumes, versions are those tested."""
    folder = ROOT / "docs/container"
    lines = (folder / "Containerfile").read_text(encoding="utf-8").splitlines()
    copied = [word for line in lines if line.startswith("COPY ") for word in line.split()[1:-1]]
    assert copied
    assert all((ROOT / each).exists() for each in copied)
    assert any(line.startswith("USER ") for line in lines)
    assert any(line.startswith("HEALTHCHECK ") for line in lines)
    services = yaml.safe_load((folder / "compose.yaml").read_text(encoding="utf-8"))["services"]
    assert services["novelgen"]["read_only"] is True
    assert {each["condition"] for each in services["novelgen"]["depends_on"].values()} == {"service_healthy"}
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    image = services["chroma"]["image"].replace("chromadb/chroma:", "chromadb==")
    assert image in [line.partition(" ")[0] for line in lock.splitlines()]
