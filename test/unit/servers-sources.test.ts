import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { debianCodename, debianMirrors, parseDeb822, parseOneLine } from "../../scripts/servers/debian/sources.js";

test("one-line entries keep the key and lose comments, sources and other options", () => {
  const text = [
    "# deb http://comment.example/debian stable main",
    "deb-src http://mirror.example/debian bookworm main",
    "deb [arch=amd64 signed-by=/usr/share/keyrings/a.gpg,/usr/share/keyrings/b.gpg] http://mirror.example/debian bookworm main contrib # why",
    "deb http://plain.example/debian bookworm main",
  ].join("\n");
  expect(parseOneLine(text)).toEqual([
    {
      suites: ["bookworm"],
      mirror: {
        uris: "http://mirror.example/debian",
        components: "main contrib",
        options: { "Signed-By": "/usr/share/keyrings/a.gpg /usr/share/keyrings/b.gpg" },
      },
    },
    { suites: ["bookworm"], mirror: { uris: "http://plain.example/debian", components: "main", options: {} } },
  ]);
});

test("deb822 stanzas: several suites, comments inside, a key block with folded lines, disabled ones left out", () => {
  const text = [
    "# a comment above",
    "Types: deb deb-src",
    "URIs: http://mirror.example/debian",
    "# a comment inside",
    "Suites: bookworm bookworm-updates",
    "Components: main",
    "Signed-By:",
    " -----BEGIN PGP PUBLIC KEY BLOCK-----",
    " .",
    " abc",
    " -----END PGP PUBLIC KEY BLOCK-----",
    "",
    "Types: deb",
    "URIs: http://off.example/debian",
    "Suites: bookworm",
    "Components: main",
    "Enabled: no",
    "",
    "Types: deb-src",
    "URIs: http://source.example/debian",
    "Suites: bookworm",
    "Components: main",
    "",
  ].join("\n");
  const entries = parseDeb822(text);
  expect(entries).toHaveLength(1);
  expect(entries[0]?.suites).toEqual(["bookworm", "bookworm-updates"]);
  expect(entries[0]?.mirror.options["Signed-By"]).toBe(
    "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n -----END PGP PUBLIC KEY BLOCK-----",
  );
});

test("only Debian's own archive counts as a mirror", async () => {
  const folder = await mkdtemp(join(tmpdir(), "drover-test-"));
  try {
    await mkdir(join(folder, "sources.list.d"));
    await writeFile(
      join(folder, "sources.list"),
      "deb http://mirror.example/debian bookworm main\ndeb http://security.example/debian-security bookworm-security main\ndeb cdrom:[x]/ bookworm main\n",
    );
    await writeFile(join(folder, "sources.list.d/vendor.list"), "deb http://vendor.example/apt vendor-bookworm main\n");
    await writeFile(join(folder, "sources.list.d/contrib.list"), "deb http://contrib.example/debian bookworm contrib\n");
    await writeFile(join(folder, "sources.list.d/old.list.bak"), "deb http://old.example/debian bookworm main\n");
    await writeFile(
      join(folder, "sources.list.d/other.sources"),
      "Types: deb\nURIs: http://other.example/debian\nSuites: stable\nComponents: main\n",
    );
    expect(debianMirrors("bookworm", folder).map(({ uris }) => uris)).toEqual([
      "http://mirror.example/debian",
      "http://other.example/debian",
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the release file tells Debian from its derivatives", () => {
  expect(debianCodename("ID=debian\nVERSION_CODENAME=bookworm\n")).toBe("bookworm");
  expect(debianCodename('PRETTY_NAME="Debian GNU/Linux sid"\nID=debian\n')).toBe("unstable");
  expect(debianCodename("ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\n")).toBeUndefined();
});
