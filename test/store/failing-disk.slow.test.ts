import { spawn, spawnSync } from "node:child_process"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test, vi } from "vitest"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { Visitor } from "../support/server/face.ts"
import { canRun } from "../support/processes/processes.ts"
import { launcher } from "../support/processes/package.ts"

vi.setConfig({ testTimeout: 180_000 })

const failingFsync = fileURLToPath(new URL("./failing-fsync.ts", import.meta.url))

test("after a failed fsync the server refuses writes, names the cause, drains and exits; the next start is sound", async () => {
  const environment = { PAWL_DATA: dataFolder(), PAWL_PORT: "0" }
  const token = await tokenFor(environment)
  await using server = new PawlProcess(["serve"], { ...environment, NODE_OPTIONS: `--import=${failingFsync}` })
  const [, url] = await server.says(/listening on (\S+)/)
  const ada = new Visitor(fetch, token, url)
  const kept = await ada.begin({ title: "kept" })
  server.child.kill("SIGUSR2")
  await server.says(/the disk fails now/)
  const refused = await ada.post("/api/conversations", { title: "refused" })
  expect([refused.status, refused.body.code]).toEqual([503, "store_unavailable"])
  expect(refused.body.detail).toContain("the disk failed to keep what was written (EIO")
  const { code, stderr } = await server.ended
  expect(code).toBe(1)
  expect(stderr).toContain("pawl: The database is not available: the disk failed to keep")
  expect(stderr.match(/store_broken/g)).toHaveLength(1)

  await using next = new PawlProcess(["serve"], environment)
  const [, there] = await next.says(/listening on (\S+)/)
  const again = new Visitor(fetch, token, there)
  expect((await again.get(`/api/conversations/${kept}`)).status).toBe(200)
  expect((await again.post("/api/conversations", {})).status).toBe(201)
})

/** A mount namespace in which an unprivileged user may mount; not every machine allows it. */
const mayMount =
  canRun("unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt") && canRun("nsenter", "--preserve-credentials", "-V")

test("on a full file system the server still reads, reports it, and recovers without a restart", async ({ skip }) => {
  skip(!mayMount, "this machine lets nobody mount a file system in a name space of their own")
  const data = dataFolder()
  const mounted = `mount -t tmpfs -o size=2m tmpfs "${data}" && exec "${process.execPath}" "${launcher}" "$@"`
  const env = { PATH: process.env.PATH, PAWL_DATA: data, PAWL_PORT: "0" }
  const child = spawn("unshare", ["-rm", "sh", "-c", mounted, "pawl", "serve"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  })
  try {
    let said = ""
    for await (const chunk of child.stdout) if (/listening on \S+\n/.test((said += String(chunk)))) break
    const [, url] = /listening on (\S+)/.exec(said) ?? []
    const inside = `/proc/${child.pid}/root${data}`
    const made = spawnSync(
      "nsenter",
      [
        "--preserve-credentials",
        "-U",
        "-m",
        "-t",
        String(child.pid),
        process.execPath,
        launcher,
        "token",
        "create",
        "--user",
        "ada",
      ],
      { env, encoding: "utf8" },
    )
    const ada = new Visitor(fetch, made.stdout.trim(), url)
    const id = await ada.begin()
    expect((await ada.say(id, "hello")).status).toBe(200)
    const filler = join(inside, "filler")
    expect(() => writeFileSync(filler, Buffer.alloc(4 * 1024 * 1024))).toThrow("ENOSPC")
    const long = "x".repeat(10_000)
    const refused = await ada.say(id, long)
    expect([refused.status, refused.body.detail]).toEqual([503, expect.stringContaining("the disk is full")])
    expect((await ada.get(`/api/conversations/${id}`)).body.messages.length).toBe(2)
    expect((await ada.get("/readyz")).body).toMatchObject({ status: 503, code: "store_unavailable" })
    rmSync(filler)
    expect((await ada.get("/readyz")).status).toBe(200)
    const healed = await ada.say(id, long)
    expect([healed.status, healed.body.run.status]).toEqual([200, "completed"])
    expect(child.exitCode).toBe(null)
  } finally {
    child.kill("SIGKILL")
  }
})
