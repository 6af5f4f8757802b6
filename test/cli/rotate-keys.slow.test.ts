import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, test } from "vitest"
import { ProviderServer } from "../../core/models/providers/server.fixture.ts"
import { KeyFile } from "../../core/store/people/key-file.ts"
import { openStore } from "../../core/store/store.ts"
import type { UserId } from "../../core/protocol/ids.ts"
import { command } from "../support/processes/commands.ts"
import { dataFolder, PawlProcess, pawl } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { Visitor } from "../support/server/face.ts"

const KEY = "own-key-of-ada-0123456789abcdef"
const SECRETS = 2000

describe("pawl rotate-keys", () => {
  test("is killed with -9 on its way and run again, next to a running server", async () => {
    const data = dataFolder()
    const settings = { PAWL_DATA: data, PAWL_PORT: "0", PAWL_ALLOW_PRIVATE_HOSTS: "127.0.0.1" }
    const path = join(data, "master.key")
    await using provider = await ProviderServer.open((response) => {
      response.writeHead(401, { "content-type": "application/json" })
      response.end(JSON.stringify({ error: { message: `wrong key ${KEY}` } }))
    })
    await using serving = new PawlProcess(["serve"], settings)
    const [, base] = await serving.says(/listening on (\S+)/)
    const token = await tokenFor(settings)
    const ada = new Visitor(fetch, token, base)
    const save = () => ada.put("/api/providers/openai", { apiKey: KEY, baseUrl: provider.url })
    const stillWorks = async () => {
      const { body } = await ada.say(await ada.begin({ model: "openai/m" }), "Hello.")
      expect(body.run.error.code).toBe("auth")
      expect(provider.received.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`)
    }
    expect((await save()).status).toBe(200)
    await fill(data, path)
    const old = await new KeyFile(path).first()
    await stillWorks()

    // Three processes that are killed: at once, with some secrets re-encrypted, and with more of them.
    for (const sign of [/Replacing key/, /: [1-9]\d* secrets? encrypted/, /: [2-9]\d\d secrets encrypted/]) {
      await using rotating = new PawlProcess(["rotate-keys"], settings)
      await rotating.says(sign)
      await rotating.kill("SIGKILL")
      await stillWorks()
    }
    expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(2)
    const left = under(data, old.id)
    expect(left, "it must have been killed on its way").toBeGreaterThan(0)
    expect(left).toBeLessThan(SECRETS + 1)
    expect((await save()).status).toBe(200)

    const { code, stdout } = await pawl(["rotate-keys"], settings)
    expect([code, stdout]).toEqual([0, expect.stringContaining("All secrets are encrypted with the new key.")])
    expect(under(data, old.id)).toBe(0)
    expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(1)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await stillWorks()
    expect((await save()).status).toBe(200)
    const { stdout: out, stderr } = await serving.kill("SIGTERM")
    expect(out + stderr).not.toContain(KEY.slice(0, 10))
  }, 180_000)

  test("with keys from the environment it needs both, and leaves nothing under the old one", async () => {
    const data = dataFolder()
    const [old, next, other] = ["a".repeat(64), "b".repeat(64), "c".repeat(64)] as const
    const settings = { PAWL_DATA: data, PAWL_PORT: "0" }
    const stored = async (environment: Record<string, string>) => {
      await using serving = new PawlProcess(["serve"], environment)
      const [, base] = await serving.says(/listening on (\S+)/)
      const token = await tokenFor(environment)
      const ada = new Visitor(fetch, token, base)
      const before = (await ada.get("/api/providers/openai")).body
      await ada.put("/api/providers/openai", { apiKey: KEY })
      return { before, after: (await ada.get("/api/providers/openai")).body }
    }
    await stored({ ...settings, MASTER_ENCRYPTION_KEY: old })
    const alone = await command(["rotate-keys"], { ...settings, MASTER_ENCRYPTION_KEY: next })
    expect([alone.code, alone.stderr]).toEqual([
      1,
      expect.stringContaining("Set MASTER_ENCRYPTION_KEY_PREVIOUS to the old key."),
    ])
    // From a shell without the servers' settings, or with another key as the old one: no server would have the new one.
    for (const strange of [
      settings,
      { ...settings, MASTER_ENCRYPTION_KEY: next, MASTER_ENCRYPTION_KEY_PREVIOUS: other },
    ]) {
      const { code, stderr } = await command(["rotate-keys"], strange)
      expect([code, stderr]).toEqual([1, expect.stringContaining("the database uses another master key")])
    }
    expect(existsSync(join(data, "master.key"))).toBe(false)
    const both = { ...settings, MASTER_ENCRYPTION_KEY: next, MASTER_ENCRYPTION_KEY_PREVIOUS: old }
    const { code, stdout, stderr } = await pawl(["rotate-keys"], both)
    expect(code).toBe(0)
    expect(stdout + stderr).not.toMatch(/a{16}|b{16}/)
    const { before, after } = await stored({ ...settings, MASTER_ENCRYPTION_KEY: next })
    expect([before.configured, after.configured]).toEqual([true, true])
    const wrong = await command(["serve"], { ...settings, MASTER_ENCRYPTION_KEY: "not-a-key-at-all" })
    expect([wrong.code, wrong.stderr.includes("not-a-key")]).toEqual([1, false])
    expect(wrong.stderr).toContain("32 bytes as base64 or hex")
  }, 180_000)
})

/** Secrets of many people, so that a rotation takes some time. */
async function fill(data: string, path: string): Promise<void> {
  await using store = await openStore({
    url: `file:${join(data, "pawl.db")}`,
    durability: "normal",
    masterKeys: new KeyFile(path),
  })
  const people = Array.from({ length: SECRETS }, (_, i) => `user_${i}` as UserId)
  await Promise.all(people.map((person) => store.providerKeys.put(person, "openai", { apiKey: "x" })))
}

function under(data: string, keyId: string): number {
  using db = new DatabaseSync(join(data, "pawl.db"), { readOnly: true })
  return Number(db.prepare("SELECT count(*) AS n FROM provider_key WHERE key_id = ?").get(keyId)?.n)
}
