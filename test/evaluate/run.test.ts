import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { silentLog } from "../../core/shared/log.ts"
import { openTemporaryServers } from "../../apps/cli/open/temporary-servers.ts"
import { readConfig } from "../../apps/cli/settings/config.ts"
import { type Evaluating, evaluate } from "../../labs/evaluate/evaluate.ts"
import { parseEvalFile } from "../../labs/evaluate/file/read-eval-file.ts"
import { RecentSecrets } from "../../core/models/providers/errors/recent-secrets.ts"
import { chatChunk, ProviderServer, sse } from "../../core/models/providers/server.fixture.ts"
import { DatabaseSync } from "node:sqlite"
import { dataFolder } from "../support/processes/pawl-process.ts"

interface Options extends Partial<Omit<Evaluating, "open">> {
  readonly environment?: Record<string, string>
  /** Is called with the number of open Pawls. */
  readonly hearOpen?: (count: number) => void
}

/** Evaluates cases from a text in this process, in Pawls as the command opens them. */
async function evaluateText(text: string, { environment = {}, hearOpen, ...given }: Options = {}) {
  const [data, under] = [dataFolder(), dataFolder()]
  const config = readConfig({ PAWL_DATA: join(data, "data"), ...environment })
  await using places = openTemporaryServers(config, { log: silentLog, recent: new RecentSecrets([]), under })
  let count = 0
  const open: Evaluating["open"] = async (needs) => {
    hearOpen?.(++count)
    const place = await places.open(needs)
    const close = async () => {
      await place[Symbol.asyncDispose]()
      count -= 1
    }
    return { ...place, [Symbol.asyncDispose]: close }
  }
  const report = await evaluate(await parseEvalFile(text, "cases.yaml"), {
    ...{ path: "cases.yaml", base: data, judge: undefined, concurrency: undefined, maxCostUsd: undefined },
    ...{ filter: [], models: [], repeat: undefined, failFast: false, signal: new AbortController().signal },
    ...{ open, now: Date.now, onBegin() {}, onRun() {} },
    ...given,
  })
  return { report, data, under }
}

const unmetOf = ({ report }: Awaited<ReturnType<typeof evaluateText>>) =>
  Object.fromEntries(
    report.results.map((result) => [
      result.case,
      result.runs.flatMap(({ unmet, error }) => [
        ...(error === undefined ? [] : [`error: ${error}`]),
        ...unmet.map(({ expectation, problem }) => `${expectation}: ${problem}`),
      ]),
    ]),
  )

test("a second change of the same row ends as stale, which counts for the case; the cost of a failed case is counted", async () => {
  const { report } = await evaluateText(`
cases:
  - name: twice
    agent: analyst
    start: { database: { sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, n); INSERT INTO t VALUES (1, 5)", writable: true } }
    say: change it twice
    approve: all
    script:
      - calls:
          - { tool: change_database, arguments: { sql: "UPDATE t SET n = 6 WHERE id = 1", why: first } }
          - { tool: change_database, arguments: { sql: "UPDATE t SET n = 7 WHERE id = 1", why: second } }
      - Only the first was done.
    expect:
      proposals: [{ tool: change_database, status: applied }, { tool: change_database, status: failed }]
      rows: [{ sql: SELECT n FROM t, rows: [{ n: 6 }] }]
  - name: broken
    agent: workspace
    say: [Hi, { text: look, files: [missing.txt] }]
    script: { price: { input: 10, output: 100 }, replies: [{ says: Hello, usage: { input: 1000, output: 100 } }, Bye] }
    expect: { answer: Bye }
`)
  const [twice, broken] = report.results
  expect(twice?.runs[0]).toMatchObject({ passed: true, unmet: [] })
  expect(broken?.runs[0]).toMatchObject({ passed: false, error: expect.stringContaining("missing.txt") })
  expect(broken?.runs[0]?.spent).toMatchObject({ costUsd: 0.02, inputTokens: 1000, modelCalls: 1 })
})

