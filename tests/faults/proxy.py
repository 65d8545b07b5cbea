"""A wire that can be disturbed: TCP on 127.0.0.1 to a real server, which stays as it is.

A disturbance waits until the run has begun to measure (``armed``) and the examinee has sent so much that it is
in the middle of its cell, in the middle of a batch. Then it happens once.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable

MID_CELL = 24_000
"""Bytes: past what opening takes, within what nine facts and nine questions take in any protocol."""

REFUSAL = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Proxy:
    """Listens on a port of its own, which it keeps: ``away`` refuses connections, ``back`` takes them again."""

    def __init__(self, upstream: int, token: str | None = None) -> None:
        self.upstream = upstream
        self.token = token
        """What a connection must say first, for servers that let everybody in."""
        self.armed: Callable[[], bool] = lambda: False
        self.disturb: Callable[[], object] | None = None
        """Called when half of a batch was passed on; the connection ends when it returns."""
        self.latency = 0.0
        """Seconds that an answer takes, for as many answers as ``slow``."""
        self.slow = 0
        self.happened = 0
        self._sent = 0
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener: socket.socket | None = None
        self.port = 0
        self.back()

    def back(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def away(self) -> None:
        """As a server that was killed: no connection is left, none is taken."""
        with self._lock:
            listener, self._listener = self._listener, None
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for end in list(self._open):
            _close(end)

    def calm(self) -> None:
        """Disturbed no more, and ready for the next run."""
        self.armed, self.disturb, self.latency, self.slow = (lambda: False), None, 0.0, 0
        self.happened = self._sent = 0
        if self._listener is None:
            self.back()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.upstream))
        except OSError:
            _close(client)
            return
        self._open |= {client, server}
        threading.Thread(target=self._answers, args=(server, client), daemon=True).start()
        self._asks(client, server)
        for end in (client, server):
            _close(end)
            self._open.discard(end)

    def _asks(self, client: socket.socket, server: socket.socket) -> None:
        known = self.token is None
        with contextlib.suppress(OSError):
            while chunk := client.recv(65536):
                if not known and self.token is not None:
                    if self.token.encode() not in chunk:
                        client.sendall(REFUSAL)
                        return
                    known = True
                if self._due(len(chunk)) and self.disturb is not None:
                    server.sendall(chunk[: len(chunk) // 2])
                    self.disturb()
                    return
                server.sendall(chunk)

    def _due(self, size: int) -> bool:
        """Whether this is the chunk in which it happens."""
        with self._lock:
            if self.happened or self.disturb is None or not self.armed():
                return False
            self._sent += size
            if self._sent < MID_CELL:
                return False
            self.happened = 1
            return True

    def _answers(self, server: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while chunk := server.recv(65536):
                with self._lock:
                    wait = self.slow > 0 and self.armed()
                    self.slow -= wait
                    self.happened += wait
                if wait:
                    time.sleep(self.latency)
                client.sendall(chunk)
        _close(client)


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
