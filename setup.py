"""Builds the Python module with CMake: `pip install --no-build-isolation .` after `.ci/packages`."""
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
BINARY = ROOT / "build" / "python"


class Build(build_ext):
    def run(self):
        subprocess.run(["cmake", "-S", ROOT, "-B", BINARY, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTBDSIM_PYTHON=ON",
                        "-DTBDSIM_TESTS=OFF", "-DTBDSIM_CUDA=OFF", "-DTBDSIM_MPI=OFF", f"-DPython3_EXECUTABLE={sys.executable}"], check=True)
        subprocess.run(["cmake", "--build", BINARY, "--target", "tbdsim_python_package"], check=True)
        package = pathlib.Path(self.build_lib) / "tbdsim"
        shutil.rmtree(package, ignore_errors=True)
        shutil.copytree(BINARY / "python" / "tbdsim", package, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "hardware", package / "catalogue" / "hardware", ignore=shutil.ignore_patterns("import"))


setup(version=re.search(r"project\(tbdsim VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1],
      packages=[], ext_modules=[Extension("tbdsim._tbdsim", [])], cmdclass={"build_ext": Build})
