import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { answer } from "../../core/engine/definition/tool.ts"
import { fork } from "../../core/engine/fork.ts"
import { calls, replies, says, scripted } from "../../core/testing.ts"
import { rootIdOf, traceIdOf } from "../../core/telemetry/span.ts"
import { read, write } from "../support/loop/tools.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { OtlpReceiver, treeOf } from "./otlp-receiver.ts"
import { ask, decide, openExporting, runOf } from "./exporting-server.ts"

const page = readFileSync(join(import.meta.dirname, "../../docs/reference/traces.md"), "utf8")
const documented = /```text tree\n([\s\S]*?)\n```/.exec(page)?.[1]?.split("\n")

const tools = [read("look", () => answer("a private result")), write("save")]
const story = () =>
  scripted(
    replies(says("Looking."), calls("look", { q: "secret words" })),
    calls("save", { q: "secret words" }),
    says("All done."),
  )

test.each(["http/json", "http/protobuf"] as const)(
  "a run with a tool and a write that waits for its person is one tree, over %s, without the text of messages",
  async (protocol) => {
    await using receiver = await OtlpReceiver.open()
    const telemetry = { protocol, headers: { "x-key": "k" }, resource: { "deployment.environment.name": "test" } }
    const server = await openExporting({ model: story(), tools, receiver: receiver.url, telemetry })
    const id = await ask(server, "My question.")
    const run = await runOf(server, id)
    await decide(server, id, "commit")
    await server.close()

    const { spans, requests } = receiver
    expect(requests[0]).toMatchObject({ path: "/v1/traces", headers: { "x-key": "k" } })
    expect(requests[0]?.traces.resource).toMatchObject({
      "service.name": "pawl",
      "deployment.environment.name": "test",
    })
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([traceIdOf(run)]))
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)

    const [commits, rest] = [spans.filter(isCommit), spans.filter((span) => !isCommit(span))]
    expect(treeOf(rest)).toEqual(documented)
    const events = eventsOf(commits)
    expect(commits.every(({ parentId }) => parentId === rootIdOf(run))).toBe(true)
    expect(events).toBeGreaterThan(8)

    const named = (name: string) => rest.find((span) => span.name === name)
    expect(named("invoke_agent test")?.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "test",
      "gen_ai.conversation.id": id,
      "pawl.run.id": run,
      "pawl.run.status": "completed",
    })
    expect(named("chat scripted")).toMatchObject({
      kind: 3,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "scripted",
        "gen_ai.response.finish_reasons": ["tool_call"],
        "gen_ai.response.time_to_first_chunk": expect.any(Number),
      },
    })
    expect(named("execute_tool look")?.attributes).toMatchObject({
      "gen_ai.tool.name": "look",
      "pawl.tool.status": "ok",
    })
    expect(named("wait proposal")?.attributes).toMatchObject({
      "gen_ai.tool.name": "save",
      "pawl.proposal.outcome": "commit",
    })
    expect(JSON.stringify(requests)).not.toMatch(/secret words|My question|All done|private result/)
    for (const span of rest) expect(span.to).toBeGreaterThanOrEqual(span.from)
  },
)

const isCommit = ({ name }: { readonly name: string }) => name === "store commit"
const eventsOf = (commits: readonly { readonly attributes: Readonly<Record<string, unknown>> }[]) =>
  commits.reduce((sum, { attributes }) => sum + Number(attributes["pawl.commit.events"]), 0)

test("messages are exported if the operator enables content", async () => {
  await using receiver = await OtlpReceiver.open()
  const server = await openExporting({ model: story(), tools, receiver: receiver.url, telemetry: { content: true } })
  await ask(server, "My question.")
  await server.close()
  const told = (name: string) => receiver.spans.find((span) => span.name === name)?.attributes
  expect(told("chat scripted")).toMatchObject({
    "gen_ai.input.messages": expect.stringContaining("My question."),
    "gen_ai.output.messages": expect.stringContaining("Looking."),
  })
  expect(told("execute_tool look")).toMatchObject({
    "gen_ai.tool.call.arguments": '{"q":"secret words"}',
    "gen_ai.tool.call.result": "a private result",
  })
})

test("a sampling ratio of zero exports nothing, and reads nothing", async () => {
  await using receiver = await OtlpReceiver.open()
  const server = await openExporting({ model: story(), tools, receiver: receiver.url, telemetry: { share: 0 } })
  await ask(server, "My question.")
  await server.close()
  expect(receiver.requests).toEqual([])
})

test("a receiver that never answers delays neither a run nor the end of the server", async () => {
  const clock = new TurnedClock()
  await using receiver = await OtlpReceiver.open(() => {}) // hears, and never answers
  const telemetry = { timeoutMs: 3_600_000 }
  const server = await openExporting({ model: story(), tools, receiver: receiver.url, clock, telemetry })
  const id = await ask(server, "My question.")
  expect((await server.store.journal.load(id, true)).run?.status).toBe("running") // it waits for its person
  const closed = server.close()
  await receiver.told(() => true)
  await clock.turn(3000)
  await closed
})

test("a fork begins with copies: a span that was exported once is not exported again", async () => {
  await using receiver = await OtlpReceiver.open()
  const server = await openExporting({ model: scripted(says("One."), says("Two.")), receiver: receiver.url })
  const id = await ask(server, "First.")
  const { position } = await server.store.journal.load(id, true)
  await fork(server.pawl.ports, id, position)
  await server.close()
  expect(receiver.spans.filter(({ name }) => name === "invoke_agent test")).toHaveLength(1)
  expect(new Set(receiver.spans.map(({ spanId }) => spanId)).size).toBe(receiver.spans.length)
})
