import pg from "pg"
import { beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { systemClock } from "../../core/shared/time/clock.ts"
import { answer, defineTool } from "../../core/engine/definition/tool.ts"
import { toTimeline } from "../../client/index.ts"
import { calls, finishes, replies, says, thinks } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { RunJournal, SharedRun } from "../../core/protocol/conversation/conversation.ts"
import { type CallId, type ConversationId, newId } from "../../core/protocol/ids.ts"
import { databasesInTurn } from "../support/databases.ts"
import { codeOf } from "../support/server/browser.ts"
import { Face, Visitor } from "../support/server/face.ts"

const WAITS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
const DAY = 24 * 60 * 60_000

const weigh = defineTool({
  ...{ name: "weigh", description: "For tests.", input: z.object({ what: z.string() }) },
  ...{ effect: "read" as const, afterCrash: "run-again" as const },
  run: async () => answer("It weighs two pounds.", { data: { secret: "hidden" } }),
})

const model = () =>
  scripted(
    always(({ history }) => {
      const last = history.at(-1)
      if (last?.role !== "user")
        return replies(says("Two pounds."), finishes("stop", { inputTokens: 9, outputTokens: 3 }))
      if (last.text.includes("weigh"))
        return replies(thinks("a hidden thought"), calls("weigh", { what: "the parcel" }))
      return says("An answer of another run.")
    }),
  )

describe.each(databasesInTurn(import.meta.filename))("a link to a run on $name", ({ name, create }) => {
  // Set, not turned: a timer of every few seconds would fire for two years.
  let now = Date.UTC(2026, 10, 15)
  const clock = { ...systemClock, now: () => now }
  let face: Face
  let url: string
  let ada: Visitor
  let bob: Visitor

  beforeAll(async () => {
    url = (await create()).url
    face = await Face.open({ url, model: model(), tools: [weigh], clock })
    ;[ada, bob] = [await face.as("ada"), await face.as("bob")]
    return () => face[Symbol.asyncDispose]()
  })

  const open = (who: Visitor, secret: string) => who.post("/api/shared-runs/open", { secret })
  /** A person's conversation with one run between two others, and a link to that run. */
  async function share(person: Visitor, days?: number | null) {
    const conversation = await person.begin({ agent: "test", title: "A hidden title" })
    await person.say(conversation, "The words of the run before.")
    const { run } = (await person.say(conversation, "Please weigh the parcel.")).body
    await person.say(conversation, "The words of the run behind.")
    const made = await person.post(`/api/runs/${run.id}/shares`, days === undefined ? {} : { days })
    expect(made.status).toBe(201)
    return { conversation, run: run.id as string, ...(made.body as { id: string; secret: string; path: string }) }
  }

  test("shows that run to any signed-in person who has the link, and nothing else of its owner", async () => {
    const { secret, run, path, id } = await share(ada)
    expect(path).toBe(`/shared#${secret}`)
    const seen = await open(bob, secret)
    expect(seen.status).toBe(200)
    const shown = seen.body as SharedRun
    const own = (await ada.get(`/api/runs/${run}/journal`)).body as RunJournal
    const told = (rows: RunJournal["items"]) =>
      toTimeline(rows).entries.map(({ kind, title, detail, usage }) => ({ kind, title, detail, usage }))
    expect(told(shown.items)).toEqual(told(own.items))
    expect(shown.run).toMatchObject({ status: "completed", error: null })
    expect(shown.items.map(({ position }) => position)).toEqual(shown.items.map((_, index) => index + 1))
    for (const words of ["Please weigh the parcel.", "the parcel", "It weighs two pounds.", "Two pounds."])
      expect(seen.text).toContain(words)
    for (const words of ["hidden", "run before", "run behind", "another run"]) expect(seen.text).not.toContain(words)
    expect(seen.text).not.toMatch(/(conv|msg|run|user|shr|tok)_[0-9]/)
    // The rest can be requested by the row before it, as for one's own run.
    const rest = (await bob.post("/api/shared-runs/open", { secret, after: 2 })).body as SharedRun
    expect(rest.items).toEqual(shown.items.slice(2))
    // And it opens only itself.
    for (const address of [`/api/runs/${run}`, `/api/runs/${run}/journal`, `/api/shared-runs/${id}`])
      expect((await bob.get(address)).status).toBe(404)
  })

  test("shows later outcomes of its own calls, and no call of an earlier run that ends in it", async () => {
    const conversation = await ada.begin({ agent: "test" })
    const { run: before } = (await ada.say(conversation, "Please weigh the other parcel.")).body
    const { run } = (await ada.say(conversation, "Please weigh the parcel.")).body
    for (const { id } of [before, run]) {
      const { items } = (await ada.get(`/api/runs/${id}/journal`)).body as RunJournal
      const callId = items.find(({ type }) => type === "tool_end")!.callId as CallId
      const text = id === run.id ? "Weighed again." : "The parcel of the run before."
      await face.store.journal.addToInbox(conversation as ConversationId, {
        ...{ type: "late_result", callId, status: "ok", text },
      })
    }
    await ada.say(conversation, "The words of the run behind.") // queued behind them, which are taken first
    await face.pawl.runtime.rest(conversation as ConversationId)
    const { secret } = (await ada.post(`/api/runs/${run.id}/shares`, {})).body
    const { text } = await open(bob, secret)
    expect(text).toContain("Weighed again.")
    expect(text).not.toContain("run before")
  })

  test("is listed only for its owner, is stored as a hash, and exports no secret", async () => {
    const [carol, { id, run, secret }] = [await face.as("carol"), await share(await face.as("carol"))]
    const { items } = (await carol.get("/api/shared-runs")).body
    expect(items).toEqual([{ id, runId: run, createdAt: expect.any(String), expiresAt: expect.any(String) }])
    expect((await (await face.as("dave")).get("/api/shared-runs")).body.items).toEqual([])
    const exported = (await carol.get("/api/export")).text.split("\n").filter((line) => line.includes(id))
    expect(exported.map((line) => JSON.parse(line))).toEqual([
      { kind: "shared_run", id, run, createdAt: now, expiresAt: now + 7 * DAY },
    ])
    const stored = JSON.stringify(await face.store.engine.query("SELECT * FROM shared_run WHERE id = ?", [id]))
    expect(stored).toContain(id)
    expect(stored).not.toContain(secret)
  })

  test("a withdrawn, expired or erased link is missing, byte for byte", async () => {
    const telling = async (secret: string) => {
      const { status, text } = await open(bob, secret)
      return { status, text }
    }
    const missing = await telling("x".repeat(43))
    expect(missing.status).toBe(404)
    const revoked = await share(ada, null)
    now += 400 * DAY
    expect((await telling(revoked.secret)).status).toBe(200)
    expect((await bob.delete(`/api/shared-runs/${revoked.id}`)).status).toBe(404)
    expect((await telling(revoked.secret)).status).toBe(200)
    expect((await ada.delete(`/api/shared-runs/${revoked.id}`)).status).toBe(204)
    expect((await ada.delete(`/api/shared-runs/${revoked.id}`)).status).toBe(404)
    expect(await telling(revoked.secret)).toEqual(missing)

    const short = await share(ada, 2)
    now += 2 * DAY - 1
    expect((await telling(short.secret)).status).toBe(200)
    now += 1
    expect(await telling(short.secret)).toEqual(missing)

    const deleted = await share(ada)
    expect((await ada.delete(`/api/conversations/${deleted.conversation}`)).status).toBe(204)
    expect(await telling(deleted.secret)).toEqual(missing)
    const eve = await face.as("eve")
    const erased = await share(eve)
    expect((await eve.delete("/api/me")).status).toBe(204)
    expect(await telling(erased.secret)).toEqual(missing)
    const left = await face.store.engine.query("SELECT id FROM shared_run WHERE id IN (?, ?)", [deleted.id, erased.id])
    expect(left).toEqual([])
    const nobody = new Visitor((request) => face.fetch(request), undefined)
    expect(codeOf(await open(nobody, short.secret))).toEqual([401, "unauthenticated"])
  })

  test("only the run's owner can share it, and for at most 365 days", async () => {
    const { run } = await share(ada)
    const theirs = await bob.post(`/api/runs/${run}/shares`, {})
    expect(theirs.text).toBe((await bob.post(`/api/runs/${newId("run")}/shares`, {})).text)
    for (const days of [0, 366]) expect((await ada.post(`/api/runs/${run}/shares`, { days })).status).toBe(400)
  })

  // SQLite has one writer at a time, so that nothing comes between the two.
  test.runIf(name === "postgres")("is not created while its conversation is being erased", async () => {
    const { conversation, run } = await share(ada)
    const eraser = new pg.Client(url)
    await eraser.connect()
    const key = "(SELECT key FROM conversation WHERE id = $1)"
    const erase = (table: string) => eraser.query(`DELETE FROM ${table} WHERE conversation = ${key}`, [conversation])
    let status: number | undefined
    try {
      // The steps of erasing, in their order, with the link created in between.
      await eraser.query("BEGIN")
      await eraser.query("UPDATE conversation SET fence = fence + 1 WHERE id = $1", [conversation])
      await erase("shared_run")
      const making = ada.post(`/api/runs/${run}/shares`, {}).then((made) => (status = made.status))
      await expect.poll(async () => status ?? (await eraser.query(WAITS)).rowCount).toBeTruthy()
      for (const table of ["run", "event"]) await erase(table)
      await eraser.query("DELETE FROM conversation WHERE id = $1", [conversation])
      await eraser.query("COMMIT")
      await making
    } finally {
      await eraser.end()
    }
    expect(status).toBe(404)
    expect(await face.store.engine.query("SELECT id FROM shared_run WHERE run = ?", [run])).toEqual([])
  })

  test("a person may have a hundred open links; one more is refused with what to do, until one has expired or is withdrawn", async () => {
    const frank = await face.as("frank")
    const { id, run } = await share(frank, 1)
    const more = () => frank.post(`/api/runs/${run}/shares`, {})
    const sql = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 98)
      INSERT INTO shared_run (id, hash, person, conversation, run, created_at, expires_at)
      SELECT s.id || n.i, s.hash || n.i, s.person, s.conversation, s.run, s.created_at, NULL FROM shared_run s, n WHERE s.id = ?`
    await face.store.engine.change({ type: "statements", statements: [{ sql, values: [id] }] })
    expect((await more()).status).toBe(201)
    const refused = await more()
    expect(codeOf(refused)).toEqual([409, "too_many"])
    expect((refused.body as { detail: string }).detail).toMatch(/The limit is 100\. Take some back first: .*--unshare/)
    // Another person is below the limit, and a missing run is still a 404.
    expect((await share(ada)).id).toBeTruthy()
    expect((await frank.post(`/api/runs/${newId("run")}/shares`, {})).status).toBe(404)

    expect((await frank.delete(`/api/shared-runs/${id}`)).status).toBe(204)
    expect([(await more()).status, (await more()).status]).toEqual([201, 409])
    now += 8 * DAY // the only ones with an end
    expect((await more()).status).toBe(201)
  })
})
