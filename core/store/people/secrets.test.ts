import { randomBytes } from "node:crypto"
import { chmodSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, inject, test } from "vitest"
import { databases } from "../../../test/support/databases.ts"
import type { UserId } from "../../protocol/ids.ts"
import { KeyFile } from "./key-file.ts"
import { asMasterKey, fixedKeys, type MasterKeys, toMasterKey } from "./master-keys.ts"
import { countOtherKeys, rotateSecrets } from "./rotate-secrets.ts"
import { encryptForRow, decryptForRow } from "./row-encryption.ts"
import { openStore } from "../store.ts"

const anyKey = () => asMasterKey(randomBytes(32))
const keyPath = () => join(mkdtempSync(join(tmpdir(), inject("testRun"), "key-")), "deep", "master.key")
const linesOf = (path: string) => readFileSync(path, "utf8").trim().split("\n")

describe("an encrypted text", () => {
  const key = anyKey()
  const row = { table: "provider_key", id: "a.b", person: "user_ada" }

  test("is decrypted for its own row, and differs each time", () => {
    const [once, twice] = [encryptForRow(key, row, "sk-1 ü"), encryptForRow(key, row, "sk-1 ü")]
    expect(decryptForRow(key, row, once)).toBe("sk-1 ü")
    expect(once.sealed).not.toBe(twice.sealed)
    expect(Buffer.from(once.sealed, "base64").toString("latin1")).not.toContain("sk-1")
  })

  test.each([
    ["another table", { ...row, table: "connection" }],
    ["another row", { ...row, id: "a.c" }],
    ["another person", { ...row, person: "user_eve" }],
    ["fields that join to the same text", { ...row, id: "a", person: "b.user_ada" }],
  ])("does not open for %s", (_what, other) => {
    expect(decryptForRow(key, other, encryptForRow(key, row, "secret"))).toBeUndefined()
  })

  test("is not decrypted with another key, or if it was changed, truncated or empty", () => {
    const { keyId, sealed } = encryptForRow(key, row, "secret")
    expect(decryptForRow(anyKey(), row, { keyId, sealed })).toBeUndefined()
    const bytes = Buffer.from(sealed, "base64")
    for (const at of [0, 13, bytes.length - 1]) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
      expect(decryptForRow(key, row, { keyId, sealed: changed.toString("base64") })).toBeUndefined()
    }
    expect(decryptForRow(key, row, { keyId, sealed: bytes.subarray(0, 20).toString("base64") })).toBeUndefined()
    expect(decryptForRow(key, row, { keyId, sealed: "" })).toBeUndefined()
  })
})

describe("a master key", () => {
  test("is 32 bytes as base64, base64url or hex, and is never printed", () => {
    const bytes = randomBytes(32)
    const forms = [bytes.toString("base64"), bytes.toString("base64url"), bytes.toString("hex")]
    const keys = forms.map((form) => toMasterKey(form))
    expect(new Set(keys.map((key) => key?.id)).size).toBe(1)
    for (const form of forms) expect(JSON.stringify(keys)).not.toContain(form)
    expect(keys[0]?.id).toMatch(/^[0-9a-f]{16}$/)
  })

  test.each(["", "short", "A".repeat(42), "A".repeat(45), "zz".repeat(32), "00".repeat(31)])("is not %j", (text) => {
    expect(toMasterKey(text)).toBeUndefined()
  })

  test("is created once and readable by its owner only, also by concurrent callers", async () => {
    const path = keyPath()
    const firsts = await Promise.all(Array.from({ length: 8 }, () => new KeyFile(path).first()))
    expect(new Set(firsts.map(({ id }) => id)).size).toBe(1)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(path, ".."))).toEqual(["master.key"])
    expect((await new KeyFile(path).first()).id).toBe(firsts[0]?.id)
  })

  test("that is missing in the file is refused, and the file stays unchanged", async () => {
    const path = keyPath()
    await new KeyFile(path).first()
    chmodSync(path, 0o600)
    writeFileSync(path, "not a key, but near\n")
    await expect(new KeyFile(path).first()).rejects.toMatchObject({ code: "no_master_key" })
    await expect(new KeyFile(path).first()).rejects.not.toThrow("but near")
    expect(readFileSync(path, "utf8")).toBe("not a key, but near\n")
  })
})

