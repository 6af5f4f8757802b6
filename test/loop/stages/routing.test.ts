import { describe, expect, test } from "vitest"
import { fork } from "../../../core/engine/fork.ts"
import type { Routed, Router } from "../../../core/engine/definition/agent.ts"
import { replay } from "../../../core/engine/replay/replay.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { always, scripted, type ScriptedModel } from "../../../core/models/scripted/model.ts"
import { RouterDecision } from "../../../core/protocol/conversation/stages.ts"
import type { ConversationId } from "../../../core/protocol/ids.ts"
import { of, openChecked, resultsOf } from "../../support/loop/checked-world.ts"
import { anyDatabase } from "../../support/databases.ts"
import { dyingAt } from "../../support/loop/faults.ts"
import { Held, read, write } from "../../support/loop/tools.ts"
import { message, TurnedClock, type World, type WorldOptions } from "../../support/loop/world.ts"

const tools = [
  read("list_tasks"),
  write("add_task"),
  read("list_notes"),
  write("add_note"),
  read("list_projects"),
  read("help"),
]
const profile = (name: string, ...of: string[]) => ({
  name,
  description: `All about ${name}s.`,
  tools: of,
})
const profiles = [
  profile("task", "list_tasks", "add_task", "list_projects"),
  profile("note", "list_notes", "add_note", "list_projects"),
]
const TASKS = ["list_tasks", "add_task", "list_projects", "help", "more_tools"]
const ALL = ["list_tasks", "add_task", "list_notes", "add_note", "list_projects", "help"]

/** Chooses the profiles that the message names. */
const byName: Router = ({ words }) => {
  const found = ["task", "note"].filter((name) => words.includes(name))
  return { profiles: found, reason: "By name.", scores: {}, by: found.length > 0 ? "rules" : "unsure" }
}

/** The tools in each request to the model. */
const shown = (model: ScriptedModel) => model.received.map(({ request }) => request.tools.map(({ name }) => name))

