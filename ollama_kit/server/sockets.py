"""The sockets that a blocking transport has open, so that another thread can end what waits on them.

Closing an httpx client does not, and is not safe: on Linux and macOS a thread that waits for bytes sleeps on when its
socket is closed, and then waits on the next file that gets the same number. It wakes where the socket is shut down. So
sockets are shut down, and closed once nobody reads. On Windows it is closing that wakes (python/cpython#91913).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from threading import Event, Lock
from typing import Any
from weakref import WeakSet

from ollama_kit.server.faults import closed

OPENED = ("connect_tcp.complete", "start_tls.complete")
"""How the events of httpcore's `trace` end that say a connection stands, also through a proxy."""


class Sockets:
    """Knows each socket from its connection on, and how many requests run. `close` closes the pool they are in."""

    def __init__(self, close: Callable[[], None]) -> None:
        self._close = close
        self._open: WeakSet[socket.socket] = WeakSet()
        self._lock = Lock()
        self._ended = Event()
        self._running = 0

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    def note(self, event: str, info: Mapping[str, Any]) -> None:
        """Keeps the socket of a connection that now stands; one that comes after the end is shut down at once.
        httpcore calls it as the `trace` extension of a request."""
        if not event.endswith(OPENED):
            return
        opened = info["return_value"].get_extra_info("socket")
        if not isinstance(opened, socket.socket):
            return
        with self._lock:
            self._open.add(opened)
            if self.ended:
                _shut(opened)

    def enter(self, url: str) -> None:
        """A request begins; ServerUnreachable after the end. `leave` follows."""
        with self._lock:
            if self.ended:
                raise closed(url)
            self._running += 1

    def leave(self) -> None:
        """A request has ended."""
        with self._lock:
            self._running -= 1
            last = self.ended and not self._running
        if last:
            self._close()

    def wait(self, seconds: float) -> None:
        """Sleeps, and wakes at the end."""
        self._ended.wait(seconds)

    def end(self) -> None:
        """Makes every read end now, in whichever thread, and closes the pool after the last."""
        with self._lock:
            self._ended.set()
            for opened in self._open:
                _shut(opened)
            unused = not self._running
        if unused or os.name == "nt":
            self._close()


def _shut(opened: socket.socket) -> None:
    try:
        # Not SSLSocket's own: it takes the TLS object away from the thread that reads.
        socket.socket.shutdown(opened, socket.SHUT_RDWR)
    except OSError:  # not connected any more
        pass
