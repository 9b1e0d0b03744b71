"""Files as users have them."""

import pytest


@pytest.fixture
def layout(tmp_path):
    """Write files, the gold's first; return their paths."""
    def written(files, name="gold"):
        paths = [tmp_path / name, *(tmp_path / f"system{n}" for n in range(1, len(files)))]
        for path, text in zip(paths, files, strict=True):
            path.write_bytes(text.encode())
        return paths

    return written


@pytest.fixture
def folder(tmp_path):
    """Write files by their paths within a folder; return the folder."""
    def written(files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path

    return written