test("exactly the expectations that a case does not meet are reported", async () => {
  const found = await evaluateText(`
agent: workspace
cases:
  - { name: answer, say: Hi, script: [Hello], expect: { answer: Bye } }
  - { name: calls, say: Hi, script: [Hello], expect: { calls: [list_tasks] } }
  - { name: misspelt, say: Hi, script: [Hello], expect: { calls: { none: [delet_task] } } }
  - { name: unplayed, say: Hi, script: [Hello, Hello], expect: { answer: Hello } }
  - { name: ended, say: Hi, script: [{ calls: { list_tasks: {} } }], expect: { calls: [list_tasks] } }
  - { name: rows, say: Hi, script: [Hello], expect: { rows: [{ table: tasks }] } }
  - { name: no database, say: Hi, script: [Hello], expect: { rows: [{ sql: SELECT 1, count: 1 }] } }
  - { name: judge, say: Hi, script: [Hello], expect: { judge: { rubric: polite, script: { pass: false, reason: It is rude. } } } }
  - { name: no judge, say: Hi, script: [Hello], expect: { judge: { rubric: polite, model: nobody/knows } } }
  - { name: no folder, say: Hi, script: [Hello], expect: { files: [{ path: a.txt }] } }
  - name: no query
    start: { database: { sql: CREATE TABLE t (a) } }
    say: Hi
    script: [Hello]
    expect: { rows: [{ sql: SELEC 1, count: 0 }, { sql: SELECT * FROM t, count: 1 }] }
  - name: cost
    say: Hi
    script: { price: { input: 10, output: 100 }, replies: [{ says: Hello, usage: { input: 1000, output: 100 } }] }
    expect: { limits: { costUsd: 0.0199, tokens: 1100, modelCalls: 1 } }
  - name: left
    say: "add a task: x"
    script: [{ calls: { create_task: { title: x } } }]
    expect: { proposals: [{ tool: create_task, status: applied }], ends: completed }
  - name: out of the folder
    start: { files: { ../../x: y } }
    say: Hi
    script: [Hello]
    expect: { answer: Hello }
  - name: file
    agent: files
    say: Hi
    script: [Hello]
    expect: { files: [{ path: a.txt }] }
  - name: one of two
    say: [{ text: Hi, expect: { answer: Bye } }, Bye]
    script: [Hello, Bye]
    expect: { answer: Bye }
`)
  expect(unmetOf(found)).toEqual({
    answer: ['answer: "Bye" is not in it; it says "Hello"'],
    calls: ["calls: list_tasks is missing; the calls were none"],
    misspelt: ['calls: this agent has no tool "delet_task" that it could leave alone'],
    unplayed: ["script: it has 2 replies, and was asked 1 time"],
    ended: [expect.stringContaining("ends: its run ended as failed"), "script: it has 1 reply, and was asked 2 times"],
    rows: ["rows[0]: 0 rows of tasks have {}, and at least 1 should; there are none"],
    "no database": ["rows[0]: the case has no database: start.database makes one"],
    judge: ["judge: It is rude."],
    "no judge": [expect.stringMatching(/^judge: nobody\/knows cannot be asked: ./)],
    "no folder": ["files: the case works in no folder: start.files gives it one"],
    "no query": [expect.stringMatching(/^rows\[0\]: .*SELEC/), "rows[1]: 0 rows came back, and 1 should: none"],
    cost: ["limits.costUsd: it took $0.02, and at most $0.0199 is allowed"],
    left: [
      "ends: its run ended as paused",
      'proposals: create_task (applied) is missing; the proposals were create_task {"title":"x"} (pending)',
    ],
    "out of the folder": ['error: start.files: "../../x" leads out of the folder that is worked in.'],
    file: ["files a.txt: it is not there"],
    "one of two": ['say[0].answer: "Bye" is not in it; it says "Hello"'],
  })
  expect(found.report).toMatchObject({ passed: 0, failed: 16, stopped: null })
  // The operator's own data folder was not even created, and the others were removed.
  expect(existsSync(join(found.data, "data"))).toBe(false)
  expect(readdirSync(found.under)).toEqual([])
})

test("proposals are approved, rejected and left pending as the case says, for each tool", async () => {
  const proposing = `
    say: "make it so"
    script: [{ calls: [{ tool: create_task, arguments: { title: a } }, { tool: create_note, arguments: { title: n, content: c } }] }, Done.]`
  const found = await evaluateText(`
agent: workspace
cases:
  - name: all${proposing}
    approve: all
    expect: { rows: [{ table: tasks, count: 1 }, { table: notes, count: 1 }], answer: Done }
  - name: none${proposing}
    approve: none
    expect: { rows: [{ table: tasks, count: 0 }, { table: notes, count: 0 }], answer: Done }
  - name: one${proposing}
    approve: [create_task]
    expect: { rows: [{ table: tasks, count: 1 }, { table: notes, count: 0 }], answer: Done }
  - name: each${proposing.replace(", Done.]", "]")}
    approve: { create_note: yes, create_task: leave }
    expect: { ends: paused, rows: [{ table: tasks, count: 0 }] }
`)
  expect(unmetOf(found)).toEqual({ all: [], none: [], one: [], each: [] })
})

