"""The package as it is installed: from the wheel, beside nothing else, in one version."""

import importlib.metadata
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import firstflight as ff
import pytest

ROOT = Path(__file__).parents[2]


def printed(*words, **options):
    options = {"capture_output": True, "text": True, "check": True, "timeout": 120, **options}
    return subprocess.run([str(word) for word in words], **options)


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """The programs of an environment that has the wheel and not even pip."""
    wheels = os.environ.get("FIRSTFLIGHT_WHEELS")
    if wheels is None:
        pytest.skip("FIRSTFLIGHT_WHEELS does not name the folder of the wheel")
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--quiet"]
    printed(*pip, "--no-index", "--find-links", wheels, "firstflight")
    return folder / "bin"


def test_the_tests_import_the_installed_package():
    installed = Path(sysconfig.get_path("platlib")).resolve()
    for module in (ff, ff._native):
        assert Path(module.__file__).resolve().is_relative_to(installed)
    assert "firstflight" in importlib.metadata.packages_distributions()["firstflight"]


def test_module_command_wheel_and_workspace_have_one_version(command):
    manifest = (ROOT / "Cargo.toml").read_text()
    version = manifest.split("[workspace.package]")[1].split('version = "')[1].split('"')[0]
    assert ff.__version__ == version
    assert importlib.metadata.version("firstflight") == version
    assert command("--version").stdout == f"firstflight {version}\n"


def test_a_clean_environment_has_module_and_command(clean, tmp_path):
    words = ["compare", "newreno", "astart", "--duration", "1s"]
    text = printed(clean / "firstflight", *words, cwd=tmp_path).stdout
    assert "\nastart" in text
    code = "import firstflight as ff; print(ff.compare('newreno astart'.split(), duration='1s'))"
    own = [clean / "python", "-I", "-c"]
    # The command draws a plot above the same table.
    assert text.endswith(printed(*own, code).stdout.split("\n\n", 1)[1].rstrip() + "\n")
    others = "import importlib.metadata as m; print(*[one.name for one in m.distributions()])"
    assert printed(*own, others).stdout == "firstflight\n"


def test_import_takes_less_than_a_fifth_of_a_second(clean):
    def seconds():
        timed = printed(clean / "python", "-I", "-X", "importtime", "-c", "import firstflight")
        last = timed.stderr.splitlines()[-1]
        assert last.endswith("| firstflight"), last
        return int(last.split("|")[1]) / 1e6

    # The first reads from disk, and others use the machine too.
    assert min(seconds() for _ in range(5)) < 0.2
