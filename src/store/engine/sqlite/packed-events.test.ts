import { expect, onTestFinished, test } from "vitest"
import { ADA, call, staged } from "../../../agent/staged.fixture.ts"
import { idLike } from "../../../agent/calls/id-like.ts"
import { newId } from "../../../protocol/ids.ts"
import { migrations } from "../../migrations/list.ts"
import { migrate } from "../../migrations/migrate.ts"
import { EVENT_COLUMNS, EVENTS_TO_FOLD, type EventRow, toRow } from "../event-rows.ts"
import { openSqlite, sqliteWords } from "../open-sqlite.ts"
import { pushPacked } from "./packed-events.ts"

const BORN = Date.UTC(2026, 0, 1)
const EVERYTHING = { after: 0, upTo: 10_000, limit: 10_000 }
/** With a slot, as ids of people have had for long. */
const BOB = newId("user")
const mine = newId("call", BOB)

/** A conversation of several runs, in which much happens, and ids as tests have them. */
function toldRows(): EventRow[] {
  const story = staged().asks("Hello").routed("tasks").calls("read", "write").starts(1).brings(1, "both").proposes(2)
  story.wait(90_000).grants(1, 3).starts(2).result(2, "in_doubt").says("Half.").ends("failed")
  story.asks("Again").restarts("provider").calls("write").granted(3).starts(3).doubts(3)
  story
    .add({ type: "resolution", callId: call(3), choice: "done", by: ADA })
    .result(3)
    .ends("completed")
  story.asks("Think").says({ type: "reasoning", text: "Hm.", model: "m" }, "Yes.").ends("completed")
  story.undoes().ends("completed").asks("Last", 7).answers("Goodbye.")
  return story.events.map((event) => toRow({ ...event, at: BORN + event.at }))
}

const body = (json: object): string => JSON.stringify(json)
const proposed = (id: string, callId: string) => ({
  ...{ id, callId, action: "safe_create", summary: `Says "hash":"`, hash: "h".repeat(43), tool: "write" },
  expiresAt: BORN,
})
const usage = { inputTokens: 4, outputTokens: 1, cachedTokens: 2, cost: 0.1, provider: "p", paidBy: "shared" }
const asks = (id: string) => `[{"id":"${id}","name":"write","input":{"text":"}}]"}}]`

type Columns = Partial<Record<"at" | "id" | "role" | "seq" | "content" | "calls" | "callId" | "body", unknown>>
const row = (type: string, columns: Columns = {}): EventRow => {
  const { at = BORN + 5, id = null, role = null, seq = null, content = null } = columns
  const { calls = null, callId = null, body: given = null } = columns
  return [0, type, 1, at, id, role, seq, content, calls, callId, given] as EventRow
}
const reply = (columns: Columns) => row("message", { role: "assistant", seq: 2, content: "", ...columns })

/** Rows in which what is packed could be taken for something else. */
const awkward: EventRow[] = [
  row("conversation_started", { at: BORN, body: body({ agent: "a", mode: "confirm" }) }),
  row("conversation_started", { at: BORN - 90_000, body: body({ agent: "a", mode: "auto", title: "x" }) }),
  row("run_started", { id: newId("run", BOB), body: body({ maxIterations: 5, timeZone: "UTC" }) }),
  row("message", { id: newId("msg", BOB), role: "user", seq: 1, content: "\u0001 and \u001f" }),
  reply({ id: idLike("msg", mine), calls: asks(mine), body: body({ model: "m", usage, request: "1.a" }) }),
  reply({ id: newId("msg", BOB), calls: asks(mine), body: body({ model: ',"outputTokens":', usage }) }),
  reply({ id: "msg_1", calls: asks("call_1"), body: body({ model: "m", usage: { ...usage, inputTokens: null } }) }),
  reply({ id: null, calls: asks(mine) }),
  reply({ id: "x".repeat(20), calls: "[]" }),
  reply({ id: `run_${"x".repeat(20)}` }),
  reply({ id: "msg_msg_abcdefghijklmnop", content: "Yes." }),
  row("tool_end", { id: newId("msg", BOB), role: "tool", seq: 3, content: "ok", callId: mine, body: '{"ms":3}' }),
  row("tool_end", { id: "", role: "tool", seq: 3, content: "", callId: "y".repeat(20) }),
  row("tool_start", { callId: mine }),
  row("awaiting_confirmation", { body: body({ proposals: [proposed(idLike("prop", mine), mine)] }) }),
  row("awaiting_confirmation", { body: body({ proposals: [proposed("prop_1", "call_1"), proposed("prop_2", mine)] }) }),
  row("proposal", { body: body({ proposal: { ...proposed(idLike("prop", mine), mine), undoable: true } }) }),
  row("decision", { body: body({ proposalId: "prop_1", decision: "commit", by: "ada" }) }),
  row("run_ended", { body: body({ status: "completed" }) }),
  row("run_ended", { at: 1, body: body({ status: "failed", error: { code: "x", message: "\u0002" } }) }),
  row("step", { body: body({ step: "\u0007".repeat(3000) }) }),
  row("from_the_future", { body: body({ status: "completed" }) }),
  row("constructor"),
  // The newest run: a fold is told what the last reply before it has used that a provider has counted.
  row("run_started", { id: newId("run", BOB), body: body({ maxIterations: 5 }) }),
]

