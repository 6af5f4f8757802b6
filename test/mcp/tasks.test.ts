import { describe, expect, test } from "vitest"
import type { Journal } from "../../core/engine/journal.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { anyDatabase, databasesInTurn } from "../support/databases.ts"
import { of } from "../support/loop/checked-world.ts"
import { dyingAt } from "../support/loop/faults.ts"
import { TurnedClock, type World } from "../support/loop/world.ts"
import { openMcpWorld, servers } from "./mcp-world.ts"
import { TaskServer } from "./task-server.ts"

const named = (server: TaskServer, more: object = {}) =>
  servers({ mine: { url: server.played.url, data: "public", ...more } })
const reads = { tools: { "*": "read" } }
/** Calls the tool, and answers once there is a result. */
const dig = () =>
  scripted(always(({ history }) => (history.at(-1)?.role === "user" ? calls("mine__dig", {}) : says("Done."))))
const rows = async (world: World, id: ConversationId) =>
  (await world.events(id)).map((event) => (event.type === "step" ? event.step : event.type))
const ends = async (world: World, id: ConversationId) => of(await world.events(id), "tool_end")

async function commit(world: World, id: ConversationId): Promise<void> {
  const open = (await world.proposals(id)).filter(({ status }) => status === "pending")
  for (const { proposed } of open) await world.decide(id, proposed.id, "commit")
}

/** Advances the clock by polling intervals until nothing runs any more. */
async function passing(clock: TurnedClock, world: World, id: ConversationId): Promise<void> {
  let isOver = false
  const rest = world.pawl.runtime.rest(id).finally(() => (isOver = true))
  while (!isOver) {
    await clock.turn(30_000)
    await new Promise(setImmediate)
  }
  await rest
}

describe.each(anyDatabase)("tools that are tasks, on $name", ({ create }) => {
  test("are called as tasks, and their id is recorded before they are waited for", async () => {
    await using place = await create()
    await using server = await TaskServer.open()
    await using world = await openMcpWorld(named(server, reads), { url: place.url, model: dig() })
    const id = await world.begin("Dig.")
    expect(server.played.calls).toMatchObject([{ name: "dig", task: { ttl: 3_660_000 } }])
    expect(await ends(world, id)).toMatchObject([{ status: "ok", text: "Dug by task-1.", brings: "outside" }])
    expect((await rows(world, id)).slice(-5)).toEqual(["tool_start", "kept", "tool_end", "message", "run_ended"])
    expect(world.problems).toEqual([])
  })

  test("may take longer than the limit of a run, and are polled as often as they request", async () => {
    await using place = await create()
    await using server = await TaskServer.open()
    server.begins = "working"
    const clock = new TurnedClock()
    const limits = { runSeconds: 180, restarts: 3, replyCharacters: 1000 }
    await using world = await openMcpWorld(named(server, reads), { url: place.url, model: dig(), clock, limits })
    const { id } = await world.start("Dig.")
    await server.next("tasks/get")
    const asked = server.count("tasks/get")
    await clock.turn(400) // it requires a second between two
    expect(server.count("tasks/get")).toBe(asked)
    await clock.advance(600_000)
    server.tasks.set("task-1", "completed")
    await passing(clock, world, id)
    expect(await ends(world, id)).toMatchObject([{ status: "ok", text: "Dug by task-1." }])
    expect((await world.load(id)).run).toMatchObject({ status: "completed" })
  })

  test("that never end fail one call: a write is in doubt, a read an error, and each is cancelled", async () => {
    await using place = await create()
    await using server = await TaskServer.open()
    server.begins = "working"
    const clock = new TurnedClock()
    const forever = { url: place.url, clock }
    await using reading = await openMcpWorld(named(server, { ...reads, taskSeconds: 100 }), {
      ...forever,
      model: dig(),
    })
    const { id: read } = await reading.start("Dig.")
    await passing(clock, reading, read)
    expect(await ends(reading, read)).toMatchObject([
      { status: "error", text: expect.stringMatching(/exceeded its time limit/) },
    ])
    expect([...server.tasks.values()]).toEqual(["cancelled"])

    await using writing = await openMcpWorld(named(server, { taskSeconds: 100 }), { ...forever, model: dig() })
    const write = await writing.begin("Dig.")
    const decided = commit(writing, write)
    await server.next("tasks/get")
    await passing(clock, writing, write)
    await decided
    expect((await writing.load(write)).calls).toMatchObject([{ state: "in_doubt" }])
    expect(server.count("tools/call")).toBe(2)
  })

  test("are waited for no longer than their server stores them", async () => {
    await using place = await create()
    await using server = await TaskServer.open()
    Object.assign(server, { begins: "working", ttl: 5000 })
    const clock = new TurnedClock()
    await using world = await openMcpWorld(named(server, reads), { url: place.url, model: dig(), clock })
    const { id } = await world.start("Dig.")
    await server.next("tasks/get")
    await clock.turn(5000)
    await passing(clock, world, id)
    expect((await world.load(id)).at - (await world.events(id))[0]!.at).toBeLessThan(60_000)
    expect(await ends(world, id)).toMatchObject([{ status: "error" }])
  })

  test("are cancelled with their run", async () => {
    await using place = await create()
    await using server = await TaskServer.open()
    server.begins = "working"
    await using world = await openMcpWorld(named(server, reads), { url: place.url, model: dig() })
    const { id } = await world.start("Dig.")
    await server.next("tasks/get")
    const cancelled = server.next("tasks/cancel")
    await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
    await world.pawl.runtime.rest(id)
    await cancelled
    expect(await ends(world, id)).toMatchObject([{ status: "cancelled" }])
  })

  test("continue if a process shuts down, and are not cancelled by that", async () => {
    await using place = await create()
    await using server = await TaskServer.open()
    server.begins = "working"
    let id: ConversationId
    {
      await using world = await openMcpWorld(named(server), { url: place.url, model: dig() })
      id = await world.begin("Dig.")
      const decided = commit(world, id).catch(() => {})
      await server.next("tasks/get")
      await world.pawl.runtime.close()
      await decided
    }
    expect(server.count("tasks/cancel")).toBe(0)
    server.tasks.set("task-1", "completed")
    await using world = await openMcpWorld(named(server), { url: place.url, model: scripted(says("Done.")) })
    await world.pawl.runtime.recover()
    await world.pawl.runtime.rest(id)
    expect(await ends(world, id)).toMatchObject([{ status: "ok", text: "Dug by task-1." }])
    expect(server.count("tools/call")).toBe(1)
  })

  test("of a server that no longer supports tasks are in doubt if they write, and not called a second time", async () => {
    await using place = await create()
    await using server = await TaskServer.open()
    server.begins = "working"
    let id: ConversationId
    {
      await using world = await openMcpWorld(named(server), { url: place.url, model: dig() })
      id = await world.begin("Dig.")
      const decided = commit(world, id).catch(() => {})
      await server.next("tasks/get")
      await world.pawl.runtime.close()
      await decided
    }
    server.played.capabilities = {}
    await using world = await openMcpWorld(named(server), { url: place.url, model: scripted(says("Done.")) })
    await world.pawl.runtime.recover()
    await world.pawl.runtime.rest(id)
    expect(server.count("tools/call")).toBe(1)
    expect((await world.load(id)).calls).toMatchObject([{ state: "in_doubt" }])
  })

  test("that their server has forgotten are in doubt if they write, and called again if they only read", async () => {
    await using place = await create()
    await using server = await TaskServer.open()
    for (const more of [{}, reads]) {
      server.begins = "working"
      let id: ConversationId
      {
        await using world = await openMcpWorld(named(server, more), { url: place.url, model: dig() })
        ;({ id } = await world.start("Dig."))
        const asked = server.next("tasks/get")
        if (more !== reads) {
          await world.pawl.runtime.rest(id)
          void commit(world, id).catch(() => {})
        }
        await asked
        await world.pawl.runtime.close()
      }
      server.tasks.clear()
      server.begins = "completed"
      await using world = await openMcpWorld(named(server, more), { url: place.url, model: scripted(says("Done.")) })
      await world.pawl.runtime.recover()
      await world.pawl.runtime.rest(id)
      if (more === reads) expect(await ends(world, id)).toMatchObject([{ status: "ok", text: "Dug by task-1." }])
      else expect((await world.load(id)).calls).toMatchObject([{ state: "in_doubt" }])
    }
    expect(server.count("tools/call")).toBe(3)
  })
})

