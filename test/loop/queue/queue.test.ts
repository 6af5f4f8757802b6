import { describe, expect, test } from "vitest"
import type { Model, ModelRequest } from "../../../core/engine/model.ts"
import { answer } from "../../../core/engine/definition/tool.ts"
import { calls, fails, hangs, says, UNCOUNTED } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import type { ConversationId } from "../../../core/protocol/ids.ts"
import {
  beginUntil,
  of,
  openChecked,
  records,
  repliesOf,
  resultsOf,
  showsText,
} from "../../support/loop/checked-world.ts"
import { databases } from "../../support/databases.ts"
import { Held, read, write } from "../../support/loop/tools.ts"
import { message, type World } from "../../support/loop/world.ts"

/** Answers each message with its own text; calls `wait` first if the text says so. */
const echo = () =>
  scripted(
    always(({ history }: ModelRequest) => {
      const last = history.at(-1)
      if (last?.role === "user" && last.text.startsWith("Wait")) return calls("wait")
      const words = history.flatMap((turn) => (turn.role === "user" ? [turn.text] : []))
      return says(`To: ${words.at(-1)}`)
    }),
  )

async function wordsOf(world: World, id: ConversationId): Promise<string[]> {
  const said = of(await world.events(id), "message").filter(({ role }) => role === "user")
  return said.map(({ parts }) => (parts[0]?.type === "text" ? parts[0].text : ""))
}