test("a case starts with files, folders and databases that lie next to its own file", async () => {
  const base = dataFolder()
  mkdirSync(join(base, "project", "src"), { recursive: true })
  writeFileSync(join(base, "project", "src", "a.txt"), "from the folder")
  using shop = new DatabaseSync(join(base, "shop.db"))
  shop.exec("CREATE TABLE item (name TEXT); INSERT INTO item VALUES ('pen')")
  const text = `
cases:
  - name: folder
    agent: files
    start: { folder: project, files: { src/b.txt: from the case } }
    say: look
    script: [{ calls: [{ tool: read_file, arguments: { path: src/a.txt } }, { tool: read_file, arguments: { path: src/b.txt } }] }, Done.]
    expect:
      calls: { exactly: [{ tool: read_file, status: ok }, { tool: read_file, status: ok }] }
      files: [{ path: src/a.txt, matches: "^from the folder$" }, { path: src/b.txt, contains: the case }]
  - name: database
    agent: analyst
    start: { database: { file: shop.db } }
    say: look
    script: [Done.]
    expect: { rows: [{ sql: SELECT name FROM item, rows: [{ name: pen }] }, { sql: SELECT 1 WHERE 0, count: 0 }] }
  - { name: no file, agent: workspace, say: { text: Hi, files: [x.md] }, script: [x], expect: { answer: x } }
  - name: read-only
    agent: workspace
    mode: read-only
    say: add it
    script: [{ calls: { create_task: { title: x } } }, I may not.]
    expect: { calls: [{ tool: create_task, status: denied }], proposals: { exactly: [] } }
  - { name: not there, agent: files, start: { folder: nowhere }, say: Hi, script: [x], expect: { answer: x } }
`
  const found = unmetOf(await evaluateText(text, { base }))
  const nowhere = `error: start.folder: ${join(base, "nowhere")} cannot be copied (ENOENT).`
  const noFile = `error: say.files: ${join(base, "x.md")} cannot be read (ENOENT).`
  expect(found).toEqual({ folder: [], database: [], "no file": [noFile], "read-only": [], "not there": [nowhere] })
})

test("an environment that cannot be opened fails no case, and ends the evaluation", async () => {
  const text = "cases: [{ name: a, say: Hi, script: [x], expect: { answer: x } }]"
  await expect(evaluateText(text, { environment: { PAWL_PACKS: "./no-such-pack.ts" } })).rejects.toThrow("no-such-pack")
})

/** Answers chat completions: `answer` gets the whole request, and its usage is added. */
const provider = (answer: (request: string, model: string) => string) =>
  ProviderServer.open((response, { body }) => {
    const { model } = body as { model: string }
    const usage = { usage: { prompt_tokens: 1000, completion_tokens: 100 }, choices: [] }
    response.writeHead(200, { "content-type": "text/event-stream" })
    const content = answer(JSON.stringify(body), model)
    response.end(sse(chatChunk({ content }), chatChunk({}, "stop"), { ...chatChunk({}), ...usage }, "[DONE]"))
  })

async function providersFile(url: string): Promise<Record<string, string>> {
  const models = ["good", "bad", "judge", "broken"].map((id) => ({ id, price: { input: 10, output: 100 } }))
  const path = join(dataFolder(), "providers.json")
  writeFileSync(path, JSON.stringify([{ name: "mine", kind: "openai", baseUrl: `${url}/v1`, models }]))
  return { PAWL_PROVIDERS: path }
}

test("a case runs on every model, with its files and settings, and the cost of a judge is counted separately", async () => {
  const base = dataFolder()
  writeFileSync(join(base, "river.md"), "It lies on the Seine.")
  await using played = await provider((request, model) => {
    const isWhole = request.includes("on the Seine") && request.includes('"temperature":0.25')
    if (model !== "judge") return model === "good" && isWhole ? "Paris." : "Rome."
    return JSON.stringify({ reason: "as it says", pass: request.includes("Paris") })
  })
  const text = `
agent: workspace
model: [mine/good, mine/bad]
judge: mine/judge
repeat: 2
cases:
  - name: capital
    say: { text: What is the capital of France?, files: [river.md] }
    settings: { temperature: 0.25 }
    script: [Never said.]
    expect: { judge: The answer is the capital of France. }
  - { name: other, say: Hi, expect: { answer: x } }
`
  const models = ["mine/good", "mine/bad"]
  const environment = await providersFile(played.url)
  const { report } = await evaluateText(text, { base, models, filter: ["CAP"], environment })
  const told = report.results.map(({ model, passed, passedRuns, costUsd, judgeCostUsd, tokens }) => ({
    ...{ model, passed, passedRuns, costUsd, judgeCostUsd, tokens },
  }))
  const spent = { costUsd: 0.02, judgeCostUsd: 0.02, tokens: 1100 }
  expect(told).toEqual([
    { model: "mine/good", passed: true, passedRuns: 2, ...spent },
    { model: "mine/bad", passed: false, passedRuns: 0, ...spent },
  ])
  expect(report).toMatchObject({ costUsd: 0.08, judgeCostUsd: 0.08, passed: 1, failed: 1 })
  expect(report.results[1]?.runs[0]?.judged[0]).toMatchObject({
    model: "mine/judge",
    pass: false,
    reason: "as it says",
  })
})

