#!/usr/bin/env python3
"""Drover over HTTP with the standard library alone.

    drover.py SPEC.json     starts a migration, waits until it follows the source, compares both sides

Exit code 0: equal; 1: different; 2: refused, with all problems on stderr.
"""
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request


class DroverError(Exception):
    """What the board answered (RFC 9457): `code`, `cure`, and all `problems`, each with its path and cure."""

    def __init__(self, problem):
        super().__init__(problem.get("detail", "no detail"))
        self.code = problem.get("code", "BUG")
        self.cure = problem.get("cure")
        self.problems = problem.get("problems", [])


class Drover:
    def __init__(self, url, token=None):
        self._base = url.rstrip("/") + "/api/v1"
        self._token = token

    def start(self, spec):
        """Starting the same spec again changes nothing, so it may be sent again when the answer was lost."""
        return self._ask("POST", "/migrations", spec)

    def status(self, migration):
        return self._ask("GET", self._path(migration))

    def wait(self, migration, phase):
        """Until `copied`, `streaming`, `caught-up` or `stopped`. Raises DroverError when it will not come."""
        position = None
        while True:
            answer = self._ask("POST", self._path(migration) + "/wait", {"for": phase, "position": position, "timeoutSeconds": 25})
            if answer["reached"]:
                return answer["status"]
            # For caught-up: go on waiting for the same position of the source.
            position = answer["position"]

    def diff(self, migration, **options):
        """Compares both sides and returns the report."""
        diff = self._path(migration) + "/diffs/" + self._ask("POST", self._path(migration) + "/diffs", options)["diffId"]
        while True:
            answer = self._ask("POST", diff + "/wait", {"timeoutSeconds": 25})
            if answer["ended"]:
                return self._ask("GET", diff)

    @staticmethod
    def _path(migration):
        return "/migrations/" + urllib.parse.quote(migration, safe="")

    def _ask(self, method, path, body=None):
        headers = {"Accept": "application/json"}
        if self._token:
            headers["Authorization"] = "Bearer " + self._token
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise DroverError(json.load(error)) from None


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        spec = json.load(file)
    drover = Drover(os.environ.get("DROVER_API_URL", "http://127.0.0.1:3000"), os.environ.get("DROVER_API_TOKEN"))
    try:
        started = drover.start(spec)
        print("migration", started["id"], "is new" if started["known"] is None else "was there already", file=sys.stderr)
        drover.wait(started["id"], "streaming")
        report = drover.diff(started["id"], maxSamples=5)
    except DroverError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        for problem in error.problems:
            print(f"  {problem['path']}: {problem['message']} -> {problem['cure']}", file=sys.stderr)
        return 2
    print(json.dumps(report))
    return 1 if report["hasMismatch"] else 0


if __name__ == "__main__":
    sys.exit(main())
