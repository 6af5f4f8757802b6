import { describe, expect, test } from "vitest"
import { answer, type CallContext } from "../../../core/engine/definition/tool.ts"
import type { Journal } from "../../../core/engine/journal.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { QUESTION, QUESTION_SETTLED } from "../../../core/protocol/conversation/questions.ts"
import type { JournalEvent } from "../../../core/protocol/events.ts"
import type { ConversationId } from "../../../core/protocol/ids.ts"
import { of, openChecked } from "../../support/loop/checked-world.ts"
import { anyDatabase } from "../../support/databases.ts"
import { aborted, write } from "../../support/loop/tools.ts"
import { message, TurnedClock } from "../../support/loop/world.ts"

const ASKED = { server: "inn", tool: "book", message: "For how many?", fields: [] }

/** Wraps the journal to act around the commit that records such a step. */
const around =
  (step: string, act: (id: ConversationId, commit: () => Promise<boolean>) => Promise<boolean>) =>
  (journal: Journal): Journal =>
    new Proxy(journal, {
      get(target, name) {
        const value = Reflect.get(target, name, target) as unknown
        if (typeof value !== "function") return value
        if (name !== "append") return value.bind(target) as unknown
        const isOf = (event: JournalEvent) => event.type === "step" && event.step === step
        return (...given: Parameters<Journal["append"]>) => {
          const commit = () => target.append(...given)
          return given[1].some(isOf) ? act(given[0].id, commit) : commit()
        }
      },
    })

describe.each(anyDatabase)("a call that asks the person, on $name,", ({ create }) => {
  test("ends with the answer, also if a message arrives while the answer is recorded", async () => {
    await using place = await create()
    const between = around(QUESTION_SETTLED, async (id, commit) => {
      await world.store.journal.addToInbox(id, message("And a cake."))
      return commit()
    })
    let begun = 0
    const book = write("book", async (_, { lasting }) => {
      begun++
      return answer((await lasting!.ask!(ASKED)).outcome)
    })
    const model = scripted(calls("book"), says("Booked."), says("With a cake."))
    await using world = await openChecked({ url: place.url, model, tools: [book], between })
    const isQuestion = (event: JournalEvent) => event.type === "step" && event.step === QUESTION
    const { id } = await world.start("Book.", { mode: "auto", attended: true })
    await world.seen(id, (live) => live.type === "events" && live.events.some(isQuestion))
    const question = (await world.load(id)).calls[0]!.question!
    await world.pawl.runtime.submit(id, { type: "answer", questionId: question.id, by: world.user, action: "decline" })
    await world.pawl.runtime.rest(id)
    expect(of(await world.events(id), "tool_end")).toMatchObject([{ status: "ok", text: "decline" }])
    expect(begun).toBe(1)
    const settled = of(await world.events(id), "step").filter(({ step }) => step === QUESTION_SETTLED)
    expect(settled).toMatchObject([{ detail: { outcome: "decline" } }])
    expect((await world.load(id)).inbox).toEqual([])
    expect(world.problems).toEqual([])
  })

  test("does not wait for an answer if it is stopped while its question is recorded", async () => {
    await using place = await create()
    const clock = new TurnedClock()
    const begun = Promise.withResolvers<CallContext>()
    const over = Promise.withResolvers<unknown>()
    const between = around(QUESTION, async (id, commit) => {
      const committed = await commit()
      const { signal } = await begun.promise
      await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
      await aborted(signal)
      return committed
    })
    const book = write("book", async (_, context) => {
      begun.resolve(context)
      const asking = context.lasting!.ask!(ASKED)
      asking.then(over.resolve, over.resolve)
      return answer((await asking).outcome)
    })
    await using world = await openChecked({
      url: place.url,
      model: scripted(calls("book")),
      tools: [book],
      between,
      clock,
    })
    const { id } = await world.start("Book.", { mode: "auto", attended: true })
    expect(await over.promise).toBe("cancel")
    await world.pawl.runtime.rest(id)
    expect((await world.load(id)).run?.status).toBe("cancelled")
  })

  test("gets an answer that was recorded in time but not read before its time was up", async () => {
    await using place = await create()
    const clock = new TurnedClock()
    const book = write("book", async (_, { lasting }) => answer((await lasting!.ask!(ASKED)).outcome))
    const model = scripted(calls("book"), says("Well."))
    await using world = await openChecked({ url: place.url, model, tools: [book], clock })
    const isQuestion = (event: JournalEvent) => event.type === "step" && event.step === QUESTION
    const { id } = await world.start("Book.", { mode: "auto", attended: true })
    await world.seen(id, (live) => live.type === "events" && live.events.some(isQuestion))
    const { id: questionId, expiresAt } = (await world.load(id)).calls[0]!.question!
    await clock.turn(expiresAt - clock.now() - 1)
    // The wake-up for it was lost.
    const given = { type: "answer", questionId, by: world.user, action: "decline" } as const
    await world.store.journal.addToInbox(id, given)
    await clock.turn(1)
    await world.pawl.runtime.rest(id)
    expect(of(await world.events(id), "tool_end")).toMatchObject([{ status: "ok", text: "decline" }])
  })
})