describe.each(databasesInTurn(import.meta.filename))("a task whose process is killed, on $name", ({ create }) => {
  // The decision is the fifth write; then the start, the task id, and the result.
  const fatal = [5, 6, 7, 8].flatMap((at) => [
    { at, when: "before" as const },
    { at, when: "after" as const },
  ])

  test("starts once, whichever write was the last; once its id is recorded, nothing is in doubt", async () => {
    await using place = await create()
    const became: string[] = []
    for (const death of fatal) {
      await using server = await TaskServer.open()
      let journal: ReturnType<typeof dyingAt> | undefined
      let id: ConversationId
      {
        const between = (real: Journal) => (journal = dyingAt(death, real))
        await using world = await openMcpWorld(named(server), { url: place.url, model: dig(), between })
        id = await world.begin("Dig.")
        await commit(world, id).catch(() => {})
      }
      expect(journal?.dead, `write ${death.at}`).toBe(true)
      await using world = await openMcpWorld(named(server), { url: place.url, model: dig() })
      await world.pawl.runtime.recover()
      await world.pawl.runtime.rest(id)
      await commit(world, id)
      const { calls: open } = await world.load(id)
      const [end] = await ends(world, id)
      const hasKept = (await rows(world, id)).includes("kept")
      became.push(`${death.at} ${death.when}: ${end?.status ?? open[0]?.state}`)
      if (hasKept) expect(end, `write ${death.at}`).toMatchObject({ status: "ok", text: "Dug by task-1." })
      expect(server.count("tools/call"), `write ${death.at}`).toBeLessThanOrEqual(1)
      expect(world.problems).toEqual([])
    }
    // Between the call and the record of its id the outcome is unknown; from there on the task is polled.
    expect(became.map((each) => each.split(": ")[1])).toEqual([
      ...["ok", "ok", "ok", "in_doubt"],
      ...["in_doubt", "ok", "ok", "ok"],
    ])
  })
})
