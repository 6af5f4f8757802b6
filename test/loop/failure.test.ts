import { describe, expect, test } from "vitest"
import { answer } from "../../core/engine/definition/tool.ts"
import type { Model } from "../../core/engine/model.ts"
import { breaksOff, calls, fails, replies, says, thinks, waits } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { ErrorCode } from "../../core/protocol/errors.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { of, openChecked, repliesOf } from "../support/loop/checked-world.ts"
import { anyDatabase } from "../support/databases.ts"
import { read } from "../support/loop/tools.ts"
import { message, type World } from "../support/loop/world.ts"

const resume = async ({ pawl, user }: World, id: ConversationId) => {
  await pawl.runtime.submit(id, { type: "resume", by: user })
  await pawl.runtime.rest(id)
}

const wordsSent = async (world: World, id: ConversationId) =>
  of(await world.events(id), "message").filter(({ role }) => role === "user").length

describe.each(anyDatabase)("on $name", ({ create }) => {
  describe("a provider that fails before its first text", () => {
    test("ends the run with its code, and the loop does not retry by itself", async () => {
      await using database = await create()
      const codes: ErrorCode[] = ["rate_limited", "overloaded", "auth", "refused", "provider_error", "model_silent"]
      const model = scripted(...codes.map((code) => fails(code, { retriable: true })))
      await using world = await openChecked({ url: database.url, model })
      for (const [before, code] of codes.entries()) {
        const id = await world.begin("Hello?")
        expect(model.received).toHaveLength(before + 1)
        expect((await world.load(id)).run).toMatchObject({ status: "failed", error: { code } })
        const events = await world.events(id)
        expect(of(events, "run_ended")).toMatchObject([
          { status: "failed", error: { code, message: expect.any(String) } },
        ])
        expect(of(events, "restarted")).toEqual([])
      }
    })

    test("lets the run be resumed without the message being repeated", async () => {
      await using database = await create()
      const model = scripted(fails("overloaded"), says("Hello."))
      await using world = await openChecked({ url: database.url, model })
      const id = await world.begin("Hello?")
      await resume(world, id)
      expect(await wordsSent(world, id)).toBe(1)
      expect(model.received[1]?.history).toEqual([{ role: "user", text: "Hello?" }])
      expect(await repliesOf(world, id)).toEqual(["Hello."])
      await resume(world, id) // harmless to repeat
      expect(model.received).toHaveLength(2)
    })

    test("in the middle of a run loses no result", async () => {
      await using database = await create()
      let ran = 0
      const look = read("look", () => answer(`${++ran}`))
      const model = scripted(calls("look"), fails("overloaded"), says("I see."))
      await using world = await openChecked({ url: database.url, model, tools: [look] })
      const id = await world.begin("Look.")
      await resume(world, id)
      expect(ran).toBe(1)
      expect(model.received[2]?.history.at(-1)).toMatchObject({ role: "tool", results: [{ text: "1" }] })
      expect((await repliesOf(world, id)).at(-1)).toBe("I see.")
    })

    test("does not block the next message", async () => {
      await using database = await create()
      await using world = await openChecked({ url: database.url, model: scripted(fails("auth"), says("Hello.")) })
      const id = await world.begin("Hello?")
      await world.send(id, "And now?")
      expect((await world.load(id)).run?.status).toBe("completed")
    })
  })

  describe("a provider that fails after its text was shown", () => {
    test("is asked again, and a `restarted` event closes the failed attempt", async () => {
      await using database = await create()
      const model = scripted(fails("overloaded", { after: "Once up", retriable: true }), says("Once upon a time."))
      await using world = await openChecked({ url: database.url, model })
      const id = await world.begin("Tell a story.")
      const types = await world.types(id)
      expect(types.slice(3)).toEqual(["restarted", "message", "run_ended"])
      expect(of(await world.events(id), "restarted")).toMatchObject([{ because: "provider", detail: "overloaded" }])
      expect(await repliesOf(world, id)).toEqual(["Once upon a time."])
    })

    test("is asked again also if it had only thoughts, and the text of the previous attempt is kept on record", async () => {
      await using database = await create()
      const thinksAndDies = (text: string) =>
        replies(thinks(text, undefined, { chunks: 2 }), fails("overloaded", { retriable: true }))
      const model = scripted(
        fails("overloaded", { after: "Once up", retriable: true }),
        thinksAndDies("Hm."),
        says("Once."),
      )
      await using world = await openChecked({ url: database.url, model })
      const id = await world.begin("Tell a story.")
      expect(of(await world.events(id), "restarted")).toMatchObject([{ shown: "Once up" }, { because: "provider" }])
      expect(await repliesOf(world, id)).toEqual(["Once."])
      const sealed = replies(
        { parts: [{ type: "thinking", text: "" }], end: { type: "stop" } },
        fails("overloaded", { retriable: true }),
      )
      const silent = scripted(sealed, says("Well."))
      await using other = await openChecked({ url: database.url, model: silent })
      expect(await repliesOf(other, await other.begin("And?"))).toEqual(["Well."])
      const last = scripted(fails("overloaded", { after: "Once", retriable: true }), always(thinksAndDies("Hm.")))
      await using third = await openChecked({ url: database.url, model: last })
      const failedId = await third.begin("Again.")
      expect(await repliesOf(third, failedId)).toEqual(["Once"])
    })

    test("is asked three times and no more", async () => {
      await using database = await create()
      const model = scripted(always(fails("overloaded", { after: "Once", retriable: true })))
      await using world = await openChecked({ url: database.url, model })
      const id = await world.begin("Tell a story.")
      expect(model.received).toHaveLength(3)
      expect(of(await world.events(id), "restarted")).toHaveLength(2)
      expect((await world.load(id)).run).toMatchObject({ status: "failed", error: { code: "overloaded" } })
    })

    test("is asked three times again after it has made progress", async () => {
      await using database = await create()
      const dies = fails("overloaded", { after: "Hm", retriable: true })
      const model = scripted(dies, dies, calls("look"), dies, dies, says("Done."))
      await using world = await openChecked({ url: database.url, model, tools: [read("look")] })
      const id = await world.begin("Go.")
      expect((await world.load(id)).run?.status).toBe("completed")
    })

    test("is not asked again if that cannot help", async () => {
      await using database = await create()
      const model = scripted(fails("refused", { after: "I would ra", retriable: false }))
      await using world = await openChecked({ url: database.url, model })
      const id = await world.begin("Tell a secret.")
      expect((await world.load(id)).run).toMatchObject({ status: "failed", error: { code: "refused" } })
      expect(of(await world.events(id), "restarted")).toEqual([])
    })
  })

  test("waiting for a provider is a recorded step with its cause and length, and counts as no progress", async () => {
    await using database = await create()
    const dies = fails("overloaded", { after: "Hm", retriable: true })
    const model = scripted(replies(waits(20_000), says("Hello.")), always(replies(waits(1500, "overloaded"), dies)))
    await using world = await openChecked({ url: database.url, model })
    const id = await world.begin("Hello?")
    const detail = { provider: "scripted", because: "rate_limited", seconds: 20 }
    expect((await world.types(id)).slice(3)).toEqual(["step", "message", "run_ended"])
    expect(of(await world.events(id), "step")).toMatchObject([{ step: "waiting", detail }])
    // Repeated waits and failures still exhaust the tries.
    await world.send(id, "And now?")
    expect(model.received).toHaveLength(4)
    expect(of(await world.events(id), "step").at(-1)).toMatchObject({ detail: { because: "overloaded", seconds: 2 } })
  })

  test("a reply that merely stops never counts as finished", async () => {
    await using database = await create()
    await using world = await openChecked({ url: database.url, model: scripted(breaksOff("The answer is")) })
    const id = await world.begin("What is it?")
    expect(of(await world.events(id), "message").at(-1)).toMatchObject({ finish: "broken" })
    expect((await world.load(id)).run).toMatchObject({ status: "failed", error: { code: "provider_error" } })
  })

  test("a model with a defect ends its run as internal, and the operator gets the error", async () => {
    await using database = await create()
    const defect: Model = {
      ...{ name: "m", provider: "p", contextTokens: 1000 },
      stream: () => {
        throw new TypeError("undefined is not a function")
      },
    }
    await using world = await openChecked({ url: database.url, model: defect })
    const id = await world.begin("Hello?")
    const { run } = await world.load(id)
    expect(run).toMatchObject({ status: "failed", error: { code: "internal" } })
    expect(run?.error?.message).not.toContain("undefined")
    expect(world.problems.splice(0)).toMatchObject([
      { event: "ask_model_failed", error: { message: "undefined is not a function" } },
    ])
  })

  test("a history that is too long for the provider is cut and asked about again, and the cut is journaled", async () => {
    await using database = await create()
    const model = scripted(says("One."), says("Two."), fails("context_overflow"), says("Three."))
    await using world = await openChecked({ url: database.url, model })
    const id = await world.begin(`1 ${"x".repeat(400)}`)
    await world.send(id, `2 ${"x".repeat(400)}`)
    await world.send(id, "3")
    expect(of(await world.events(id), "history_cut")).toHaveLength(1)
    const last = model.received.at(-1)?.history
    expect(last?.at(-1)).toEqual({ role: "user", text: "3" })
    expect(last?.length).toBeLessThan(5)
    expect((await repliesOf(world, id)).at(-1)).toBe("Three.")
  })

  test("one that is too long and cannot be cut ends the run with that code", async () => {
    await using database = await create()
    await using world = await openChecked({ url: database.url, model: scripted(fails("context_overflow")) })
    const id = await world.begin("Long.")
    expect((await world.load(id)).run).toMatchObject({ status: "failed", error: { code: "context_overflow" } })
  })

  test("messages queued behind a failed run are held until the next message, and then come first", async () => {
    await using database = await create()
    const failing = Promise.withResolvers<never>()
    const healthy = scripted(says("To the queued one."), says("To the new one."))
    let asked = 0
    const model: Model = {
      ...{ name: "m", provider: "p", contextTokens: 1000 },
      stream: (request, signal) =>
        asked++ === 0
          ? { [Symbol.asyncIterator]: () => ({ next: () => failing.promise }) }
          : healthy.stream(request, signal),
    }
    await using world = await openChecked({ url: database.url, model })
    const { id } = await world.start("Hello?")
    await world.pawl.runtime.submit(id, message("Queued."))
    failing.reject(Object.assign(new Error("no"), { code: "overloaded" }))
    await world.pawl.runtime.rest(id)
    expect((await world.load(id)).run?.status).toBe("failed")
    expect(asked).toBe(1)
    await world.send(id, "New.")
    expect(await repliesOf(world, id)).toEqual(["To the queued one.", "To the new one."])
    const { history } = await world.load(id)
    expect(history.flatMap((turn) => (turn.role === "user" ? [turn.text] : []))).toEqual(["Hello?", "Queued.", "New."])
    world.problems.length = 0
  })
})