describe.each(databases)("secrets on $name", ({ create }) => {
  const [ada, eve] = ["user_ada", "user_eve"] as UserId[] as [UserId, UserId]
  const access = (apiKey: string) => ({ apiKey, baseUrl: "https://models.example/v1" })

  async function opened(masterKeys?: MasterKeys) {
    const database = await create()
    return openStore({ url: database.url, durability: "normal", ...(masterKeys ? { masterKeys } : {}) })
  }

  test("that are stored concurrently stay within the limit, and existing ones can be changed", async () => {
    await using store = await opened(fixedKeys(anyKey()))
    const { providerKeys } = store
    await providerKeys.put(ada, "openai", access("uncounted"))
    const limit = { most: 2, besides: ["openai"] }
    const many = ["a", "b", "c", "d", "e"].map((name) => providerKeys.put(ada, name, access(name), limit))
    expect((await Promise.all(many)).filter(Boolean)).toHaveLength(2)
    const [name = ""] = [...(await (await providerKeys.read(ada)).open()).keys()].filter((each) => each !== "openai")
    expect(await providerKeys.put(ada, name, access("changed"), limit)).toBe(true)
  })

  test("are replaced, have versions, and are removed", async () => {
    await using store = await opened(fixedKeys(anyKey()))
    const { providerKeys } = store
    await providerKeys.put(ada, "openai", access("one"))
    const before = await providerKeys.read(ada)
    expect((await providerKeys.read(ada)).version).toHaveLength(44)
    await providerKeys.put(ada, "openai", { apiKey: "two" })
    const after = await providerKeys.read(ada)
    expect(after.version).not.toBe(before.version)
    expect([...(await after.open())]).toEqual([["openai", { apiKey: "two" }]])
    await providerKeys.remove(ada, "openai")
    await expect(providerKeys.remove(ada, "openai")).rejects.toMatchObject({ code: "not_found" })
    expect((await (await providerKeys.read(ada)).open()).size).toBe(0)
  })

  test("that are copied to another person or row cannot be decrypted", async () => {
    await using store = await opened(fixedKeys(anyKey()))
    const { providerKeys, engine } = store
    await providerKeys.put(ada, "openai", access("of-ada"))
    await providerKeys.put(ada, "anthropic", access("of-ada-too"))
    await providerKeys.put(eve, "openai", access("of-eve"))
    const copy = "UPDATE provider_key SET sealed = (SELECT sealed FROM provider_key WHERE id = ?) WHERE id = ?"
    const change = (sql: string, ...values: unknown[]) =>
      engine.change({ type: "statements", statements: [{ sql, values, mustChange: true }] })
    await change(copy, `${ada}.openai`, `${eve}.openai`)
    await change(copy, `${ada}.openai`, `${ada}.anthropic`)
    expect((await (await providerKeys.read(eve)).open()).get("openai")).toBe("unreadable")
    const own = await (await providerKeys.read(ada)).open()
    expect(own.get("anthropic")).toBe("unreadable")
    expect(own.get("openai")).toEqual(access("of-ada"))
    // The whole row handed over, id and all.
    await change("DELETE FROM provider_key WHERE person = ?", eve)
    await change("UPDATE provider_key SET person = ? WHERE id = ?", eve, `${ada}.openai`)
    expect((await (await providerKeys.read(eve)).open()).get("openai")).toBe("unreadable")
  })

  test("cannot be stored without a master key, or with a second one", async () => {
    await using database = await create()
    await using none = await openStore({ url: database.url, durability: "normal" })
    await expect(none.providerKeys.put(ada, "openai", access("x"))).rejects.toMatchObject({ code: "no_master_key" })
    await using first = await openStore({ url: database.url, durability: "normal", masterKeys: fixedKeys(anyKey()) })
    await first.providerKeys.put(ada, "openai", access("x"))
    await using other = await openStore({ url: database.url, durability: "normal", masterKeys: fixedKeys(anyKey()) })
    await expect(other.providerKeys.put(eve, "openai", access("x"))).rejects.toMatchObject({ code: "no_master_key" })
    expect((await (await other.providerKeys.read(ada)).open()).get("openai")).toBe("unreadable")
  })

  test("all use the new key after a rotation that was killed twice, and are readable at every moment", async () => {
    await using database = await create()
    const path = keyPath()
    const open = () => openStore({ url: database.url, durability: "normal", masterKeys: new KeyFile(path) })
    await using serving = await open()
    const people = Array.from({ length: 50 }, (_, i) => `user_${String(i).padStart(2, "0")}` as UserId)
    await Promise.all(people.map((person) => serving.providerKeys.put(person, "openai", access(`key of ${person}`))))
    const old = await new KeyFile(path).first()

    const readable = async () => {
      const all = people.map(async (person) => (await (await serving.providerKeys.read(person)).open()).get("openai"))
      expect(await Promise.all(all)).toEqual(people.map((person) => access(`key of ${person}`)))
    }
    const under = async (keyId: string) => {
      const sql = "SELECT count(*) AS n FROM provider_key WHERE key_id = ?"
      return (await serving.engine.query<{ n: number }>(sql, [keyId]))[0]?.n
    }

    /** One process that rotates; dies after so many steps. */
    async function rotating(steps: number): Promise<void> {
      await using store = await open()
      using rotation = await new KeyFile(path).rotate()
      if (steps-- === 0) return
      await store.secrets.changeOver(rotation.current)
      for await (const _ of rotateSecrets(store.engine, { to: rotation.current, from: rotation.previous })) {
        if (steps-- === 0) return
      }
      expect(await countOtherKeys(store.engine, rotation.current)).toBe(0)
      if (steps-- !== 0) await rotation.end()
    }

    await rotating(0) // the new key is in the file, and unused
    await serving.providerKeys.put(ada, "openai", access("between"))
    await readable()
    expect(await under(old.id)).toBe(51)
    await rotating(1) // some are carried over
    expect(await under(old.id)).toBe(31)
    await readable()
    await serving.providerKeys.put(eve, "openai", access("late")) // by a process that began with the old key
    expect(await under(old.id)).toBe(31)
    await rotating(Number.POSITIVE_INFINITY)
    expect(await under(old.id)).toBe(0)
    await readable()
    expect(linesOf(path)).toHaveLength(1)
    expect(await new KeyFile(path).find(old.id)).toBeUndefined()
    expect((await (await serving.providerKeys.read(ada)).open()).get("openai")).toEqual(access("between"))
  })

  test("that are saved during a rotation use the new key", async () => {
    await using database = await create()
    const [old, next] = [anyKey(), anyKey()]
    const open = (masterKeys: MasterKeys) => openStore({ url: database.url, durability: "normal", masterKeys })
    await using serving = await open(fixedKeys(old, next))
    await using rotating = await open(fixedKeys(next, old))
    const people = Array.from({ length: 60 }, (_, i) => `user_${i}` as UserId)
    const saving = people.map(async (person, i) => {
      for (let turn = 0; turn < i % 7; turn++) await serving.engine.query("SELECT 1 FROM migration", [])
      await serving.providerKeys.put(person, "openai", access(person))
    })
    await saving[0]
    await rotating.secrets.changeOver(next)
    for await (const _ of rotateSecrets(rotating.engine, { to: next, from: old }));
    await Promise.all(saving)
    expect(await countOtherKeys(rotating.engine, next)).toBe(0)
  })

  test("of named endpoints are rotated completely, with the values of their headers", async () => {
    await using database = await create()
    const [old, next] = [anyKey(), anyKey()]
    const open = (masterKeys: MasterKeys) => openStore({ url: database.url, durability: "normal", masterKeys })
    const headers = { "x-team": "secret-of-the-team" }
    const mine = { ...access("own"), endpoint: { kind: "openai" as const, headers, models: [{ id: "m" }] } }
    await using before = await open(fixedKeys(old))
    await before.providerKeys.put(ada, "mine", mine)
    await before.providerKeys.put(eve, "mine", access("hers"))
    await using rotating = await open(fixedKeys(next, old))
    await rotating.secrets.changeOver(next)
    for await (const _ of rotateSecrets(rotating.engine, { to: next, from: old }));
    // Who has the new key alone opens all of it; what lies in the row says nothing.
    await using after = await open(fixedKeys(next))
    expect(await (await after.providerKeys.read(ada)).open()).toEqual(new Map([["mine", mine]]))
    expect(await (await after.providerKeys.read(eve)).open()).toEqual(new Map([["mine", access("hers")]]))
    const rows = await after.engine.query("SELECT * FROM provider_key", [])
    expect(JSON.stringify(rows)).not.toMatch(/team|models\.example/)
  })

  test("are not rotated by two processes at once", async () => {
    const path = keyPath()
    using first = await new KeyFile(path).rotate()
    await expect(new KeyFile(path).rotate()).rejects.toMatchObject({ code: "no_master_key" })
    expect(linesOf(path)).toHaveLength(2)
    await first.end()
    expect(linesOf(path)).toHaveLength(1)
  })
})
