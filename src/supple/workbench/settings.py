"""Settings of the workbench: address, storage, limits."""

import os
import secrets
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from supple.errors import InvalidInputError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def default_folder() -> Path:
    """Return the folder of the history: SUPPLE_WORKBENCH, or in the user's data folder."""
    chosen = os.environ.get("SUPPLE_WORKBENCH")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "supple" / "workbench"


@dataclass(frozen=True)
class Settings:
    """Settings of the workbench.

    Attributes
    ----------
    folder : Path
        Folder of the history, one SQLite file.
    host, port : str, int
        Address to listen on.
    token : str
        Required of every browser. Empty if only this machine has access; see :meth:`for_host`.
    jobs : int
        Number of concurrent runs.
    max_bytes, max_rows : int
        Largest upload.
    max_runs : int
        Most runs in the queue.

    Examples
    --------
    >>> from supple.workbench import Settings
    >>> Settings.for_host("127.0.0.1").token
    ''
    >>> len(Settings.for_host("0.0.0.0").token) > 30
    True
    """

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8642
    token: str = ""
    jobs: int = 1
    max_bytes: int = 20_000_000
    max_rows: int = 200_000
    max_runs: int = 500

    def __post_init__(self) -> None:
        if self.host not in LOOPBACK and len(self.token) < 16:
            raise InvalidInputError(
                f"The 'token' parameter of Settings must have 16 characters or more when the "
                f"host is not this machine alone. Got host {self.host!r} and a token of "
                f"{len(self.token)} characters. Use Settings.for_host, which makes one."
            )

    @classmethod
    def for_host(
        cls, host: str = "127.0.0.1", port: int = 8642, folder: Path | None = None
    ) -> "Settings":
        """Return settings for `host`, with a fresh token unless it is this machine alone."""
        token = "" if host in LOOPBACK else secrets.token_urlsafe(32)
        return cls(folder=folder or default_folder(), host=host, port=port, token=token)

    @property
    def url(self) -> str:
        """The address to open, with the token if there is one."""
        host = "127.0.0.1" if self.host in {"0.0.0.0", "::"} else self.host
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    def serves(self, hostname: str) -> bool:
        """Return whether a request may name `hostname` as its host.

        Another site can resolve its own name to this machine (DNS rebinding); such a request
        carries that name.
        """
        if hostname in LOOPBACK or hostname == self.host:
            return True
        if self.host not in {"0.0.0.0", "::"}:
            return False
        return _is_address(hostname) or hostname in {socket.gethostname(), socket.getfqdn()}


def _is_address(hostname: str) -> bool:
    try:
        ip_address(hostname)
    except ValueError:
        return False
    return True
