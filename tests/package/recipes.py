# SPDX-License-Identifier: Apache-2.0
"""Compares the recipes in packaging/ with the build: options, dependencies, version; and those that
packaging/release.sh writes with the archive.

Usage: recipes.py ROOT
The recipes of Spack and EasyBuild run with stand-ins for these programs, which collect what the
recipes declare.
"""

import hashlib
import re
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import yaml

problems: list[str] = []


def check(good: bool, text: str) -> None:
    if not good:
        problems.append(text)


class Recipe:
    """The declarations of a Spack recipe."""

    def __init__(self, path: Path):
        self.variants: dict[str, str] = {}
        self.versions: dict[str, str] = {}
        self.dependencies: list[tuple[str, str]] = []
        names: dict[str, object] = {
            "version": lambda number, sha256: self.versions.update({number: sha256}),
            "variant": lambda name, **more: self.variants.update({name: more.get("when", "")}),
            "depends_on": lambda spec, when="", **_: self.dependencies.append((spec, when)),
        }
        for name in ("license", "conflicts", "generator", "maintainers"):
            names[name] = lambda *_, **__: None
        cmake = "spack_repo.builtin.build_systems.cmake"
        for name in ("spack", "spack.package", "spack_repo", "spack_repo.builtin", cmake):
            sys.modules[name] = types.ModuleType(name)
        sys.modules["spack_repo.builtin.build_systems"] = types.ModuleType("build_systems")
        sys.modules["spack.package"].__dict__.update(names)
        sys.modules[cmake].__dict__["CMakePackage"] = type("CMakePackage", (), {})
        spaces: dict[str, object] = {}
        exec(compile(path.read_text(), path, "exec"), spaces)
        recipe = spaces["Thalweg"]()
        self.url: str = recipe.url
        check("e4s" in recipe.tags, "spack: without the tag e4s")
        recipe.define = lambda option, _: f"-D{option}"
        recipe.define_from_variant = lambda option, variant: (
            check(variant in self.variants, f"spack: {option} of '{variant}', which is no variant")
            or f"-D{option}"
        )
        self.options = [argument.removeprefix("-D") for argument in recipe.cmake_args()]


def easyconfig(path: Path) -> dict:
    """Returns the values that a recipe of EasyBuild sets."""
    values: dict = {"SOURCELOWER_TAR_GZ": "thalweg-0.1.0.tar.gz", "SHLIB_EXT": "so"}
    exec(compile(path.read_text(), path, "exec"), values)
    check(
        path.name == "{name}-{version}-{toolchain[name]}-{toolchain[version]}.eb".format(**values),
        f"easybuild: the name {path.name} is not that of what it builds",
    )
    return values


def check_release(root: Path, version: str) -> None:
    """Checks the recipes that packaging/release.sh writes."""
    if not (root / ".git").exists():
        return
    with tempfile.TemporaryDirectory() as name:
        folder, url = Path(name), "https://files.example.org/t"
        command = [root / "packaging/release.sh", "HEAD", folder, url]
        subprocess.run(command, check=True, capture_output=True)
        archive = folder / f"thalweg-{version}.tar.gz"
        sum_of_archive = hashlib.sha256(archive.read_bytes()).hexdigest()
        spack = Recipe(folder / "package.py")
        check(spack.versions[version] == sum_of_archive, "release.sh: the sum in package.py")
        check(spack.url == f"{url}/{archive.name}", f"release.sh: the address {spack.url}")
        (path,) = folder.glob("*.eb")
        easybuild = easyconfig(path)
        check(easybuild["checksums"] == [sum_of_archive], f"release.sh: the sum in {path.name}")
        check(easybuild["source_urls"] == [url], f"release.sh: the address in {path.name}")


def main(root: Path) -> None:
    cmake = "".join(
        path.read_text() for path in [root / "CMakeLists.txt", *(root / "cmake").glob("*.cmake")]
    )
    known = set(re.findall(r"(?:option|thalweg_optional)\((THALWEG_\w+)", cmake))
    version = re.search(r"^ *VERSION ([\d.]+)$", cmake, re.MULTILINE)[1]

    spack = Recipe(root / "packaging/spack/package.py")
    check(list(spack.versions) == [version], f"spack: versions {spack.versions}, not {version}")
    used = {"spack": spack.options}
    conda = yaml.safe_load((root / "packaging/conda/recipe.yaml").read_text())
    check(conda["schema_version"] == 1, "conda: the recipe is not of format 1")
    check(conda["context"]["version"] == version, f"conda: the version is not {version}")
    (path,) = (root / "packaging/easybuild").glob("*.eb")
    easybuild = easyconfig(path)
    check(easybuild["version"] == version, f"easybuild: the version is not {version}")
    check_release(root, version)
    texts = {
        "conda": "".join(p.read_text() for p in (root / "packaging/conda").iterdir()),
        "container": (root / "packaging/container/Containerfile").read_text(),
        "easybuild": path.read_text(),
    }
    for name, text in texts.items():
        used[name] = re.findall(r"-D(THALWEG_\w+)=", text)
    for name, options in used.items():
        for option in options:
            check(option in known, f"{name}: {option} is no option of the build")
    for spec, when in spack.dependencies:
        for variant in re.findall(r"[+~]([\w-]+)", when):
            check(variant in spack.variants, f"spack: {spec} when {when}: no such variant")

    # Dependencies that the build requires must be in every recipe, under each system's names.
    needed = re.findall(r"^thalweg_require\((\w+) ([\w.-]+)", cmake, re.MULTILINE)
    check(len(needed) >= 5, "no thalweg_require found in cmake/")
    for name, debian in needed:
        check(debian in texts["container"], f"container: no {debian}")
        plain = re.compile(name.replace("_", "[-_]").replace("PkgConfig", "pkg-?conf(ig)?"), re.I)
        for other in ("conda", "easybuild"):
            check(plain.search(texts[other]) is not None, f"{other}: no {name}")
        specs = [spec for spec, _ in spack.dependencies]
        check(any(plain.search(spec) for spec in specs), f"spack: no {name}")


main(Path(sys.argv[1]))
for line in problems:
    print(line)
print("recipes:", "ok" if not problems else f"{len(problems)} problems")
sys.exit(bool(problems))
