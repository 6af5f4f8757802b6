import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { isReal, open, place, scratch } from "../../../test/support/files/commands.ts"
import { commandEnvironment, pathsInEnvironment } from "./environment.ts"
import { findSandbox } from "./sandbox.ts"

test("commands get search paths and proxies, but no keys or passwords", () => {
  const seen = commandEnvironment({
    ...{ PATH: "/usr/bin", HOME: "/home/ada", LANG: "de_DE.UTF-8", LC_TIME: "C", TZ: "Europe/Berlin" },
    ...{
      HTTPS_PROXY: "http://ada:secret@proxy:3128",
      http_proxy: "proxy:80",
      NO_PROXY: "localhost",
      ALL_PROXY: "ada:secret@p",
    },
    ...{ SSL_CERT_FILE: "/etc/ssl/company.pem", NODE_EXTRA_CA_CERTS: "/etc/ssl/company.pem" },
    ...{ JAVA_HOME: "/opt/jdk", VIRTUAL_ENV: "/home/ada/venv" },
    ...{ OPENAI_API_KEY: "sk-1", GITHUB_TOKEN: "t", AWS_SECRET_ACCESS_KEY: "s", NPM_TOKEN: "n", PAWL_TOKEN: "p" },
    ...{ DATABASE_URL: "postgres://", SSH_AUTH_SOCK: "/run/ssh", LD_PRELOAD: "x.so", NODE_OPTIONS: "-r x" },
    ...{ MY_SECRET: "s", SSL_KEY_FILE: "/key" },
  })
  expect(seen).toEqual({
    ...{ PATH: "/usr/bin", HOME: "/home/ada", LANG: "de_DE.UTF-8", LC_TIME: "C", TZ: "Europe/Berlin" },
    ...{ HTTPS_PROXY: "http://proxy:3128", http_proxy: "proxy:80", NO_PROXY: "localhost", ALL_PROXY: "p" },
    ...{ SSL_CERT_FILE: "/etc/ssl/company.pem", NODE_EXTRA_CA_CERTS: "/etc/ssl/company.pem" },
    ...{ JAVA_HOME: "/opt/jdk", VIRTUAL_ENV: "/home/ada/venv", TERM: "dumb", CI: "1" },
  })
})

test("only existing certificates and toolchains of the environment are mounted, never a home folder", () => {
  const [folder, home] = [scratch(), scratch()]
  const [pem, jdk, venv, no] = ["ca.pem", "jdk", "venv", "no"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ]
  writeFileSync(pem, "")
  mkdirSync(join(jdk, "bin"), { recursive: true })
  mkdirSync(venv)
  mkdirSync(join(home, "bin"))
  const given = { HOME: home, SSL_CERT_FILE: pem, SSL_CERT_DIR: no, JAVA_HOME: jdk, VIRTUAL_ENV: venv }
  expect(pathsInEnvironment(given)).toEqual([pem, jdk])
  expect(pathsInEnvironment({ HOME: home, JAVA_HOME: home, GOROOT: "/usr/..", SSL_CERT_DIR: home })).toEqual([])
  expect(pathsInEnvironment({ HOME: home, JAVA_HOME: "/usr", SSL_CERT_FILE: "relative.pem" })).toEqual([])
})

test.runIf(isReal)(
  "in the sandbox certificates and toolchains that the environment names are there, read-only",
  async () => {
    const folder = scratch()
    const [pem, jdk] = [join(folder, "ca.pem"), join(folder, "jdk")]
    writeFileSync(pem, "certificate\n")
    writeFileSync(join(folder, "private"), "hush\n")
    mkdirSync(join(jdk, "bin"), { recursive: true })
    const shown = pathsInEnvironment({ SSL_CERT_FILE: pem, JAVA_HOME: jdk })
    const { run } = open(findSandbox(place({ shown })))
    const { text } = await run({
      command: `cat ${pem}; ls ${folder}; touch ${jdk}/x || echo kept; echo x >> ${pem} || echo kept`,
    })
    expect(text).toMatch(/certificate\nca\.pem\njdk\nkept\nkept/)
  },
)
