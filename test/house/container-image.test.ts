import { execFile } from "node:child_process"
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { expect, inject, test } from "vitest"
import { parse } from "yaml"
import { findSandbox } from "../../packs/files/sandbox/sandbox.ts"

const run = promisify(execFile)
const folder = () => mkdtempSync(join(tmpdir(), inject("testRun"), "image-"))

test("the image has bubblewrap, and compose.sandbox.yaml lets it work without a capability or root", () => {
  const last = readFileSync("Dockerfile", "utf8")
    .split(/^FROM /m)
    .at(-1)
  expect(last).toMatch(/^RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap/m)
  expect(last).toMatch(/^USER node$/m)
  const { services } = parse(readFileSync("compose.sandbox.yaml", "utf8")) as {
    services: { pawl: Record<string, unknown> }
  }
  expect(services.pawl).toEqual({
    security_opt: ["seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined"],
  })
})

test("a bubblewrap that may not create namespaces, as in a container, is reported with its remedy", () => {
  const bin = folder()
  writeFileSync(join(bin, "bwrap"), "#!/bin/sh\nexit 1\n")
  chmodSync(join(bin, "bwrap"), 0o755)
  const place = { root: folder(), home: folder(), hidden: [], homes: folder(), id: "test" }
  const { isEnforced, description, remedy } = findSandbox({ searchPath: bin, ...place })
  expect([isEnforced, description]).toEqual([
    false,
    expect.stringContaining("is installed but cannot create namespaces on this machine"),
  ])
  expect(remedy).toContain("compose.sandbox.yaml")
  expect(findSandbox({ searchPath: folder(), ...place }).remedy).toBe("Install bubblewrap")
})

test("each external image is pinned to the digest that its registry returns, and none if one digest is missing", async () => {
  const digest = `sha256:${"ab".repeat(32)}`
  let missing = "postgres"
  const registry = createServer(({ url = "" }, response) => {
    if (url.startsWith("/token")) return response.end(JSON.stringify({ token: "t" }))
    if (missing !== "" && url.includes(missing)) return response.writeHead(404).end()
    response.writeHead(200, { "docker-content-digest": digest }).end()
  })
  await new Promise<void>((listening) => registry.listen(0, "127.0.0.1", listening))
  const address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`
  const cwd = folder()
  const files = ["Dockerfile", "compose.yaml", "compose.cluster.yaml"]
  for (const file of files) copyFileSync(file, join(cwd, file))
  const pin = () =>
    run(process.execPath, [resolve("scripts/pin-images.js")], {
      cwd,
      env: { PIN_REGISTRY: address, PIN_AUTH: address },
    })
  const text = () => files.map((file) => readFileSync(join(cwd, file), "utf8")).join("")
  const before = text()
  await expect(pin()).rejects.toThrow("told no digest of postgres")
  expect(text()).toBe(before)
  missing = ""
  await pin()
  const pinned = text()
  await pin()
  expect(text()).toBe(pinned)
  const named = [...pinned.matchAll(/^(?:FROM| +image:) (\S+)/gm)].map(([, name]) => name)
  expect(named.filter((name) => name !== "pawl" && !name?.endsWith(`@${digest}`))).toEqual([])
  expect(named.length).toBeGreaterThan(5)
  registry.close()
})