async function open(known = migrations) {
  const engine = openSqlite({ file: ":memory:", durability: "normal" })
  onTestFinished(() => engine.close())
  await migrate(engine, sqliteWords, { known })
  const change = (sql: string, values: readonly unknown[] = []) =>
    engine.change({ type: "statements", statements: [{ sql, values }] })
  await change(`INSERT INTO conversation (id, person, agent, mode, status, fence, created_at, updated_at)
    VALUES ('conv_1', 1, 'a', 'confirm', 'active', 1, ${BORN}, ${BORN})`)
  const insert = async (table: string, rows: readonly EventRow[], write: (row: EventRow) => unknown[]) => {
    const marks = "?, ".repeat(11).slice(0, -2)
    for (const each of rows)
      await change(`INSERT INTO ${table} (conversation, ${EVENT_COLUMNS}) VALUES (1, ${marks})`, write(each))
  }
  const shown = async () =>
    (await engine.query(`SELECT ${EVENT_COLUMNS} FROM event ORDER BY position`, [])).map(valuesOf)
  return { engine, insert, shown, change }
}

const valuesOf = (object: unknown): unknown[] => Object.values(object as object)
const placed = (rows: readonly EventRow[]): EventRow[] => rows.map(([, ...rest], index) => [index + 1, ...rest])

function packed(born?: number) {
  return (each: EventRow): unknown[] => {
    const values: (string | number | null)[] = []
    pushPacked(values, each, born)
    return values
  }
}

test.each([
  ["of a story", toldRows()],
  ["that are awkward", placed(awkward)],
])("rows %s come back to the letter, from us and from the view", async (_, rows) => {
  for (const born of [undefined, BORN]) {
    const { engine, insert, shown } = await open()
    await insert("event_row", rows, packed(born))
    expect(await engine.events(1, EVERYTHING)).toEqual(rows)
    expect(await shown()).toEqual(rows)
  }
})

test("a fold is told the same of packed rows as of those that lie there as they are", async () => {
  for (const rows of [toldRows(), placed(awkward)]) {
    const { engine, insert } = await open()
    await insert("event_row", rows, packed(BORN))
    const plain = await engine.query(EVENTS_TO_FOLD, [1, 1, 1])
    expect(await engine.eventsToFold(1)).toEqual(plain.map(valuesOf))
  }
})

test("what an older version has written stays, is read as it was, and is gone on with", async () => {
  const rows = toldRows()
  const half = Math.floor(rows.length / 2)
  const before = migrations.slice(
    0,
    migrations.findIndex(({ name }) => name === "060_packed_rows"),
  )
  const { engine, insert, shown } = await open(before)
  await insert("event", rows.slice(0, half), (each) => each)
  await migrate(engine, sqliteWords)
  await insert("event_row", rows.slice(half), packed())
  expect(await engine.events(1, EVERYTHING)).toEqual(rows)
  expect(await shown()).toEqual(rows)
  const plain = await engine.query(EVENTS_TO_FOLD, [1, 1, 1])
  expect(await engine.eventsToFold(1)).toEqual(plain.map(valuesOf))
  const needs = "SELECT needs FROM migration WHERE name = '060_packed_rows'"
  expect(await engine.query(needs, [])).toEqual([{ needs: "0.1.0" }])
})

test("through the view a row can be added, changed and taken out by hand", async () => {
  const rows = toldRows()
  const { engine, insert, shown, change } = await open()
  await insert("event", rows.slice(0, 2), (each) => each)
  await insert("event_row", rows.slice(2), packed())
  expect(await shown()).toEqual(rows)
  await change("UPDATE event SET content = 'Other' WHERE role = 'user'")
  const changed = rows.map((each) => (each[5] === "user" ? each.with(7, "Other") : each))
  expect(await engine.events(1, EVERYTHING)).toEqual(changed)
  await change("DELETE FROM event WHERE type = 'message'")
  expect(await engine.events(1, EVERYTHING)).toEqual(rows.filter(([, type]) => type !== "message"))
})

test("what is usual takes no more than its own words", () => {
  const usual = awkward.filter(([, type]) => type === "awaiting_confirmation")[0] as EventRow
  const [, letter, , , , , , , , , text] = packed()(usual) as EventRow
  expect(letter).toBe("w")
  expect(text?.length).toBeLessThan((usual[10] as string).length * 0.6)
})

test("a SQLite that reads no deeper than a hundred words can read the view", async () => {
  const { engine } = await open()
  const [view] = await engine.query<{ sql: string }>("SELECT sql FROM sqlite_master WHERE name = 'event'", [])
  let [depth, deepest] = [0, 0]
  for (const letter of (view as { sql: string }).sql.replace(/'[^']*'/g, "")) {
    if (letter === "(") deepest = Math.max(deepest, ++depth)
    if (letter === ")") depth--
  }
  expect(deepest).toBeLessThan(16) // three or four words each, and SQLite 3.40 reads it; at thirty it does not open the file
})
