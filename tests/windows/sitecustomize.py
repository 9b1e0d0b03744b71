"""Python as on Windows, as far as the code of `registry` sees it.

Interpreters import this module at their start if its folder is on PYTHONPATH, also those that a command starts. Code of
`registry` finds no modules and names that only other systems have, and can only spawn processes. A file that any
process of the simulation has open or maps can be neither replaced nor removed, and only a handle for writing can be
synced. Reading or writing text in the encoding of the system is an error.
"""

import builtins
import errno
import multiprocessing
import multiprocessing.context
import os
import shutil
import signal
import socket
import stat
import sys
import types
import warnings
from pathlib import Path

ABSENT = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix", "selectors", "syslog", "readline",
          "_posixshmem", "multiprocessing.forkserver", "multiprocessing.popen_fork", "multiprocessing.popen_forkserver",
          "multiprocessing.heap"}
OS = {"O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC", "WNOHANG", "chown", "chroot", "copy_file_range",
      "ctermid", "eventfd", "fchdir", "fchmod", "fchown", "fdatasync", "fork", "forkpty", "fstatvfs", "getegid",
      "geteuid", "getgid", "getgroups", "getloadavg", "getpgid", "getpgrp", "getsid", "getuid", "killpg", "lchown",
      "lockf", "memfd_create", "mkfifo", "mknod", "nice", "openpty", "pipe2", "posix_fadvise", "posix_fallocate",
      "posix_spawn", "pread", "preadv", "pwrite", "pwritev", "register_at_fork", "sched_getaffinity", "sendfile",
      "setpgid", "setsid", "setuid", "splice", "statvfs", "sync", "sysconf", "tcgetpgrp", "ttyname", "uname", "wait",
      "wait3", "wait4", "waitid"}
SIGNALS = {"SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM", "SIG_DFL", "SIG_IGN", "Handlers", "Signals",
           "default_int_handler", "getsignal", "raise_signal", "signal", "strsignal", "valid_signals"}
SOCKETS = {"AF_UNIX", "MSG_NOSIGNAL", "SCM_RIGHTS", "SO_REUSEPORT", "TCP_USER_TIMEOUT"}
FOREIGN = set()  # processes outside the simulation
TOKEN = f"SIMULATED_WINDOWS={os.environ.get('SIMULATED_WINDOWS', '')}".encode()


class Hidden(types.ModuleType):
    """A module without some names, and with others replaced."""

    def __init__(self, module, hidden, replaced):
        super().__init__(module.__name__)
        vars(self)["_hidden"] = hidden
        vars(self)["_module"] = module
        vars(self).update(replaced)

    def __getattr__(self, name):
        if name in self._hidden:
            raise AttributeError(f"module {self._module.__name__!r} has no attribute {name!r} on Windows")
        return getattr(self._module, name)

    def __setattr__(self, name, value):
        setattr(self._module, name, value)


def open_without_folders(path, flags, *arguments, **options):
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))
    return os.open(path, flags, *arguments, **options)


def refuse(*_, **__):
    raise OSError(errno.EINVAL, "Incorrect function")


SHOWN = {
    "os": Hidden(os, OS, {"open": open_without_folders, "link": refuse}),
    "signal": Hidden(signal, set(dir(signal)) - SIGNALS, {}),
    "socket": Hidden(socket, SOCKETS, {"SO_EXCLUSIVEADDRUSE": socket.SO_REUSEADDR}),
    "sys": Hidden(sys, set(), {"platform": "win32"})}
real_import = builtins.__import__


def import_as_on_windows(name, globals=None, locals=None, fromlist=(), level=0):  # noqa: A002
    if ((globals or {}).get("__package__") or "").partition(".")[0] != "registry":
        return real_import(name, globals, locals, fromlist, level)
    for wanted in (name, *(f"{name}.{part}" for part in fromlist or ())):
        if wanted in ABSENT:
            raise ModuleNotFoundError(f"No module named {wanted!r} on Windows", name=wanted)
    module = real_import(name, globals, locals, fromlist, level)
    return SHOWN.get(name if fromlist else name.partition(".")[0], module)


def is_open(path):
    """Say whether a process of the simulation has a file open, or maps it."""
    try:
        wanted = os.stat(path, follow_symlinks=False)
    except OSError:
        return False
    if not stat.S_ISREG(wanted.st_mode):
        return False
    real = os.path.realpath(path)
    for process in Path("/proc").glob("[0-9]*"):
        if process in FOREIGN:
            continue
        try:
            if TOKEN not in (process / "environ").read_bytes().split(b"\0"):
                FOREIGN.add(process)
                continue
            maps = (process / "maps").read_text("utf-8", "replace")
            if any(line.endswith(f" {real}") for line in maps.splitlines()):
                return True
            opened = list((process / "fd").iterdir())
        except OSError:  # it has ended, or belongs to another user
            FOREIGN.add(process)
            continue
        for file in opened:
            try:
                found = os.stat(file)
            except OSError:
                continue
            if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
                return True
    return False


def in_use(path):
    return PermissionError(errno.EACCES, "The process cannot access the file because it is being used by another "
                                         "process", str(path))


def removing(function):
    def remove(path, *, dir_fd=None):
        if dir_fd is None and is_open(path):
            raise in_use(path)
        return function(path, dir_fd=dir_fd)

    return remove


def renaming(function, *, replaces):
    def rename(source, target, *, src_dir_fd=None, dst_dir_fd=None):
        if src_dir_fd is None and dst_dir_fd is None:
            for path in (source, target):
                if is_open(path):
                    raise in_use(path)
            if not replaces and os.path.lexists(target):
                raise FileExistsError(errno.EEXIST, "Cannot create a file when that file already exists", str(target))
        return function(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    return rename


def sync_writable(handle, function=os.fsync):
    import fcntl

    number = handle if isinstance(handle, int) else handle.fileno()
    if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, "Bad file descriptor")
    function(number)


if "SIMULATED_WINDOWS" in os.environ:
    builtins.__import__ = import_as_on_windows
    os.rename, os.replace = renaming(os.rename, replaces=False), renaming(os.rename, replaces=True)
    os.unlink, os.remove = removing(os.unlink), removing(os.remove)
    os.fsync = sync_writable
    shutil._use_fd_functions = False  # removes by paths, which `removing` checks
    for method in ("fork", "forkserver"):
        multiprocessing.context._concrete_contexts.pop(method, None)
    multiprocessing.context._default_context._default_context = multiprocessing.context._concrete_contexts["spawn"]
    warnings.filterwarnings("error", category=EncodingWarning, module=r"registry\b")
