"""All code that depends on the operating system: Linux, macOS or Windows.

No other module of the package uses functions that only some systems have, or checks the operating system. The test
`tests/test_windows.py` hides these functions and runs the commands. Type checkers choose the branch by `sys.platform`.
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

# How new processes start. A new process is never a fork of this process, because the fork would have the locks of
# DuckDB's threads without the threads. A fork of the fork server starts in milliseconds, a new interpreter in half a
# second.
START_METHOD = "spawn" if sys.platform == "win32" else "forkserver"
# False on Windows, where a file that a program has open can be neither replaced nor removed.
REPLACES_OPEN_FILES = sys.platform != "win32"

_FORBIDDEN = re.compile(r'.*[<>:"|?*\x00-\x1f].*|.*[. ]|(con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])( *\..*)?',
                        re.IGNORECASE)


def is_valid_name(name: str) -> bool:
    """Return True if this operating system permits the file name.

    Windows forbids some characters, and the names of devices.
    """
    return sys.platform != "win32" or _FORBIDDEN.fullmatch(name) is None


def is_open_elsewhere(error: OSError) -> bool:
    """Return True if an operation failed because another program has the file open.

    Only Windows raises such errors.
    """
    return sys.platform == "win32" and isinstance(error, PermissionError)


def rename_new(source: Path, target: Path) -> None:
    """Rename a file, but replace no existing file.

    Raises:
        FileExistsError: `target` already exists.
    """
    if sys.platform == "win32":
        source.rename(target)  # on Windows, rename never replaces a file
        return
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))  # replaces only this empty file
        source.replace(target)


def link_or_copy(source: Path, target: Path) -> None:
    """Make a file available under a second path, by a hard link or else by a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def keep_permissions(path: Path, status: os.stat_result) -> None:
    """Give a new file the permissions and, if possible, the owner of an old file.

    Args:
        path: Path of the new file.
        status: Result of `os.stat` for the old file.
    """
    path.chmod(status.st_mode)
    if sys.platform != "win32":
        with suppress(OSError):
            os.chown(path, status.st_uid, status.st_gid)


def sync_folder(folder: Path) -> None:
    """Ensure that new and renamed files in a folder survive a power failure.

    Windows does so by itself; there, this function does nothing.
    """
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def lock_folder(folder: Path) -> int | None:
    """Mark a folder as used by this process, until the lock is closed.

    Returns:
        File descriptor of the lock, for `os.close`; None if the file system, or Windows, cannot lock folders.

    Raises:
        BlockingIOError: Another process has locked the folder.
        FileNotFoundError: The folder was removed.
        NotADirectoryError: The path is not a folder.
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
    """Lock an open file for reading, unless another program is writing to it.

    On Windows, no lock is necessary, because a file that another program has locked cannot be opened.

    Returns:
        False if another program has locked the file for writing.
    """
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
    return True


def allocate(file: IO[bytes], size: int) -> None:
    """Set the size of an open file in bytes; on Linux, also reserve the disk space."""
    if sys.platform == "linux":
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        file.truncate(size)


def peak_memory() -> int | None:
    """Return the largest memory that this process has used so far, in bytes.

    Returns None on Windows, where Python has no such function.
    """
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def limit_process(memory: int, file_size: int | None) -> None:
    """Limit the memory of this process and the size of the files that it writes.

    The function also disables core files. Only Linux limits the memory; Windows limits nothing.

    Args:
        memory: Number of bytes that the process may use in addition to its current memory.
        file_size: Largest size of a file in bytes; None means no limit.
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
    """Allow this process to have `n` files and sockets open at the same time.

    If the system permits fewer, the limit becomes as high as possible. Windows has no such limit.
    """
    if sys.platform != "win32":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = n if hard == resource.RLIM_INFINITY else min(n, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def prepare_listener(listener: socket.socket, unread_milliseconds: int) -> None:
    """Set the options of a socket before it listens for connections.

    With these options, a new server can use a port immediately after the old server has stopped.

    Args:
        listener: The socket.
        unread_milliseconds: Time after which a connection is closed if its client does not read; Linux only.
    """
    import socket

    if sys.platform == "win32":  # where SO_REUSEADDR would let two servers have one port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        return
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if sys.platform == "linux":
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, unread_milliseconds)


def is_port_in_use(error: OSError) -> bool:
    """Return True if a server cannot start because another program uses the port.

    On Windows, the error may be one about permissions.
    """
    return error.errno == errno.EADDRINUSE or (sys.platform == "win32" and error.errno == errno.EACCES)


def leave_terminal() -> None:
    """Detach this process from the terminal, so that Ctrl-C does not interrupt it."""
    if sys.platform != "win32":
        os.setsid()


def start_fork_server(modules: list[str]) -> None:
    """Start a process from which Python can quickly fork new processes.

    The process is the fork server of `multiprocessing`. If it is already running, or on Windows, nothing happens.

    Args:
        modules: Modules that the fork server imports when it starts.
    """
    if sys.platform == "win32":
        return
    import multiprocessing
    import signal
    from multiprocessing import forkserver

    multiprocessing.get_context("forkserver").set_forkserver_preload(modules)
    # The fork server must outlive this process to remove its semaphores, also when the terminal is closed.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def describe_crash(status: int) -> str:
    """Return the name of the signal, or the code of Windows, that ended a process.

    The result is an empty text if the process ended by itself.

    Args:
        status: Exit status of the process, as returned by `subprocess` and `multiprocessing`.
    """
    if sys.platform == "win32":
        return f"{status:#010x}" if status > 255 else ""
    import signal

    return signal.Signals(-status).name if status < 0 else ""
