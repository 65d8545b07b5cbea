"""Stands for a product that speaks HTTP only: ``python -m memrot_outside.server FILE``.

It takes a port of 127.0.0.1, says which, and serves until its input ends; then it saves.
"""

from __future__ import annotations

import json
import operator
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

OPERATORS = {"gt": operator.gt, "le": operator.le, "eq": operator.eq}


class Records:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._all: dict[str, dict[str, Any]] = json.loads(file.read_text()) if file.exists() else {}

    def save(self) -> None:
        self._file.write_text(json.dumps(self._all))

    def write(self, put: list[dict[str, Any]], patch: dict[str, Any], delete: list[str]) -> None:
        self._all |= {record["id"]: record for record in put}
        for name, fields in patch.items():
            self._all[name]["fields"] |= fields
        for name in delete:
            del self._all[name]

    def get(self, ids: list[str] | None) -> list[dict[str, Any]]:
        return [self._all[name] for name in (self._all if ids is None else ids) if name in self._all]

    def search(self, vectors: list[list[float]], where: list[list[Any]], k: int) -> list[list[list[Any]]]:
        matching = [
            record
            for record in self._all.values()
            if all(
                isinstance(value := record["fields"].get(field), int) and OPERATORS[op](value, bound)
                for field, op, bound in where
            )
        ]
        return [self._nearest(vector, matching, k) for vector in vectors]

    @staticmethod
    def _nearest(vector: list[float], among: list[dict[str, Any]], k: int) -> list[list[Any]]:
        near = [[record["id"], sum(map(operator.mul, vector, record["vector"]))] for record in among]
        return sorted(near, key=lambda hit: -hit[1])[:k]

    def drop(self) -> None:
        self._all.clear()


def serve(file: Path) -> None:
    records = Records(file)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = json.dumps(getattr(records, self.path.strip("/"))(**asked)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)

    def until_the_input_ends() -> None:
        sys.stdin.read()
        server.shutdown()

    threading.Thread(target=until_the_input_ends).start()
    server.serve_forever(poll_interval=0.02)
    server.server_close()
    records.save()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
