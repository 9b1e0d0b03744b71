"""All differences between Linux, macOS and Windows.

No other module of the package uses names that only some systems have, or asks which system it runs on.
`tests/test_windows.py` hides these names and runs the commands. Type checkers choose the branch by `sys.platform`.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import socket

# How new processes begin. They are never forks of this one: those would have the locks of DuckDB's threads without the
# threads. A fork of the fork server begins in milliseconds, a new interpreter in half a second.
START_METHOD = "spawn" if sys.platform == "win32" else "forkserver"
# Windows neither replaces nor removes a file that a program has open.
REPLACES_OPEN_FILES = sys.platform != "win32"

_FORBIDDEN = re.compile(r'.*[<>:"|?*\x00-\x1f].*|.*[. ]|(con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])( *\..*)?',
                        re.IGNORECASE)


def is_valid_name(name: str) -> bool:
    """Return False if this system cannot give a file the name; Windows reserves letters and the names of devices."""
    return sys.platform != "win32" or _FORBIDDEN.fullmatch(name) is None


def is_open_elsewhere(error: OSError) -> bool:
    """Return True if a file could not be used because another program has it open, which only Windows refuses."""
    return sys.platform == "win32" and isinstance(error, PermissionError)


def rename_new(source: Path, target: Path) -> None:
    """Rename a file, but never replace another one.

    Raises:
        FileExistsError: There is a file of the new name.
    """
    if sys.platform == "win32":
        source.rename(target)  # there it replaces nothing
        return
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))  # replaces only this empty file
        source.replace(target)


def link_or_copy(source: Path, target: Path) -> None:
    """Give a file a second name, or copy it if the file system has no hard links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def keep_permissions(path: Path, status: os.stat_result) -> None:
    """Give a file the mode of another one, and its owner if this user may."""
    path.chmod(status.st_mode)
    if sys.platform != "win32":
        with suppress(OSError):
            os.chown(path, status.st_uid, status.st_gid)


def sync_folder(folder: Path) -> None:
    """Have the system write the names in a folder to the disk; Windows does it by itself."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def lock_folder(folder: Path) -> int | None:
    """Lock a folder until `os.close` of the returned number, or until the process ends.

    Returns:
        None if the file system has no such locks; Windows has none of folders.

    Raises:
        BlockingIOError: Another process has locked it.
        FileNotFoundError: It was removed.
        NotADirectoryError: It is no folder.
    """
    if sys.platform == "win32":
        return None
    import fcntl

    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder.stat()
    except (BlockingIOError, FileNotFoundError):
        os.close(opened)
        raise
    except OSError:
        os.close(opened)
        return None
    return opened


def try_read_lock(file: IO[bytes]) -> bool:
    """Lock an open file for reading; return False if another program has locked it for writing.

    Windows does not even open such a file.
    """
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
    return True


def allocate(file: IO[bytes], size: int) -> None:
    """Make a file so long, and have the disk reserve the room if the system can."""
    if sys.platform == "linux":
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        file.truncate(size)


def peak_memory() -> int | None:
    """Return the most bytes that this process has had in memory; None on Windows, where Python cannot tell."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def limit_process(memory: int, file_size: int | None) -> None:
    """Have the system refuse this process more memory and larger files, and let it write no core files.

    Windows has no such limits, and macOS does not keep that of memory.

    Args:
        memory: Bytes that the process may take in addition to its current memory; Linux only.
        file_size: The most bytes of a file; None: no limit.
    """
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
        if sys.platform == "linux":
            status = Path("/proc/self/status").read_text("utf-8")
            (kibibytes,) = re.findall(r"^VmData:\s*(\d+) kB$", status, re.MULTILINE)
            resource.setrlimit(resource.RLIMIT_DATA, (1024 * int(kibibytes) + memory,) * 2)


def allow_open_files(n: int) -> None:
    """Let this process open so many files and sockets, or as many as the system lets it; Windows has no such limit."""
    if sys.platform != "win32":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = n if hard == resource.RLIM_INFINITY else min(n, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def prepare_listener(listener: socket.socket, unread_milliseconds: int) -> None:
    """Let a server reuse its port immediately, and end connections whose client stops reading for so long."""
    import socket

    if sys.platform == "win32":  # where SO_REUSEADDR would let two servers have one port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        return
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if sys.platform == "linux":
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, unread_milliseconds)


def is_port_in_use(error: OSError) -> bool:
    """Return True if a port could not be taken because another program has it; Windows says that it may not."""
    return error.errno == errno.EADDRINUSE or (sys.platform == "win32" and error.errno == errno.EACCES)


def leave_terminal() -> None:
    """Have interrupts of the terminal not reach this process."""
    if sys.platform != "win32":
        os.setsid()


def start_fork_server(modules: list[str]) -> None:
    """Start the process that forks others, unless it runs; it imports these modules first. Windows has none."""
    if sys.platform == "win32":
        return
    import multiprocessing
    import signal
    from multiprocessing import forkserver

    multiprocessing.get_context("forkserver").set_forkserver_preload(modules)
    # it must outlive this process to remove its semaphores, also when the terminal is closed
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def describe_crash(status: int) -> str:
    """Return the signal, or the code of Windows, that ended a process; nothing if it ended by itself.

    Args:
        status: What `subprocess` and `multiprocessing` return.
    """
    if sys.platform == "win32":
        return f"{status:#010x}" if status > 255 else ""
    import signal

    return signal.Signals(-status).name if status < 0 else ""
