"""Nothing that is written or shown names a server, a secret, a machine or a person."""

from __future__ import annotations

import pytest

from memrot.redact import redacted


def test_redacted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMROT_REDIS_URL", "rediss://alice:s3cr3t@cache.example:6379/0")
    monkeypatch.setenv("MEMROT_PGVECTOR_URL", "postgresql://postgres:p%40ss%2Fw0rd@127.0.0.1/postgres")
    monkeypatch.setenv("DATABASE_URL", "postgresql://carol:0ther@db.example/app")
    monkeypatch.setenv("MEMROT_QDRANT_API_KEY", "abc-123")
    monkeypatch.setenv("HOME", "/srv/bob")
    monkeypatch.setattr("getpass.getuser", lambda: "bob")
    monkeypatch.setattr("socket.gethostname", lambda: "build-7")
    for text, clean in {
        "cannot reach rediss://alice:s3cr3t@cache.example:6379/0": "cannot reach <redacted>",
        "cache.example refused alice": "<redacted> refused <redacted>",
        "p@ss/w0rd is wrong, as p%40ss%2Fw0rd is": "<redacted> is wrong, as <redacted> is",
        "db.example refused carol with 0ther": "<redacted> refused <redacted> with <redacted>",
        "key abc-123 is wrong": "key <redacted> is wrong",
        "see https://vendor.example/help?x=1 for help": "see <address> for help",
        "10.1.2.3:6333 timed out, 127.0.0.1 did not": "<address> timed out, 127.0.0.1 did not",
        "no file /srv/bob/x on build-7\nfor bob": "no file ~/x on <redacted> for <redacted>",
        "bobsleigh is no name": "bobsleigh is no name",
    }.items():
        assert redacted(text) == clean
