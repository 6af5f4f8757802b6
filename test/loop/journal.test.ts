import { describe, expect, test } from "vitest"
import { type Conversation, conversationStatus, pauseReason, runStatus } from "../../core/engine/conversation.ts"
import { fork } from "../../core/engine/fork.ts"
import type { ModelRequest } from "../../core/engine/model.ts"
import { replay } from "../../core/engine/replay/replay.ts"
import { calls, hangs, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { JournalEvent } from "../../core/protocol/events.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { beginUntil, of, openChecked, repliesOf, resultsOf, showsText } from "../support/loop/checked-world.ts"
import { databases } from "../support/databases.ts"
import { Held, read, write } from "../support/loop/tools.ts"
import { message, TurnedClock, type World } from "../support/loop/world.ts"

/** Follows the last message; after results it is done. */
function obey({ history }: ModelRequest) {
  const last = history.at(-1)
  if (last?.role !== "user") return says("Done.")
  if (last.text === "Read and write.") return calls(["look"], ["note", { q: "a" }], ["note", { q: "b" }])
  if (last.text === "Write.") return calls("note", { q: "c" })
  if (last.text === "Write slowly.") return calls("slow_note")
  if (last.text === "Speak.") return hangs("Once upon")
  return says(`To: ${last.text}`)
}

const stateOf = (conversation: Conversation) =>
  [conversationStatus(conversation), runStatus(conversation), pauseReason(conversation), conversation.mode].join()

/** Runs a conversation through every state of a call. */
async function liveThrough(world: World, id: ConversationId, { clock, slow }: { clock: TurnedClock; slow: Held }) {
  const { runtime } = world.pawl
  const by = world.user
  const first = async () => (await world.proposals(id))[0]!.proposed.id
  await world.send(id, "Read and write.")
  await world.decide(id, await first(), "commit")
  await world.decide(id, await first(), "reject", "no b")
  await world.send(id, "Write.")
  await runtime.submit(id, { type: "edit", proposalId: await first(), arguments: { q: "d" }, by })
  await runtime.rest(id)
  await world.decide(id, await first(), "commit")
  const shown = world.seen(id, showsText)
  await runtime.submit(id, message("Speak."))
  await shown
  await runtime.submit(id, { type: "cancel", by })
  await runtime.rest(id)
  await world.send(id, "Write.")
  await world.send(id, "Something else.") // supersedes
  await runtime.submit(id, { type: "settings", mode: "auto", title: "All of it" })
  await runtime.submit(id, message("Write slowly."))
  await slow.begun
  await clock.turn(32_000)
  await runtime.rest(id)
  await runtime.submit(id, { type: "resolve", proposalId: await first(), choice: "done", by })
  await runtime.rest(id)
}

describe.each(databases)("on $name", ({ create }) => {
  async function openLife() {
    const database = await create()
    const clock = new TurnedClock()
    const slow = new Held()
    const model = scripted(always(obey))
    const tools = [read("look"), write("note"), write("slow_note", slow.run)]
    const world = await openChecked({ url: database.url, model, tools, clock })
    return {
      world,
      live: (id: ConversationId) => liveThrough(world, id, { clock, slow }),
      async [Symbol.asyncDispose]() {
        await world[Symbol.asyncDispose]()
        await database[Symbol.asyncDispose]()
      },
    }
  }

  test("the state at any position can be read, and is what it was then", async () => {
    await using life = await openLife()
    const { world } = life
    const { id } = await world.pawl.runtime.begin({ user: world.user, agent: "test" })
    const then = new Map<number, string>()
    world.pawl.ports.bus.subscribe(id, () => {
      void world.store.journal.load(id).then((hot) => then.set(hot.position, stateOf(hot)))
    })
    await life.live(id)
    expect(then.size).toBeGreaterThan(20)
    for (const [position, state] of then) {
      const events = (await world.store.journal.read(id, { upTo: position })) as JournalEvent[]
      expect({ position, state: stateOf(replay(id, world.user, events)) }).toEqual({ position, state })
    }
  })

  test("a conversation can be forked at any position and continues from there, in the mode it had", async () => {
    await using life = await openLife()
    const { world } = life
    const { id } = await world.pawl.runtime.begin({ user: world.user, agent: "test" })
    await life.live(id)
    const events = await world.events(id)
    expect(new Set(events.map(({ type }) => type))).toEqual(
      new Set([
        ...["conversation_started", "settings", "run_started", "message", "tool_start", "tool_end", "run_ended"],
        ...["awaiting_confirmation", "proposal", "decision", "in_doubt", "resolution"],
      ]),
    )
    for (const { position } of events) {
      const { mode, title } = replay(id, world.user, events.slice(0, position))
      const made = await fork(world.pawl.ports, id, position)
      expect(of(await world.events(made.id), "conversation_started")).toMatchObject([
        { forkedFrom: { conversation: id, position } },
      ])
      expect(await world.load(made.id)).toMatchObject({ mode, title })
      expect(conversationStatus(await world.load(made.id))).not.toBe("running")
      expect(await world.proposals(made.id)).toEqual([])
      await world.send(made.id, "And?")
      expect((await world.load(made.id)).run).toMatchObject({ status: "completed" })
      expect((await repliesOf(world, made.id)).at(-1)).toBe("To: And?")
    }
    expect(await world.events(id)).toEqual(events)
  }, 120_000)

  test("a fork does not claim that a write was not done if it may have been", async () => {
    await using life = await openLife()
    const { world } = life
    const { id } = await world.pawl.runtime.begin({ user: world.user, agent: "test" })
    await life.live(id)
    const begun = of(await world.events(id), "tool_start").at(-1)!
    for (const position of [begun.position, begun.position + 1]) {
      const made = await fork(world.pawl.ports, id, position)
      const results = await resultsOf(world, made.id)
      expect(results.at(-1)?.status).toMatch(/interrupted|in_doubt/)
      expect(results.at(-1)?.text).not.toMatch(/not done/i)
    }
  })

  test("a fork behind a question answers it when it is resumed", async () => {
    await using database = await create()
    await using world = await openChecked({ url: database.url, model: scripted(says("One."), says("Another.")) })
    const id = await world.begin("Which?")
    const made = await fork(world.pawl.ports, id, 3)
    await world.pawl.runtime.submit(made.id, { type: "resume", by: world.user })
    await world.pawl.runtime.rest(made.id)
    expect(await repliesOf(world, made.id)).toEqual(["Another."])
    expect(await repliesOf(world, id)).toEqual(["One."])
  })

  test("a message that reaches a fork through its inbox is accepted", async () => {
    await using database = await create()
    await using world = await openChecked({ url: database.url, model: scripted(always(obey)) })
    const id = await beginUntil(world, "Speak.", showsText)
    await world.pawl.runtime.submit(id, message("Queued."))
    await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
    await world.pawl.runtime.rest(id)
    const { position: end } = await world.load(id)
    for (const position of [3, end]) {
      const made = await fork(world.pawl.ports, id, position)
      await world.store.journal.addToInbox(made.id, message("And?"))
      await world.pawl.runtime.recover()
      await world.pawl.runtime.rest(made.id)
      expect((await repliesOf(world, made.id)).at(-1)).toBe("To: And?")
    }
  })

  test("a fork at a position that does not exist is refused", async () => {
    await using database = await create()
    await using world = await openChecked({ url: database.url, model: scripted(says("One.")) })
    const id = await world.begin("Which?")
    expect(await world.events(id)).toHaveLength(5)
    for (const position of [0, -1, 6, 1.5, Number.NaN]) {
      await expect(fork(world.pawl.ports, id, position)).rejects.toMatchObject({ code: "bad_request" })
    }
  })
})
