import { describe, expect, test } from "vitest"
import type { ModelRequest, ReplyPart } from "../../../core/engine/model.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { databasesInTurn } from "../../support/databases.ts"
import { Face } from "../../support/server/face.ts"
import { COST, Priced, USAGE } from "../../support/loop/priced.ts"
import { grades, scores, search, source, stages } from "../../support/loop/stages.ts"

const tools = [search([source("p1"), source("p2")])]
const story = () => [
  scores(95),
  calls("retrieve_chunks", { query: "p1 p2" }),
  grades(["p1"], ["p2"]),
  says("See [p1] and [p9]."),
]
const enough = { ...stages, grading: { ...stages.grading!, enough: 1 } }

describe.each(databasesInTurn(import.meta.filename))("an agent with stages over HTTP on $name", ({ create }) => {
  test("streams its steps by name, and reports the same in the state and with the answer", async () => {
    await using database = await create()
    await using face = await Face.open({
      url: database.url,
      model: scripted(...story()),
      tools,
      agent: { stages: enough },
    })
    const ada = await face.as("ada")
    const ops = await face.as("ops", "admin")
    const id = await ada.begin({ agent: "test" })
    const { body } = await ada.say(id, "what is known?")
    const last = body.messages.at(-1)
    expect(last.data).toMatchObject({ kind: "citations", citations: [{ source: "p1" }, { problem: "unknown_source" }] })

    const { body: state } = await ada.get(`/api/conversations/${id}/state`)
    expect(state).toMatchObject({
      guardrail: { verdict: "in_scope", score: 95 },
      grading: { evidence: "enough", kept: ["p1"], dropped: ["p2"] },
      routerDecision: { action: "answer" },
      sources: ["p1", "p2"],
    })
    const then = (await ada.get(`/api/conversations/${id}/state?at=6`)).body
    expect(then).toMatchObject({
      guardrail: { verdict: "in_scope" },
      grading: null,
      routerDecision: { action: "call", tool: "retrieve_chunks" },
    })

    const { text } = await ops.get("/metrics")
    for (const line of [
      'pawl_guardrail_verdicts_total{verdict="in_scope"} 1',
      'pawl_router_choices_total{action="call",tool="retrieve_chunks"} 1',
      'pawl_router_choices_total{action="answer",tool="none"} 1',
      'pawl_grades_total{relevant="true"} 1',
      'pawl_citations_total{is="flagged"} 1',
    ]) {
      expect(text).toContain(line)
    }
    expect(text).toMatch(/pawl_tool_duration_seconds_count\{tool="retrieve_chunks"\} 1/)
  })

  test("counts what its judges cost with the run and the person", async () => {
    await using database = await create()
    await using face = await Face.open({
      url: database.url,
      model: new Judge(),
      tools,
      agent: { stages: enough },
      ceilings: { dailyUsd: 10 },
    })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const { body } = await ada.say(id, "what is known?")
    expect(body.run.usage).toMatchObject({ inputTokens: 2 * 1000, cost: 2 * COST })
    const { body: usage } = await ada.get("/api/usage")
    expect(usage.totals).toMatchObject({ calls: 2, cost: 2 * COST })
  })

  test("asks neither a judge nor a model if the budget is used up", async () => {
    await using database = await create()
    const model = new Judge()
    const ceilings = { dailyUsd: 0.000_001 }
    await using face = await Face.open({ url: database.url, model, tools, agent: { stages: enough }, ceilings })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const { body } = await ada.say(id, "what is known?")
    expect(body.run).toMatchObject({ status: "failed", error: { code: "over_budget" } })
    expect((await ada.get(`/api/conversations/${id}/state`)).body.guardrail).toMatchObject({
      verdict: "open",
      problem: "over_budget",
    })
    expect(model.requests).toEqual([])
  })
})

/** Lets every question pass, and reports a cost. */
class Judge extends Priced {
  override async *stream(request: ModelRequest): AsyncGenerator<ReplyPart> {
    this.requests.push(request)
    yield { type: "text", text: request.answers ? JSON.stringify({ score: 100, reason: "Fine." }) : "Hello." }
    yield { type: "finish", finish: "stop", usage: USAGE }
  }
}
