import { execFileSync } from "node:child_process"
import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import pg from "pg"
import { describe, expect, inject, test } from "vitest"
import { dataFolder, PawlProcess, pawl } from "../support/processes/pawl-process.ts"
import { openOwnPostgres } from "../support/processes/own-postgres.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { Visitor } from "../support/server/face.ts"
import { canRun } from "../support/processes/processes.ts"

function serverOf(url: string) {
  const { hostname: host, port, pathname, username: user, password } = new URL(url)
  return { kind: "postgres", host, port: Number(port), database: pathname.slice(1), user, password }
}
const withPostgres = inject("engines").includes("postgres")
const common = {
  PAWL_PORT: "0",
  PAWL_ALLOW_PRIVATE_HOSTS: "127.0.0.1,localhost",
  PAWL_ALLOW_SUPERUSER_CONNECTIONS: "on",
}

async function serve(settings: Record<string, string>) {
  const serving = new PawlProcess(["serve"], settings)
  const [, base] = await serving.says(/listening on (\S+)/)
  const token = await tokenFor(settings)
  return { serving, ada: new Visitor(fetch, token, base) }
}

describe.runIf(withPostgres)("secrets of connections", { timeout: 180_000 }, () => {
  test("are encrypted with the new key while the server serves, and the connection works throughout", async () => {
    const server = serverOf(inject("postgresUrl"))
    const data = dataFolder()
    const settings = { ...common, PAWL_DATA: data }
    const { serving, ada } = await serve(settings)
    await using _ = serving
    const { id } = (await ada.post("/api/connections", { name: "Main", ...server })).body
    const row = () => {
      using db = new DatabaseSync(join(data, "pawl.db"), { readOnly: true })
      return db.prepare("SELECT key_id, sealed FROM connection WHERE id = ?").get(id) as Record<string, string>
    }
    const before = row()
    const looked: unknown[] = []
    let over = false
    const looking = (async () => {
      while (!over) looked.push((await ada.post(`/api/connections/${id}/test`)).body.ok)
    })()
    const { code, stdout, stderr } = await pawl(["rotate-keys"], settings)
    over = true
    await looking
    expect([code, stdout]).toEqual([0, expect.stringContaining("All secrets are encrypted with the new key.")])
    expect(row().key_id).not.toBe(before.key_id)
    expect(row().sealed).not.toBe(before.sealed)
    expect(readFileSync(join(data, "master.key"), "utf8").trim().split("\n")).toHaveLength(1)
    expect(looked.length).toBeGreaterThan(0)
    expect(new Set(looked)).toEqual(new Set([true]))
    expect((await ada.post(`/api/connections/${id}/query`, { sql: "SELECT 1 AS x" })).body.rows).toEqual([[1]])
    const told = await serving.kill("SIGTERM")
    expect(stdout + stderr + told.stdout + told.stderr).not.toContain(server.password)
  })

  test("and all other data go over an encrypted connection, and only to the host that the certificate names", async ({
    skip,
  }) => {
    skip(!canRun("openssl", "version"), "there is no openssl on this machine")
    // A server of its own: the shared one has no certificate, and other tests have sessions there.
    await using postgres = await openOwnPostgres()
    const server = serverOf(postgres.url)
    const admin = new pg.Client(postgres.url)
    await admin.connect()
    const folder = (await admin.query("SHOW data_directory")).rows[0].data_directory as string
    const [key, certificate] = [join(folder, "server.key"), join(folder, "server.crt")]
    const names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    execFileSync(
      "openssl",
      [
        ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"],
        ...["-addext", names, "-keyout", key, "-out", certificate],
      ],
      { stdio: "ignore" },
    )
    const { uid, gid } = statSync(folder)
    if (process.getuid?.() === 0) for (const file of [key, certificate]) chownSync(file, uid, gid)
    const data = dataFolder()
    mkdirSync(data, { recursive: true })
    const trusted = join(data, "trusted.crt")
    writeFileSync(trusted, readFileSync(certificate))
    await admin.query("ALTER SYSTEM SET ssl = on")
    await admin.query("SELECT pg_reload_conf()")
    await expect.poll(async () => (await admin.query("SHOW ssl")).rows[0].ssl).toBe("on")
    const encrypted = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'pawl'"
    try {
      const trusting = await serve({ ...common, PAWL_DATA: data, NODE_EXTRA_CA_CERTS: trusted })
      const doubting = await serve({ ...common, PAWL_DATA: dataFolder() })
      await using _ = trusting.serving
      await using __ = doubting.serving
      const test = async ({ ada }: typeof trusting, ssl: unknown, host = "localhost") => {
        const { id } = (await ada.post("/api/connections", { name: "x", ...server, host, ssl })).body
        return { id, ...(await ada.post(`/api/connections/${id}/test`)).body }
      }
      const known = await test(trusting, true)
      expect(known).toMatchObject({ ok: true })
      // A query asks whether the server considers its own connection encrypted.
      const slow = "SELECT count(*) FROM generate_series(1, 3000000)"
      const query = trusting.ada.post(`/api/connections/${known.id}/query`, { sql: slow })
      await expect.poll(async () => (await admin.query(encrypted)).rows[0]?.ssl, { timeout: 60_000 }).toBe(true)
      expect((await query).status).toBe(200)
      expect(await test(trusting, true, "127.0.0.1")).toMatchObject({ ok: true })
      expect(await test(doubting, true)).toMatchObject({ ok: false, code: "connection_failed" })
      expect(await test(doubting, "no-verify")).toMatchObject({ ok: true })
      expect(await test(doubting, false)).toMatchObject({ ok: true })
    } finally {
      await admin.end()
    }
  })
})
