import { describe, expect, test } from "vitest"
import type { AgentDefinition } from "../../core/engine/definition/agent.ts"
import { answer } from "../../core/engine/definition/tool.ts"
import {
  askWithoutEffects,
  callsAgree,
  rebuildRequests,
  toComparedReply,
} from "../../core/engine/rebuild/rebuild-requests.ts"
import { fork } from "../../core/engine/fork.ts"
import { calls, replies, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import type { JournalEvent, UnknownEvent } from "../../core/protocol/events.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { anyDatabase } from "../support/databases.ts"
import { read } from "../support/loop/tools.ts"
import { openWorld, type World } from "../support/loop/world.ts"
import { rebuildAll } from "./rebuild.ts"

const look = read("look", () => answer("found it"))
const ROWS = { start: 1, upTo: Number.MAX_SAFE_INTEGER }
const NEVER = new AbortController().signal

/** Messages of the second request: text, a reply with a call, its result. */
const script = () => scripted(calls("look", { q: "1" }), says("It is there."), says("Yes."))

const rebuildOf = (world: World, id: ConversationId, events: readonly (JournalEvent | UnknownEvent)[]) =>
  rebuildRequests(events, { ports: world.pawl.ports, id, user: world.user, rows: ROWS, signal: NEVER })

const verdicts = async (rebuilt: ReturnType<typeof rebuildOf>) =>
  (await rebuilt).requests.map(({ verdict, differences }) => [verdict, ...differences])

describe.each(anyDatabase)("on $name", ({ create }) => {
  test.each<[string, Partial<AgentDefinition>, unknown[]]>([
    ["instructions", { instructions: "Be exacter." }, [{ what: "system" }]],
    ["tools", { tools: [look, read("find")] }, [{ what: "tools" }]],
    ["settings", { settings: { temperature: 0.5 } }, [{ what: "options" }]],
    ["limit of calls", { maxIterations: 5 }, []],
  ])("an agent with other %s sends other requests, and the report shows what differs", async (_, agent, expected) => {
    await using database = await create()
    const begin = async () => {
      await using world = await openWorld({ url: database.url, model: script(), tools: [look] })
      return await world.begin("Look.")
    }
    const id = await begin()
    await using world = await openWorld({ url: database.url, model: script(), tools: [look], agent })
    const verdict = expected.length > 0 ? ["differs", ...expected] : ["equal"]
    expect(await verdicts(rebuildAll(world, id))).toEqual([verdict, verdict])
  })

  test("a reducer that gives the model other text is detected, with the first message that differs", async () => {
    await using database = await create()
    await using world = await openWorld({ url: database.url, model: script(), tools: [look] })
    const id = await world.begin("Look.")
    await world.send(id, "Sure?")
    const events = await world.events(id)
    const told = (type: string, change: object) =>
      verdicts(
        rebuildOf(
          world,
          id,
          events.map((event) => (event.type === type ? { ...event, ...change } : event)) as JournalEvent[],
        ),
      )
    expect(await told("nothing", {})).toEqual([["equal"], ["equal"], ["equal"]])
    const result = { what: "message", from: 3, to: 3, role: "tool" }
    expect(await told("tool_end", { text: "found it!" })).toEqual([
      ["equal"],
      ["differs", result],
      ["differs", { ...result, from: 2, to: 4, role: "assistant" }],
    ])
  })

  test("an agent that would first take another step is reported with that step", async () => {
    await using database = await create()
    const begin = async () => {
      await using world = await openWorld({ url: database.url, model: script(), tools: [look] })
      return await world.begin("Look.")
    }
    const id = await begin()
    const route = () => Promise.reject(new Error("nobody asks it"))
    const agent = { route: route as never, profiles: [{ name: "all", description: "", tools: ["look"] }] as never }
    await using world = await openWorld({ url: database.url, model: script(), tools: [look], agent })
    expect((await verdicts(rebuildAll(world, id)))[0]).toEqual(["differs", { what: "step", step: "route" }])
  })

  test("requests from before digests were stored are reported as not recorded, also in a copy", async () => {
    await using database = await create()
    await using world = await openWorld({ url: database.url, model: script(), tools: [look] })
    const id = await world.begin("Look.")
    const events = (await world.events(id)).map((event) => ({ ...event, request: undefined })) as JournalEvent[]
    expect(await verdicts(rebuildOf(world, id, events))).toEqual([["not recorded"], ["not recorded"]])
    const copy = await fork(world.pawl.ports, id, events.length)
    expect(await verdicts(rebuildAll(world, copy.id))).toEqual([["not recorded"], ["not recorded"]])
  })

  test("a row of a newer Pawl is not reduced: the rows before it are compared, and no more", async () => {
    await using database = await create()
    await using world = await openWorld({ url: database.url, model: script(), tools: [look] })
    const id = await world.begin("Look.")
    const events = await world.events(id)
    const at = events.findIndex(({ type }) => type === "tool_end")
    const newer = events.with(at, { ...events[at], version: 2 } as never)
    const rebuilt = await rebuildOf(world, id, newer)
    expect(rebuilt.newer).toMatchObject({ position: events[at]?.position, type: "tool_end" })
    expect(rebuilt.requests.map(({ verdict }) => verdict)).toEqual(["equal"])
  })

  test("a missing row ends the comparison, whatever rows follow", async () => {
    await using database = await create()
    await using world = await openWorld({ url: database.url, model: script(), tools: [look] })
    const id = await world.begin("Look.")
    const events = await world.events(id)
    const at = events.findIndex(({ type }) => type === "tool_end")
    const rebuilt = await rebuildOf(world, id, events.toSpliced(at, 1))
    expect(rebuilt.missing).toBe(events[at]?.position)
    expect(rebuilt.requests.map(({ verdict }) => verdict)).toEqual(["equal"])
  })

  test("another model gets the recorded results, runs no tool, and is stopped if it makes another call", async () => {
    await using database = await create()
    let looked = 0
    const tool = read("look", () => answer(`found it ${++looked}`))
    await using world = await openWorld({ url: database.url, model: script(), tools: [tool] })
    const id = await world.begin("Look.")
    const before = await world.events(id)
    const other = scripted(
      calls("look", { q: "1" }),
      replies(says("I look again."), calls("look", { q: "2" })),
      says("Never asked."),
    )
    const agreed: boolean[] = []
    await rebuildRequests(before, {
      ...{ ports: world.pawl.ports, id, user: world.user, rows: ROWS, signal: NEVER, model: other },
      async look({ reply, request }) {
        const said = await askWithoutEffects(other, request!, { user: world.user, signal: NEVER })
        agreed.push(callsAgree(toComparedReply(reply.parts), said))
        return agreed.at(-1) ? "continue" : "stop"
      },
    })
    expect(agreed).toEqual([true, false])
    expect(other.received.map(({ history }) => history.length)).toEqual([1, 3])
    expect(looked).toBe(1)
    expect(await world.events(id)).toEqual(before)
  })
})
