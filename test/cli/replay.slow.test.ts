import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { openStore } from "../../core/store/store.ts"
import { command } from "../support/processes/commands.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"

const run = /run_[0-9A-Za-z]+/

test("replay compares a run's requests, tries another model without effects, and refuses a missing run or a wrong id", async () => {
  const environment = { PAWL_DATA: dataFolder(), PAWL_LOG: "off" }
  await command(["exec", "--agent", "workspace", "list my tasks"], environment)
  const id = run.exec((await command(["show", "--json"], environment)).stdout)?.[0] ?? ""
  const vectors = await plantVector(environment.PAWL_DATA)
  const same = await command(["replay", id], environment)
  expect(same).toMatchObject({ code: 0, stderr: "" })
  expect(same.stdout.split("\n").slice(1)).toEqual([
    "    5  offline  equal",
    "    8  offline  equal",
    "",
    "Every request is byte for byte the one that was sent.",
    "",
  ])

  const rows = (await command(["show", id, "--rows"], environment)).stdout
  const dry = await command(["replay", id, "--model", "offline"], environment)
  expect(dry.stdout).toMatch(
    /→ list_tasks \{\} +│ → list_tasks \{\}[\s\S]*the same tool calls to the end of the run\.\nCost: free/,
  )
  expect((await command(["show", id, "--rows"], environment)).stdout).toBe(rows)

  // A command that only reads creates and deletes no vectors, whatever embedder its shell has.
  expect((await command(["doctor"], environment)).code).toBe(0)
  expect(await vectors()).toEqual([{ embedder: "another", vector: "[1]" }])

  const foreign = await command(["replay", "run_../../etc/passwd\u001b[2J"], environment)
  expect(foreign).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^pawl: ".*" is not a run\./) })
  expect(foreign.stderr).not.toContain("\u001b")

  // Another program sees it differently: a row of a newer Pawl in the middle.
  await using store = await openStore({ url: `file:${join(environment.PAWL_DATA, "pawl.db")}` })
  const newer = "UPDATE event SET version = 2 WHERE type = 'tool_end'"
  await store.engine.change({ type: "statements", statements: [{ sql: newer, values: [] }] })
  const unread = await command(["replay", id, "--json"], environment)
  expect([unread.code, JSON.parse(unread.stdout)]).toEqual([
    1,
    expect.objectContaining({ newer: 7, first: null, requests: [expect.objectContaining({ verdict: "equal" })] }),
  ])

  const { user } = (await store.conversations.runOfAnybody(id as never))!
  const [conversation] = await store.retention.conversationsOf(user)
  await store.retention.eraseConversation(user, conversation!.id)
  const gone = await command(["replay", id], environment)
  expect(gone).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("does not exist. It may have been erased."),
  })

  const file = join(environment.PAWL_DATA, "no.json")
  await writeFile(file, '{"say": [], "frobnicate": 1}')
  expect(await command(["crashtest", file], environment)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is not a valid scenario: say must have at least 1 item"),
  })
}, 120_000)

test("show prints the example of docs/guide/runs.md, except for times", async () => {
  const page = await readFile(join(import.meta.dirname, "..", "..", "docs", "guide", "runs.md"), "utf8")
  const { example = "" } = /```text\n(?<example>run_[\s\S]*?)```/.exec(page)?.groups ?? {}
  const environment = { PAWL_DATA: dataFolder(), PAWL_LOG: "off" }
  await command(["exec", "--agent", "workspace", "--mode", "auto", "add a task: buy milk"], environment)
  const { stdout } = await command(["show"], environment)
  expect(withoutTimes(stdout)).toBe(withoutTimes(example))
}, 60_000)

/** Bars depend on times, and so does the space around them. */
const withoutTimes = (text: string) =>
  text
    .replace(run, "RUN")
    .replaceAll(/\+?[\d.]+ (?:ms|s)\b/g, "TIME")
    .replaceAll(/[━╸]+/g, "")
    .replaceAll(/ +/g, " ")

/** Plants a note with a vector of another embedder. Returns a function that reads all stored vectors. */
async function plantVector(data: string): Promise<() => Promise<unknown[]>> {
  const open = () => openStore({ url: `file:${join(data, "pawl.db")}` })
  const note =
    "INSERT INTO note (id, person, title, content, created_at, updated_at) SELECT 'note_1', id, 'Tea', 'Green', 1, 1 FROM person"
  const vector = `INSERT INTO note_vector (note, embedder, person, hash, note_updated_at, version, at, vector)
    SELECT 'note_1', 'another', id, 'h', 1, 1, 1, '[1]' FROM person`
  await using store = await open()
  const statements = [note, vector].map((sql) => ({ sql, values: [] }))
  await store.engine.change({ type: "statements", statements })
  return async () => {
    await using later = await open()
    return await later.engine.query("SELECT embedder, vector FROM note_vector", [])
  }
}
