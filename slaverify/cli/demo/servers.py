"""Two small servers on loopback for the demo: a timestamp authority and a vendor's engine.

Both answer over real HTTP; neither is reachable from another machine. They live in threads of the demo and end with it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Respond = Callable[[bytes], tuple[int, str, bytes]]
"""From the body of a POST to (status, content type, body)."""

_MAX_BODY = 1024 * 1024


def _handler(respond: Respond) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", "0"))
            if not 0 < length <= _MAX_BODY:
                self.send_error(413)
                return
            status, kind, body = respond(self.rfile.read(length))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Stay silent: the console belongs to the demo."""

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def serve(respond: Respond, port: int = 0) -> Iterator[str]:
    """Serve `respond` on 127.0.0.1 and yield the base URL; `port` 0 takes a free one."""
    server = _Server(("127.0.0.1", port), _handler(respond))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
