import { describe, expect, test } from "vitest"
import type { AgentDefinition } from "../../core/engine/definition/agent.ts"
import { rebuildRequests } from "../../core/engine/rebuild/rebuild-requests.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import type { JournalEvent } from "../../core/protocol/events.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { anyDatabase } from "../support/databases.ts"
import { of } from "../support/loop/checked-world.ts"
import { grades, scores, search, source, stages } from "../support/loop/stages.ts"
import { askForSummary, talkative, talkAtLength } from "../loop/summaries.ts"
import { openWorld, type World } from "../support/loop/world.ts"
import { rebuildAll } from "./rebuild.ts"

const tools = [search(["p1", "p2"].map((id) => source(id)))]
const ROWS = { start: 1, upTo: Number.MAX_SAFE_INTEGER }

const asidesOf = async (rebuilt: ReturnType<typeof rebuildAll>) =>
  (await rebuilt).asides.map(({ beside, verdict, differences }) => [
    beside,
    verdict,
    ...differences.map(({ what }) => what),
  ])

/** Rebuilds the requests from a journal whose events were changed. */
async function tampered(world: World, id: ConversationId, change: (event: JournalEvent) => object | undefined) {
  const events = (await world.events(id)).map((event) => ({ ...event, ...change(event as JournalEvent) }))
  const { user, pawl } = world
  return rebuildRequests(events as JournalEvent[], {
    ...{ ports: pawl.ports, id, user, rows: ROWS },
    signal: new AbortController().signal,
  })
}

describe.each(anyDatabase)("model requests other than replies, on $name,", ({ create }) => {
  test("are rebuilt for stages and a title: equal for the same agent, different for other instructions or messages", async () => {
    await using place = await create()
    const script = [
      scores(95),
      calls("retrieve_chunks", { query: "p1 p2" }),
      grades(["p1", "p2"]),
      says("As [p1] says."),
    ]
    const model = scripted(...script, says("Two papers"))
    const open = (agent: Partial<AgentDefinition> = { stages }) =>
      openWorld({ url: place.url, model, tools, agent, titleModel: "scripted" })
    const begin = async () => {
      await using world = await open()
      const id = await world.begin("what do p1 and p2 say?")
      await expect.poll(async () => of(await world.events(id), "settings").length).toBe(1)
      expect(await asidesOf(rebuildAll(world, id))).toEqual([
        ["guardrail", "equal"],
        ["grading", "equal"],
        ["title", "equal"],
      ])
      const judged = (event: JournalEvent) => (event.type === "tool_end" ? { text: "", data: undefined } : undefined)
      expect(await asidesOf(tampered(world, id, judged))).toContainEqual(["grading", "differs", "question"])
      const older = (event: JournalEvent) =>
        event.type === "step" && event.asked ? { asked: { ...event.asked, question: undefined } } : undefined
      expect((await asidesOf(tampered(world, id, older)))[0]).toEqual(["guardrail", "not recorded"])
      return id
    }
    const id = await begin()
    const { guardrail, grading } = stages
    await using stricter = await open({ stages: { grading, guardrail: { ...guardrail!, instructions: "Be strict." } } })
    expect(await asidesOf(rebuildAll(stricter, id))).toEqual([
      ["guardrail", "differs", "system"],
      ["grading", "equal"],
      ["title", "equal"],
    ])
  })

  test("are rebuilt for summaries, from as much as the model could read", async () => {
    await using place = await create()
    await using world = await openWorld({ url: place.url, model: talkative() })
    const id = await talkAtLength(world, 8)
    await askForSummary(world, id)
    const { asides, requests } = await rebuildAll(world, id)
    expect(asides.length).toBeGreaterThan(1)
    expect(asides.every(({ beside, verdict }) => beside === "summary" && verdict === "equal")).toBe(true)
    expect(requests.filter(({ verdict }) => verdict === "differs")).toEqual([])

    const other = (event: JournalEvent) =>
      event.type === "message" && event.role === "user" && event.seq === 1
        ? { parts: [{ type: "text", text: "Something else." }] }
        : undefined
    expect((await asidesOf(tampered(world, id, other)))[0]).toEqual(["summary", "differs", "question"])
  })
})
