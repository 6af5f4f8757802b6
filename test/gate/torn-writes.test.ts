import { describe, expect, test, vi } from "vitest"
import { z } from "zod"
import {
  type Answer,
  answer,
  type CallContext,
  defineTool,
  type WriteOutcome,
  type Preview,
} from "../../core/engine/definition/tool.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { of, openChecked, resultsOf, woken } from "../support/loop/checked-world.ts"
import { databases } from "../support/databases.ts"
import { Mortal } from "../support/loop/faults.ts"
import { proposalRows } from "./note.ts"
import { aborted, Held, write } from "../support/loop/tools.ts"
import { openWorld, TurnedClock, type World } from "../support/loop/world.ts"

/** Acts like a tool that passes its signal to `fetch`: the target has the request, and the answer is dropped. */
class Fetching {
  readonly #begun = Promise.withResolvers<AbortSignal>()
  readonly begun = this.#begun.promise

  readonly run = async (_input: unknown, { signal }: CallContext): Promise<Answer> => {
    this.#begun.resolve(signal)
    await aborted(signal)
    throw signal.reason
  }
}

/** A write whose target can be asked. */
const askable = (
  run: () => Promise<Answer> | Answer,
  outcome: () => Promise<WriteOutcome> | WriteOutcome,
  more: { readonly bar?: () => WriteOutcome } = {},
) =>
  defineTool({
    name: "save",
    description: "Saves.",
    input: z.object({}),
    effect: "write",
    inverse: false,
    afterCrash: "ask-target",
    run,
    outcome,
    ...more,
  })

const proposalId = async (world: World, id: ConversationId) => (await world.proposals(id))[0]!.proposed.id

async function resolve(world: World, id: ConversationId, choice: "retry" | "done"): Promise<void> {
  await world.pawl.runtime.submit(id, {
    type: "resolve",
    proposalId: await proposalId(world, id),
    choice,
    by: world.user,
  })
  await world.pawl.runtime.rest(id)
}

async function takeUp(world: World, id: ConversationId): Promise<void> {
  await world.pawl.runtime.recover()
  await world.pawl.runtime.rest(id)
}