test("no other model answers in place of the requested one", async () => {
  const asked: unknown[] = []
  await using played = await ProviderServer.open((response, { body }) => {
    asked.push((body as { model: string }).model)
    response.writeHead(401, { "content-type": "application/json" }).end('{"error":{"message":"no"}}')
  })
  const environment = { ...(await providersFile(played.url)), PAWL_FALLBACK_MODELS: "mine/good" }
  const text = "cases: [{ name: a, agent: workspace, model: mine/broken, say: Hi, expect: { answer: x } }]"
  const { report } = await evaluateText(text, { environment })
  expect(asked).toEqual(["broken"])
  expect(report.results[0]?.runs[0]?.unmet[0]?.problem).toMatch(/^its run ended as failed: auth: /)
})

test("nothing more starts after a failure, above a cost limit, and after a stop", async () => {
  const text = `
agent: workspace
concurrency: 1
cases: [a, b, c]
`.replace(
    "[a, b, c]",
    JSON.stringify(
      ["a", "b", "c"].map((name) => ({
        name,
        say: "Hi",
        script: { price: { input: 1000, output: 1000 }, replies: [{ says: name, usage: { input: 1000, output: 0 } }] },
        expect: { answer: name === "b" ? "x" : name },
      })),
    ),
  )
  const done = (report: { readonly results: readonly { readonly case: string }[] }) =>
    report.results.map((each) => each.case)
  const fast = await evaluateText(text, { failFast: true })
  expect([done(fast.report), fast.report.stopped]).toEqual([["a", "b"], "a run has failed"])
  const poor = await evaluateText(text, { maxCostUsd: 1 })
  expect([done(poor.report), poor.report.stopped]).toEqual([["a"], "$1 is spent"])
  const stopping = new AbortController()
  const stopped = await evaluateText(text, { signal: stopping.signal, onRun: () => stopping.abort() })
  expect([done(stopped.report), stopped.report.stopped]).toEqual([["a"], "it was interrupted"])
})

test("a run that is at work when evaluation stops is interrupted and does not count for its case", async () => {
  const stopping = new AbortController()
  await using played = await ProviderServer.open(() => stopping.abort()) // and never answers
  const text = "cases: [{ name: a, agent: workspace, say: Hi, expect: { answer: x } }]"
  const { report, under } = await evaluateText(text, {
    ...{ signal: stopping.signal, models: ["mine/good"], environment: await providersFile(played.url) },
  })
  expect(report).toMatchObject({ results: [], stopped: "it was interrupted" })
  expect(readdirSync(under)).toEqual([])
})

test("as many runs are at work at a time as configured, and the command line takes precedence", async () => {
  const repeated = "{ name: a, agent: workspace, repeat: 6, say: Hi, script: [x], expect: { answer: x } }"
  const seen: number[] = []
  const hearOpen = (count: number) => void seen.push(count)
  const { report } = await evaluateText(`concurrency: 5\ncases: [${repeated}]`, { concurrency: 2, hearOpen })
  expect([report.results[0]?.passedRuns, seen.length, Math.max(...seen)]).toEqual([6, 6, 2])
})

test("the judge has to be named before any request", async () => {
  const text = "cases: [{ name: a, say: Hi, script: [x], expect: { judge: polite } }]"
  await expect(evaluateText(text)).rejects.toThrow(
    'case "a", expect.judge[0]: no judge is set. Set it with --judge MODEL',
  )
})

test("an unknown agent or model is refused before any request, whatever else is in the file", async () => {
  const cases = `
cases:
  - { name: fine, agent: workspace, say: Hi, script: [Hello], expect: { answer: Hello } }
  - { name: misspelt, agent: workspace, model: ofline, say: Hi, expect: { answer: Hello } }`
  let begun = 0
  const onBegin = () => void (begun += 1)
  await expect(evaluateText(cases, { onBegin })).rejects.toThrow(/^There is no model "ofline"\./)
  await expect(evaluateText(cases, { onBegin, models: ["groq/x"] })).rejects.toThrow(/set GROQ_API_KEY/)
  const agents = cases.replace("workspace, model: ofline", "workspce, model: offline")
  await expect(evaluateText(agents, { onBegin })).rejects.toThrow(/^There is no agent "workspce"\./)
  expect(begun).toBe(0)
})
