"""Files that can hold people's text: nobody else may read them, and nobody else may put another in their place.

Every file that the kit writes comes from here: made for its owner alone (0600), never through a link, in a folder that
not everybody may write into. Where a file system keeps no permissions (FAT, Windows), there is nothing to ask for.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

OWNER_ONLY = 0o600
FOR_ALL = 0o666
"""What the umask takes away from is left: for files that are meant to be read by others, such as a Modelfile."""
_FLAGS = (
    os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
)
LONGEST_STEM = 40
"""Characters of a file's name that its temporary name repeats."""


def create_private(path: Path) -> None:
    """Makes an empty file for its owner alone where there is none, and takes the others' rights to one that is there.
    OSError where it is no file, or a link, or its folder is open to everybody."""
    require_private_folder(path.parent)
    descriptor = os.open(path, _FLAGS, OWNER_ONLY)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no ordinary file", str(path))
        if os.name != "nt" and found.st_mode & 0o077 and found.st_uid == os.geteuid():
            os.fchmod(descriptor, OWNER_ONLY)
    finally:
        os.close(descriptor)


@contextmanager
def replacing(path: Path, *, private: bool = True) -> Iterator[BinaryIO]:
    """A new file beside `path`, which takes its place when the block ends, and goes away where it fails. One that is
    not `private` gets the rights of the file it replaces, or those that the umask leaves. OSError where the folder
    cannot be written into, or is open to everybody and the file is private."""
    if private:
        require_private_folder(path.parent)
    beside = path.with_name(f".{path.name[:LONGEST_STEM]}.{secrets.token_hex(8)}.part")
    descriptor = os.open(beside, _FLAGS | os.O_EXCL, OWNER_ONLY if private else FOR_ALL)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        if not private and path.is_file() and not path.is_symlink():
            beside.chmod(stat.S_IMODE(path.stat().st_mode))
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def make_own_folder(folder: Path) -> None:
    """A folder that not everybody may write into, with those around it; one that is there stays as it is."""
    if folder.is_dir():
        return
    make_own_folder(folder.parent)
    folder.mkdir(mode=0o775, exist_ok=True)


def require_private_folder(folder: Path) -> None:
    """Returns if not everybody may write into the folder; PermissionError otherwise."""
    if os.name != "nt" and folder.stat().st_mode & stat.S_IWOTH and _keeps_rights(folder):
        said = "everybody may write into its folder (chmod o-w it, or name another one)"
        raise PermissionError(errno.EPERM, said, str(folder))


def _keeps_rights(folder: Path) -> bool:
    """Whether the file system of a folder knows rights at all: one that does not shows all of them on every file."""
    probe = folder / f".{secrets.token_hex(8)}.part"
    try:
        os.close(os.open(probe, _FLAGS | os.O_EXCL, OWNER_ONLY))
    except OSError:
        return True
    try:
        return not probe.stat().st_mode & 0o077
    finally:
        probe.unlink(missing_ok=True)