describe.each(databases)("on $name", ({ create }) => {
  describe("a write that throws because it was asked to stop", () => {
    test("is in doubt if its time was up, not failed", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      const fetching = new Fetching()
      const tools = [write("save", fetching.run, { timeoutSeconds: 5 })]
      await using world = await openChecked({ url: database.url, model: scripted(calls("save")), tools, clock })
      const { id } = await world.start("Save.", { mode: "auto" })
      await fetching.begun
      await clock.turn(5000)
      await world.pawl.runtime.rest(id)
      expect(await resultsOf(world, id)).toEqual([])
      expect(await proposalRows(world)).toMatchObject([{ status: "in_doubt" }])
    })

    test("is in doubt if the run was cancelled, and the person can settle it", async () => {
      await using database = await create()
      const fetching = new Fetching()
      const tools = [write("save", fetching.run)]
      await using world = await openChecked({ url: database.url, model: scripted(calls("save")), tools })
      const { id } = await world.start("Save.", { mode: "auto" })
      await fetching.begun
      await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
      await world.pawl.runtime.rest(id)
      expect(await resultsOf(world, id)).toMatchObject([{ status: "interrupted" }])
      expect(await proposalRows(world)).toMatchObject([{ status: "in_doubt" }])
      await resolve(world, id, "done")
      expect(await proposalRows(world)).toMatchObject([{ status: "applied" }])
    })

    test("is in doubt for the next process if the server shut down", async () => {
      await using database = await create()
      const fetching = new Fetching()
      const tools = [write("save", fetching.run)]
      const id = await (async () => {
        await using world = await openWorld({ url: database.url, model: scripted(calls("save")), tools })
        const { id } = await world.start("Save.", { mode: "auto" })
        await fetching.begun
        await world.pawl.runtime.close()
        return id
      })()
      await using next = await openChecked({ url: database.url, model: scripted(), tools })
      await takeUp(next, id)
      expect(await resultsOf(next, id)).toEqual([])
      expect(await proposalRows(next)).toMatchObject([{ status: "in_doubt" }])
    })

    test("records nothing new if it throws late", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      const held = new Held()
      const model = scripted(calls("save"), says("Nobody knows."))
      await using world = await openChecked({ url: database.url, model, tools: [write("save", held.run)], clock })
      const { id } = await world.start("Save.", { mode: "auto" })
      const signal = await held.begun
      await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
      await aborted(signal)
      await clock.turn(2000)
      await world.pawl.runtime.rest(id)
      const kept = vi.spyOn(world.store.journal, "addToInbox")
      held.fail(signal.reason)
      await new Promise((resolve) => setImmediate(resolve)) // by now all handlers of its end have run
      expect(kept).not.toHaveBeenCalled()
      await world.send(id, "Is it saved?")
      expect(of(await world.events(id), "late_result")).toEqual([])
      expect(await proposalRows(world)).toMatchObject([{ status: "in_doubt" }])
    })
  })

  describe("a write that has started and may not be tried again", () => {
    test("is in doubt if its tool has another version now, not refused as not done", async () => {
      await using database = await create()
      const mortal = new Mortal()
      let done = 0
      const save = (version: number) =>
        write(
          "save",
          () => {
            done++
            mortal.kill()
            return answer("Saved.")
          },
          { version, afterCrash: "run-again" },
        )
      const id = await (async () => {
        const { between } = mortal
        const model = scripted(calls("save"))
        await using world = await openWorld({ url: database.url, model, tools: [save(1)], between })
        return await world.begin("Save.", { mode: "auto" })
      })()
      await using next = await openChecked({ url: database.url, model: scripted(says("Well.")), tools: [save(2)] })
      await takeUp(next, id)
      expect(done).toBe(1)
      expect(await resultsOf(next, id)).toEqual([])
      expect(await proposalRows(next)).toMatchObject([{ status: "in_doubt" }])
      await resolve(next, id, "done")
      expect(await proposalRows(next)).toMatchObject([{ status: "applied" }])
    })

    test("stays in doubt if a second try is requested in a conversation that is now read-only", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      const held = new Held()
      const tools = [write("save", held.run, { timeoutSeconds: 5 })]
      await using world = await openChecked({ url: database.url, model: scripted(calls("save")), tools, clock })
      const { id } = await world.start("Save.", { mode: "auto" })
      await held.begun
      await clock.turn(7000)
      await world.pawl.runtime.rest(id)
      await world.pawl.runtime.submit(id, { type: "settings", mode: "read-only" })
      await resolve(world, id, "retry")
      expect(await resultsOf(world, id)).toEqual([])
      expect(await proposalRows(world)).toMatchObject([{ status: "in_doubt" }])
    })

    test("is reported as in doubt if a second try was requested and the run cancelled before it started", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      const first = new Held()
      const second = new Held()
      const tools = [write("first", first.run, { timeoutSeconds: 5 }), write("second", second.run)]
      const model = scripted(calls(["first"], ["second"]))
      await using world = await openChecked({ url: database.url, model, tools, clock })
      const { id } = await world.start("Save.", { mode: "auto" })
      await first.begun
      await clock.turn(7000)
      const signal = await second.begun
      const doubtful = (await world.proposals(id)).find(({ status }) => status === "in_doubt")!.proposed.id
      const { runtime } = world.pawl
      await runtime.submit(id, { type: "resolve", proposalId: doubtful, choice: "retry", by: world.user })
      await runtime.submit(id, { type: "cancel", by: world.user })
      await aborted(signal)
      await clock.turn(2000)
      await runtime.rest(id)
      expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["in_doubt", "interrupted"])
    })

    test.each(["it is cancelled", "its time is up"])(
      "is reported as in doubt if the run ends before the retry, because %s",
      async (because) => {
        await using database = await create()
        const clock = new TurnedClock()
        const tries = Array.from({ length: 3 }, () => new Held())
        let begun = 0
        const save = write("save", (input, context) => tries[begun++]!.run(input, context), { timeoutSeconds: 5 })
        const model = scripted(calls(["save"], ["save", { q: "second" }]), says("Too late."))
        const limits = { runSeconds: 16 }
        await using world = await openChecked({ url: database.url, model, tools: [save], clock, limits })
        const { id } = await world.start("Save.", { mode: "auto" })
        for (const { begun } of tries.slice(0, 2)) {
          await begun
          await clock.turn(7000)
        }
        const { runtime } = world.pawl
        await runtime.rest(id)
        for (const { proposed } of await world.proposals(id))
          await runtime.submit(id, { type: "resolve", proposalId: proposed.id, choice: "retry", by: world.user })
        const signal = await tries[2]!.begun
        if (because === "it is cancelled") await runtime.submit(id, { type: "cancel", by: world.user })
        else await clock.turn(2000)
        await aborted(signal)
        tries[2]!.end("Saved.")
        await runtime.rest(id)
        expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["ok", "in_doubt"])
      },
    )
  })

  describe("a write whose target can report its outcome", () => {
    test("is not repeated while its first try is still running, whatever its target reports", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      const begun = Promise.withResolvers<void>()
      const end = Promise.withResolvers<Answer>()
      let tries = 0
      const run = () => {
        begun.resolve()
        return ++tries === 1 ? end.promise : answer("Saved twice.")
      }
      const tools = [askable(run, () => "not-applied")]
      const model = scripted(calls("save"), says("Saved."))
      await using world = await openChecked({ url: database.url, model, tools, clock })
      const { id } = await world.start("Save.", { mode: "auto" })
      await begun.promise
      await clock.turn(32_000)
      await world.pawl.runtime.rest(id)
      await resolve(world, id, "retry")
      expect(tries).toBe(1)
      expect(await proposalRows(world)).toMatchObject([{ status: "in_doubt" }])

      const arrived = woken(world, id)
      end.resolve(answer("Saved."))
      await arrived
      await world.pawl.runtime.rest(id)
      expect(tries).toBe(1)
      expect(await proposalRows(world)).toMatchObject([{ status: "applied" }])
    })

    test("is left in doubt by a server that shuts down while it runs, and the next one does not repeat it", async () => {
      await using database = await create()
      const clock = new TurnedClock()
      const begun = Promise.withResolvers<void>()
      let tries = 0
      const run = () => {
        tries++
        begun.resolve()
        return new Promise<Answer>(() => {})
      }
      const tools = [askable(run, () => "not-applied")]
      const id = await (async () => {
        await using world = await openWorld({ url: database.url, model: scripted(calls("save")), tools, clock })
        const { id } = await world.start("Save.", { mode: "auto" })
        await begun.promise
        const closed = world.pawl.runtime.close()
        await clock.turn(4000)
        await closed
        return id
      })()
      await using next = await openChecked({ url: database.url, model: scripted(), tools, clock })
      expect(of(await next.events(id), "in_doubt")).toHaveLength(1) // by the server that knew about the running write
      await takeUp(next, id)
      expect(tries).toBe(1)
      expect(await proposalRows(next)).toMatchObject([{ status: "in_doubt" }])
    })

    test.each([
      {
        where: "is cancelled where its target sees to that",
        more: { bar: () => "not-applied" as const },
        ends: "cancelled",
      },
      { where: "is in doubt where its target cannot promise that", more: {}, ends: "in_doubt" },
    ])("interrupted by a crash and cancelled since is not repeated, and $where", async ({ more, ends }) => {
      await using database = await create()
      const mortal = new Mortal()
      let tries = 0
      const run = () => {
        if (++tries === 1) mortal.kill()
        return answer("Saved.")
      }
      const tools = [askable(run, () => "not-applied", more)]
      const id = await (async () => {
        const { between } = mortal
        await using world = await openWorld({ url: database.url, model: scripted(calls("save")), tools, between })
        return await world.begin("Save.", { mode: "auto" })
      })()
      await using next = await openChecked({ url: database.url, model: scripted(), tools })
      await next.pawl.runtime.submit(id, { type: "cancel", by: next.user })
      await takeUp(next, id)
      expect(tries).toBe(1)
      expect((await resultsOf(next, id)).map(({ status }) => status)).toEqual([ends])
    })

    test("is asked about again by the next process if the server shuts down while it asks", async () => {
      await using database = await create()
      const mortal = new Mortal()
      const asked = Promise.withResolvers<void>()
      let questions = 0
      const run = () => {
        mortal.kill()
        return answer("Saved.")
      }
      const outcome = () => {
        if (++questions > 1) return answer("Saved, says the target.")
        asked.resolve()
        return new Promise<WriteOutcome>(() => {})
      }
      const tools = [askable(run, outcome)]
      const id = await (async () => {
        const { between } = mortal
        await using world = await openWorld({ url: database.url, model: scripted(calls("save")), tools, between })
        return await world.begin("Save.", { mode: "auto" })
      })()
      await (async () => {
        await using world = await openWorld({ url: database.url, model: scripted(), tools })
        await world.pawl.runtime.recover()
        await asked.promise
        await world.pawl.runtime.close()
      })()
      await using next = await openChecked({ url: database.url, model: scripted(says("Well.")), tools })
      await takeUp(next, id)
      expect(await resultsOf(next, id)).toMatchObject([{ status: "ok", text: "Saved, says the target." }])
    })
  })

  test("an approved write is done by the next process if the server shuts down during the check of its target", async () => {
    await using database = await create()
    const looking = Promise.withResolvers<void>()
    let looks = 0
    let done = 0
    const preview = (): Promise<Preview> | Preview => {
      if (++looks !== 2) return { summary: "Save", action: "safe_update", target: "note", revision: "1" }
      looking.resolve()
      return new Promise(() => {})
    }
    const tools = [write("save", () => answer(`Saved ${++done} times.`), { preview })]
    const id = await (async () => {
      await using world = await openWorld({ url: database.url, model: scripted(calls("save")), tools })
      const id = await world.begin("Save.")
      const decision = { type: "decide", proposalId: await proposalId(world, id), decision: "commit" } as const
      await world.pawl.runtime.submit(id, { ...decision, by: world.user })
      await looking.promise
      await world.pawl.runtime.close()
      return id
    })()
    await using next = await openChecked({ url: database.url, model: scripted(says("Done.")), tools })
    await takeUp(next, id)
    expect(await resultsOf(next, id)).toMatchObject([{ status: "ok", text: "Saved 1 times." }])
    expect(await proposalRows(next)).toMatchObject([{ status: "applied" }])
  })
})