describe.each(databases)("on $name", ({ create }) => {
  describe("a message sent while a run works", () => {
    test("waits by default, and each one gets a run of its own, in order", async () => {
      await using database = await create()
      const held = new Held()
      await using world = await openChecked({ url: database.url, model: echo(), tools: [read("wait", held.run)] })
      const { id } = await world.start("Wait.")
      await held.begun
      for (const text of ["one", "two", "three"]) {
        expect(await world.pawl.runtime.submit(id, message(text))).toBe("kept")
      }
      expect(await wordsOf(world, id)).toEqual(["Wait."])
      held.end("waited")
      await world.pawl.runtime.rest(id)
      expect(await wordsOf(world, id)).toEqual(["Wait.", "one", "two", "three"])
      expect(await repliesOf(world, id)).toEqual(["", "To: Wait.", "To: one", "To: two", "To: three"])
      expect(of(await world.events(id), "run_ended").map(({ status }) => status)).toEqual(Array(4).fill("completed"))
    })

    test('with "steer" enters the run when the results are in, before the model is asked again', async () => {
      await using database = await create()
      const held = new Held()
      const model = echo()
      await using world = await openChecked({ url: database.url, model, tools: [read("wait", held.run)] })
      const { id } = await world.start("Wait.")
      await held.begun
      await world.pawl.runtime.submit(id, message("No, the other one.", { when: "steer" }))
      held.end("waited")
      await world.pawl.runtime.rest(id)
      expect(of(await world.events(id), "run_started")).toHaveLength(1)
      expect(model.received[1]?.history.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"])
      expect(await repliesOf(world, id)).toEqual(["", "To: No, the other one."])
    })

    test('with "steer" that arrives too late starts the next run', async () => {
      await using database = await create()
      const steered = Promise.withResolvers<void>()
      const model: Model = {
        ...{ name: "m", provider: "p", contextTokens: 1000 },
        async *stream({ history }) {
          yield { type: "text", text: history.length === 1 ? "First." : "Second." }
          await steered.promise
          yield { type: "finish", finish: "stop", usage: UNCOUNTED }
        },
      }
      await using world = await openChecked({ url: database.url, model })
      const id = await beginUntil(world, "Tell.", showsText)
      await world.pawl.runtime.submit(id, message("Stop there.", { when: "steer" }))
      steered.resolve()
      await world.pawl.runtime.rest(id)
      expect(await repliesOf(world, id)).toEqual(["First.", "Second."])
      expect(of(await world.events(id), "run_started")).toHaveLength(2)
    })

    test('with "reject" is refused, and nothing of it is stored', async () => {
      await using database = await create()
      await using world = await openChecked({ url: database.url, model: scripted(hangs("Once")) })
      const id = await beginUntil(world, "Tell a story.", showsText)
      const refused = world.pawl.runtime.submit(id, message("And?", { when: "reject" }))
      await expect(refused).rejects.toMatchObject({ code: "busy", status: 409 })
      await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
      await world.pawl.runtime.rest(id)
      expect(await wordsOf(world, id)).toEqual(["Tell a story."])
      expect((await world.load(id)).inbox).toEqual([])
    })

    test("is accepted at once by an idle conversation, however it is sent", async () => {
      await using database = await create()
      await using world = await openChecked({ url: database.url, model: echo() })
      const id = await world.begin("a")
      for (const when of ["steer", "reject", "queue"] as const) await world.send(id, when, { when })
      expect(await repliesOf(world, id)).toEqual(["To: a", "To: steer", "To: reject", "To: queue"])
    })
  })

  describe("a message sent while a run waits for confirmation", () => {
    test.each(["queue", "steer", "reject"] as const)(
      "supersedes the open proposals (%s) and starts the next run",
      async (when) => {
        await using database = await create()
        const done: unknown[] = []
        const note = write("note", ({ q }) => answer(`${done.push(q)}`))
        const model = scripted(
          calls(["note", { q: "50" }], ["note", { q: "51" }]),
          calls("note", { q: "5" }),
          says("Done."),
        )
        await using world = await openChecked({ url: database.url, model, tools: [note] })
        const id = await world.begin("Order 50.")
        const old = await world.proposals(id)
        await world.send(id, "Make it 5, not 50.", { when })

        expect(model.received[1]?.history.slice(-2)).toMatchObject([
          { role: "tool", results: [{ status: "superseded" }, { status: "superseded" }] },
          { role: "user", text: "Make it 5, not 50." },
        ])
        for (const { proposed } of old) {
          const late = world.decide(id, proposed.id, "commit")
          await expect(late).rejects.toMatchObject({ code: "proposal_decided", details: { status: "superseded" } })
        }
        const [open, ...others] = await world.proposals(id)
        expect(others).toEqual([])
        await world.decide(id, open!.proposed.id, "commit")
        expect(done).toEqual(["5"])
        expect(of(await world.events(id), "run_ended")).toMatchObject([
          { status: "cancelled", reason: "superseded" },
          { status: "completed" },
        ])
      },
    )

    test("goes before one that was queued while the run still worked", async () => {
      await using database = await create()
      const held = new Held()
      const model = scripted(calls(["wait"], ["note"]), says("To the new one."), says("To the queued one."))
      await using world = await openChecked({
        url: database.url,
        model,
        tools: [read("wait", held.run), write("note")],
      })
      const { id } = await world.start("Go.")
      await held.begun
      await world.pawl.runtime.submit(id, message("Queued."))
      held.end("waited")
      await world.pawl.runtime.rest(id)
      expect((await world.load(id)).run?.status).toBe("running")
      expect(await world.proposals(id)).toHaveLength(1)
      await world.send(id, "New.")
      expect(await wordsOf(world, id)).toEqual(["Go.", "New.", "Queued."])
      expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["ok", "superseded"])
    })
  })

  describe("a client that answers the moment it sees how a run ended", () => {
    async function answersAtOnce(world: World, id: ConversationId): Promise<void> {
      const sent = Promise.withResolvers<unknown>()
      const stop = world.pawl.ports.bus.subscribe(id, (live) => {
        if (!records("run_ended")(live)) return
        stop()
        world.pawl.runtime.submit(id, message("And now?")).then(sent.resolve, sent.reject)
      })
      await sent.promise
      await world.pawl.runtime.rest(id)
    }

    test("gets an answer after a cancel", async () => {
      await using database = await create()
      await using world = await openChecked({ url: database.url, model: scripted(hangs("Once"), says("Well.")) })
      const id = await beginUntil(world, "Tell a story.", showsText)
      const answered = answersAtOnce(world, id)
      await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
      await answered
      expect(await repliesOf(world, id)).toEqual(["Once", "Well."])
    })

    test("gets an answer after a failure", async () => {
      await using database = await create()
      const model = scripted(says("Hi."), fails("overloaded"), says("Well."))
      await using world = await openChecked({ url: database.url, model })
      const id = await world.begin("Hello?")
      const answered = answersAtOnce(world, id)
      await world.pawl.runtime.submit(id, message("Still there?"))
      await answered
      expect(await repliesOf(world, id)).toEqual(["Hi.", "Well."])
    })

    test("gets an answer after an ordinary end", async () => {
      await using database = await create()
      await using world = await openChecked({
        url: database.url,
        model: scripted(says("Hi."), says("Ho."), says("Well.")),
      })
      const id = await world.begin("Hello?")
      const answered = answersAtOnce(world, id)
      await world.pawl.runtime.submit(id, message("Still there?"))
      await answered
      expect(await repliesOf(world, id)).toEqual(["Hi.", "Ho.", "Well."])
    })
  })
})
