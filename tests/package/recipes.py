# SPDX-License-Identifier: Apache-2.0
"""Compares the recipes in packaging/ with the build: options, dependencies, version.

Usage: recipes.py ROOT
The Spack recipe runs with a stand-in for Spack, which collects the declarations of the recipe.
"""

import re
import sys
import types
from pathlib import Path

problems: list[str] = []


def check(good: bool, text: str) -> None:
    if not good:
        problems.append(text)


class Recipe:
    """The declarations of a Spack recipe."""

    def __init__(self, path: Path):
        self.variants: dict[str, str] = {}
        self.versions: list[str] = []
        self.dependencies: list[tuple[str, str]] = []
        names: dict[str, object] = {
            "CMakePackage": type("CMakePackage", (), {}),
            "version": lambda number, **_: self.versions.append(number),
            "variant": lambda name, **more: self.variants.update({name: more.get("when", "")}),
            "depends_on": lambda spec, when="", **_: self.dependencies.append((spec, when)),
        }
        for name in ("license", "conflicts", "generator"):
            names[name] = lambda *_, **__: None
        package = types.ModuleType("spack.package")
        package.__dict__.update(names)
        sys.modules["spack"] = types.ModuleType("spack")
        sys.modules["spack.package"] = package
        spaces: dict[str, object] = {}
        exec(compile(path.read_text(), path, "exec"), spaces)
        recipe = spaces["Thalweg"]()
        recipe.define = lambda option, _: f"-D{option}"
        recipe.define_from_variant = lambda option, variant: (
            check(variant in self.variants, f"spack: {option} of '{variant}', which is no variant")
            or f"-D{option}"
        )
        self.options = [argument.removeprefix("-D") for argument in recipe.cmake_args()]


def main(root: Path) -> None:
    cmake = "".join(
        path.read_text() for path in [root / "CMakeLists.txt", *(root / "cmake").glob("*.cmake")]
    )
    known = set(re.findall(r"(?:option|thalweg_optional)\((THALWEG_\w+)", cmake))
    version = re.search(r"^ *VERSION ([\d.]+)$", cmake, re.MULTILINE)[1]

    spack = Recipe(root / "packaging/spack/package.py")
    check(spack.versions == [version], f"spack: versions {spack.versions}, not {version}")
    used = {"spack": spack.options}
    texts = {
        "conda": "".join(p.read_text() for p in (root / "packaging/conda").iterdir()),
        "container": (root / "packaging/container/Containerfile").read_text(),
    }
    for name, text in texts.items():
        used[name] = re.findall(r"-D(THALWEG_\w+)=", text)
    for name, options in used.items():
        for option in options:
            check(option in known, f"{name}: {option} is no option of the build")
    check(f'version = "{version}"' in texts["conda"], f"conda: the version is not {version}")
    for spec, when in spack.dependencies:
        for variant in re.findall(r"[+~]([\w-]+)", when):
            check(variant in spack.variants, f"spack: {spec} when {when}: no such variant")

    # Dependencies that the build requires must be in every recipe, under Debian's, conda's and
    # Spack's names.
    needed = re.findall(r"^thalweg_require\((\w+) ([\w.-]+)", cmake, re.MULTILINE)
    check(len(needed) >= 5, "no thalweg_require found in cmake/")
    for name, debian in needed:
        check(debian in texts["container"], f"container: no {debian}")
        plain = re.compile(name.replace("_", "[-_]").replace("PkgConfig", "pkg-?config"), re.I)
        check(plain.search(texts["conda"]) is not None, f"conda: no {name}")
        specs = [spec for spec, _ in spack.dependencies]
        check(any(plain.search(spec) for spec in specs), f"spack: no {name}")


main(Path(sys.argv[1]))
for line in problems:
    print(line)
print("recipes:", "ok" if not problems else f"{len(problems)} problems")
sys.exit(bool(problems))