describe.each(anyDatabase)("choosing tools on $name", ({ create }) => {
  interface Opening extends Partial<WorldOptions> {
    readonly route?: Router
  }
  const open = (url: string, model: ScriptedModel, { route = byName, ...more }: Opening = {}) =>
    openChecked({ url, model, tools, agent: { profiles, route }, ...more })
  const decisions = async (world: World, id: ConversationId) =>
    of(await world.events(id), "step").map(({ step, detail }) => {
      expect(step).toBe("routing")
      return RouterDecision.parse(detail)
    })

  test("happens once before the model is asked, is recorded, and the model gets the matching tools", async () => {
    await using place = await create()
    const model = scripted(calls("list_tasks"), says("None."))
    await using world = await open(place.url, model)
    const id = await world.begin("my tasks?")
    expect(await world.types(id)).toEqual([
      ...["conversation_started", "run_started", "message", "step", "message"],
      ...["tool_start", "tool_end", "message", "run_ended"],
    ])
    const tools = TASKS.slice(0, -1)
    expect(await decisions(world, id)).toEqual([
      { profiles: ["task"], tools, reason: "By name.", scores: {}, by: "rules", ms: expect.any(Number) },
    ])
    expect(shown(model)).toEqual([TASKS, TASKS])
  })

  test("an agent without a router works as before: no step, all tools, one request an iteration", async () => {
    await using place = await create()
    const model = scripted(calls("list_tasks"), says("None."))
    await using world = await openChecked({ url: place.url, model, tools, agent: { profiles } })
    const id = await world.begin("my tasks?")
    expect(await world.types(id)).not.toContain("step")
    expect(shown(model)).toEqual([ALL, ALL])
  })

  test("several profiles add up, and a router that is unsure shows all tools", async () => {
    await using place = await create()
    const model = scripted(always(says("Hm.")))
    await using world = await open(place.url, model)
    const id = await world.begin("a task and a note")
    await world.send(id, "nonsense")
    expect(shown(model)).toEqual([ALL, ALL])
    expect((await decisions(world, id)).map(({ by, profiles }) => [by, profiles])).toEqual([
      ["rules", ["task", "note"]],
      ["unsure", []],
    ])
  })

  test("a wrong guess loses nothing: a hidden tool works when it is called, and more_tools shows all", async () => {
    await using place = await create()
    const model = scripted(
      calls("list_notes"),
      calls("more_tools", { why: "notes" }),
      calls("list_notes"),
      says("Found."),
    )
    await using world = await open(place.url, model, { route: () => wrong })
    const id = await world.begin("what did I write?")
    expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["ok", "ok", "ok"])
    expect(shown(model)).toEqual([TASKS, TASKS, ALL, ALL])
    // The added tools stay in the requests, also for the next message.
    await using again = await open(place.url, scripted(says("Hi.")), { route: () => wrong })
    await again.send(id, "and now?")
    expect((await again.load(id)).routing).toMatchObject({ wide: true, decision: { profiles: ["task"] } })
  })
  const wrong: Routed = { profiles: ["task"], reason: "A guess.", scores: {}, by: "rules" }

  test("the last reply that may call tools gets all of them: it could not request more and then use them", async () => {
    await using place = await create()
    const model = scripted(calls("list_notes"), says("Found."))
    await using world = await open(place.url, model, { route: () => wrong })
    await world.begin("what did I write?", { maxIterations: 1 })
    expect(shown(model)).toEqual([ALL, ALL])
  })

  test("the list changes once in a conversation, whatever its subject: tools that were shown stay, in their order", async () => {
    await using place = await create()
    const model = scripted(always(says("Hm.")))
    await using world = await open(place.url, model)
    const id = await world.begin("my tasks")
    for (const words of ["a task", "the note", "my tasks", "nonsense", "task"]) await world.send(id, words)
    expect(shown(model)).toEqual([TASKS, TASKS, ALL, ALL, ALL, ALL])
    const again = scripted(always(says("Hm.")))
    await using restarted = await open(place.url, again)
    await restarted.send(id, "a task")
    expect(shown(again)).toEqual([ALL])
  })

  test("the tools of the last reply of a run stay in later requests, whether it called one or not", async () => {
    await using place = await create()
    const model = scripted(calls("list_tasks"), says("One."), says("Two."))
    await using world = await open(place.url, model, { route: () => wrong })
    const id = await world.begin("task", { maxIterations: 2 })
    await world.send(id, "task")
    expect(shown(model)).toEqual([TASKS, ALL, ALL])
  })

  test("read-only hides writes as before, and more_tools counts as a read", async () => {
    await using place = await create()
    const model = scripted(calls("more_tools"), says("Read only."))
    await using world = await open(place.url, model)
    await world.begin("task", { mode: "read-only" })
    expect(shown(model)).toEqual([
      ["list_tasks", "list_projects", "help", "more_tools"],
      ["list_tasks", "list_notes", "list_projects", "help"],
    ])
  })

  test("a steered message gets a decision too, and the tools of the first one stay", async () => {
    await using place = await create()
    const slow = new Held()
    const model = scripted(calls("help"), says("Both."))
    const held = [...tools.filter(({ name }) => name !== "help"), read("help", slow.run)]
    await using world = await open(place.url, model, { tools: held })
    const { id } = await world.start("a task")
    await slow.begun
    await world.pawl.runtime.submit(id, message("and a note", { when: "steer" }))
    slow.end("helped")
    await world.pawl.runtime.rest(id)
    expect((await decisions(world, id)).map(({ profiles }) => profiles)).toEqual([["task"], ["task", "note"]])
    expect(shown(model)).toEqual([TASKS, ALL])
  })

  // The writes: the conversation with its message, the decision, the reply.
  test.each([
    { at: 2, when: "before", asked: 2 },
    { at: 2, when: "after", asked: 1 },
    { at: 3, when: "before", asked: 1 },
    { at: 3, when: "after", asked: 1 },
  ] as const)("a crash $when write $at: a recorded decision is not made again", async ({ asked, ...death }) => {
    await using place = await create()
    const heard: string[] = []
    const route: Router = ({ words }) => {
      heard.push(words)
      // It would decide differently the second time: the recorded decision must hold.
      return { ...wrong, profiles: [heard.length === 1 ? "task" : "note"] }
    }
    const clock = new TurnedClock()
    const first = scripted(always(says("Hi.")))
    let id: ConversationId
    {
      const between = (journal: Parameters<typeof dyingAt>[1]) => dyingAt(death, journal)
      await using world = await open(place.url, first, { route, between, clock })
      id = (await world.start("go")).id
      await world.pawl.runtime.rest(id)
      world.store.journal.drop(id)
      // Checked when the second process has ended.
      Object.assign(world, {
        [Symbol.asyncDispose]: () => world.pawl[Symbol.asyncDispose]().then(() => world.store[Symbol.asyncDispose]()),
      })
    }
    await clock.turn(60_000)
    const second = scripted(always(says("Hi.")))
    await using world = await open(place.url, second, { route, clock })
    await world.pawl.runtime.recover()
    await world.pawl.runtime.rest(id)
    expect(heard).toHaveLength(asked)
    expect(await decisions(world, id)).toMatchObject([{ profiles: [asked === 1 ? "task" : "note"] }])
    expect((await world.load(id)).run?.status).toBe("completed")
    const lists = [...shown(first), ...shown(second)]
    for (const list of lists) expect(list).toEqual(lists[0])
  })

  test("a router that throws, returns nonsense or hangs counts as unsure, and the run continues", async () => {
    await using place = await create()
    const clock = new TurnedClock()
    const answers: (() => unknown)[] = [
      () => {
        throw new Error("broken")
      },
      () => undefined,
      () => ({ profiles: ["nobody", 7], scores: { task: Number.NaN, eve: 1 }, by: "rules", reason: 1 }),
      () => ({ profiles: "task", by: "magic" }),
      () => new Promise(() => {}),
    ]
    const model = scripted(always(says("Hi.")))
    await using world = await open(place.url, model, { clock, route: (() => answers.shift()?.()) as never })
    const id = await world.begin("one")
    for (const words of ["two", "three", "four"]) await world.send(id, words)
    await world.pawl.runtime.submit(id, message("five"))
    await new Promise((resolve) => setImmediate(resolve))
    await clock.turn(1000)
    await world.pawl.runtime.rest(id)
    expect(await decisions(world, id)).toMatchObject(
      Array(5).fill({ by: "unsure", profiles: [], tools: ALL, scores: {} }),
    )
    expect(shown(model)).toEqual(Array(5).fill(ALL))
    expect(world.problems.splice(0)).toMatchObject([{ event: "route_failed" }])
  })

  const hangs = () => {
    const { promise: hanging, resolve } = Promise.withResolvers<void>()
    const route: Router = () => {
      resolve()
      return new Promise(() => {})
    }
    return { hanging, route }
  }

  test("a cancel does not wait for a router", async () => {
    await using place = await create()
    const { hanging, route } = hangs()
    await using world = await open(place.url, scripted(), { route, clock: new TurnedClock() })
    const { id } = await world.start("a task")
    await hanging
    await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
    await world.pawl.runtime.rest(id)
    expect((await world.load(id)).run?.status).toBe("cancelled")
  })

  test("a shutdown does not wait for a router; it is asked again after the restart", async () => {
    await using place = await create()
    const { hanging, route } = hangs()
    let id: ConversationId
    {
      await using world = await open(place.url, scripted(), { route, clock: new TurnedClock() })
      id = (await world.start("a task")).id
      await hanging
    }
    await using world = await open(place.url, scripted(says("Hi.")))
    await world.pawl.runtime.recover()
    await world.pawl.runtime.rest(id)
    expect(await decisions(world, id)).toMatchObject([{ profiles: ["task"], by: "rules" }])
  })

  test("a cancelled run that is resumed uses the recorded decision", async () => {
    await using place = await create()
    let asked = 0
    const route: Router = (routing, signal) => {
      asked++
      return byName(routing, signal)
    }
    const slow = new Held()
    const model = scripted(calls("help"), says("Done."))
    const held = [...tools.filter(({ name }) => name !== "help"), read("help", slow.run)]
    await using world = await open(place.url, model, { route, tools: held })
    const { id } = await world.start("a task")
    await slow.begun
    await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
    await world.pawl.runtime.rest(id)
    await world.pawl.runtime.submit(id, { type: "resume", by: world.user })
    await world.pawl.runtime.rest(id)
    expect(asked).toBe(1)
    expect(shown(model)).toEqual([TASKS, TASKS])
  })

  test("is read off the journal at any position, is copied by a fork, and is not sent to the model", async () => {
    await using place = await create()
    const model = scripted(calls("more_tools"), says("Hi."), says("Ho."))
    await using world = await open(place.url, model)
    const id = await world.begin("a task")
    const events = await world.events(id)
    const at = (position: number) => replay(id, world.user, events.slice(0, position)).routing
    expect(
      [3, 4, 5, 7, 9].map((position) => [at(position).pending, at(position).decision?.profiles, at(position).wide]),
    ).toEqual([
      [true, undefined, false],
      [false, ["task"], false],
      [false, ["task"], false],
      [false, ["task"], true],
      [false, ["task"], true],
    ])
    const forked = await fork(world.pawl.ports, id, 4)
    expect((await world.load(forked.id)).routing).toEqual({
      decision: at(4).decision,
      pending: false,
      shown: TASKS.slice(0, -1),
      wide: false,
    })
    await world.pawl.runtime.submit(forked.id, { type: "resume", by: world.user })
    await world.pawl.runtime.rest(forked.id)
    expect(shown(model).at(-1)).toEqual(TASKS)
    expect(model.received.map(({ history }) => history.map(({ role }) => role))).toEqual([
      ["user"],
      ["user", "assistant", "tool"],
      ["user"],
    ])
  })
})
