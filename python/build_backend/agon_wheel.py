"""Builds the wheel of `pip install ./python`, with nothing but the standard library, so that it works offline.

A build backend by PEP 517 and PEP 660. The wheel has the package `agon_bot` and the modules that bots import."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import zipfile
from typing import Dict, List, Optional, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = (ROOT, os.path.join(ROOT, "modules"))
"""Folders with top-level packages."""
TAG = "py3-none-any"


def build_wheel(
    wheel_directory: str, config_settings: Optional[Dict[str, str]] = None, metadata_directory: Optional[str] = None
) -> str:
    """Writes the wheel; returns its file name."""
    files = [
        (name.replace(os.sep, "/"), read(os.path.join(folder, name)))
        for folder in FOLDERS
        for package in packages(folder)
        for name in package_files(folder, package)
    ]
    return write(wheel_directory, files)


def build_editable(
    wheel_directory: str, config_settings: Optional[Dict[str, str]] = None, metadata_directory: Optional[str] = None
) -> str:
    """Writes a wheel that only points to this folder; returns its file name."""
    return write(wheel_directory, [("agon-bot.pth", "".join(folder + "\n" for folder in FOLDERS).encode())])


def packages(folder: str) -> List[str]:
    """The packages in a folder that say that they have types."""
    return sorted(name for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name, "py.typed")))


def package_files(folder: str, package: str) -> List[str]:
    """The files of a package, relative to the folder."""
    found = []
    for path, _, names in os.walk(os.path.join(folder, package)):
        found += [os.path.join(path, name) for name in names if name.endswith(".py") or name == "py.typed"]
    return sorted(os.path.relpath(path, folder) for path in found)


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def project() -> Tuple[str, str]:
    """Name and version in `pyproject.toml`. (Python 3.9 has no reader for TOML.)"""
    text = read(os.path.join(ROOT, "pyproject.toml")).decode()
    name, version = (re.search(rf'^{key} = "([^"]+)"', text, re.M) for key in ("name", "version"))
    if name is None or version is None:
        raise ValueError("pyproject.toml has no name or no version")
    return name.group(1), version.group(1)


def write(wheel_directory: str, files: List[Tuple[str, bytes]]) -> str:
    name, version = project()
    stem = f"{name.replace('-', '_')}-{version}"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: >=3.9\n"
    metadata += "Provides-Extra: numpy\nRequires-Dist: numpy; extra == 'numpy'\n"
    wheel = f"Wheel-Version: 1.0\nGenerator: agon_wheel\nRoot-Is-Purelib: true\nTag: {TAG}\n"
    info = f"{stem}.dist-info"
    files = [*files, (f"{info}/METADATA", metadata.encode()), (f"{info}/WHEEL", wheel.encode())]
    record = "".join(f"{path},sha256={hash_of(content)},{len(content)}\n" for path, content in files)
    files.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode()))
    file_name = f"{stem}-{TAG}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, file_name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files:
            # A fixed time: the same files give the same wheel.
            archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), content)
    return file_name


def hash_of(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
