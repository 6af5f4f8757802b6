import { describe, expect, test } from "vitest"
import { z } from "zod"
import { answer, defineTool, type WriteOutcome, type Tool } from "../../core/engine/definition/tool.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import type { CallId, ConversationId, ProposalId } from "../../core/protocol/ids.ts"
import { of, openChecked, repliesOf, resultsOf } from "../support/loop/checked-world.ts"
import { databases, type TestDatabase } from "../support/databases.ts"
import { Mortal } from "../support/loop/faults.ts"
import { proposalRows } from "./note.ts"
import { aborted, Held, write } from "../support/loop/tools.ts"
import { message, openWorld, TurnedClock, type World } from "../support/loop/world.ts"

const common = { name: "save", description: "Saves.", input: z.object({}), effect: "write", inverse: false } as const

/** A process that crashed in the middle of a write, and the next one, which has recovered it. */
async function openAfterDeath(create: TestDatabase["create"], makeTool: (saved: CallId[], dies: () => void) => Tool) {
  const database = await create()
  const saved: CallId[] = []
  const mortal = new Mortal()
  const tools = [makeTool(saved, () => mortal.kill())]
  const id = await (async () => {
    const { between } = mortal
    await using world = await openWorld({ url: database.url, model: scripted(calls("save")), tools, between })
    const id = await world.begin("Save.")
    await world.decide(id, (await world.proposals(id))[0]!.proposed.id, "commit")
    return id
  })()
  const model = scripted(says("Well."), says("Next."))
  const world = await openChecked({ url: database.url, model, tools })
  await world.pawl.runtime.recover()
  await world.pawl.runtime.rest(id)
  return {
    ...{ world, id, model, saved },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

/** A target that keeps no record of calls. */
const forgetful = (saved: CallId[], dies: () => void) =>
  defineTool({
    ...common,
    afterCrash: "in-doubt",
    run(_input, { callId }) {
      if (saved.push(callId) === 1) dies()
      return answer("Saved.")
    },
  })

const onlyProposal = async (world: World, id: ConversationId): Promise<ProposalId> =>
  (await world.proposals(id))[0]!.proposed.id

async function resolve(world: World, id: ConversationId, choice: "retry" | "done" | "abandon"): Promise<void> {
  const proposalId = await onlyProposal(world, id)
  await world.pawl.runtime.submit(id, { type: "resolve", proposalId, choice, by: world.user })
  await world.pawl.runtime.rest(id)
}

describe.each(databases)("on $name", ({ create }) => {
  describe("a write whose process crashed, and whose target cannot report its outcome", () => {
    test("is in doubt: shown, never tried again by itself, and the run waits", async () => {
      await using after = await openAfterDeath(create, forgetful)
      const { world, id, saved, model } = after
      for (let look = 0; look < 3; look++) {
        await world.pawl.runtime.recover()
        await world.pawl.runtime.rest(id)
      }
      expect(saved).toHaveLength(1)
      expect(await proposalRows(world)).toMatchObject([{ status: "in_doubt" }])
      expect((await world.types(id)).slice(-2)).toEqual(["restarted", "in_doubt"])
      expect(await resultsOf(world, id)).toEqual([])
      expect(model.received).toEqual([])
      const rows = await world.store.engine.query("SELECT status, pause_reason FROM runs", [])
      expect(rows).toEqual([{ status: "paused", pause_reason: "in_doubt" }])
    })

    test("is tried again when the person says so, under the same call id", async () => {
      await using after = await openAfterDeath(create, forgetful)
      await resolve(after.world, after.id, "retry")
      expect(after.saved).toHaveLength(2)
      expect(new Set(after.saved).size).toBe(1)
      expect(await resultsOf(after.world, after.id)).toMatchObject([{ status: "ok", text: "Saved." }])
      expect(await proposalRows(after.world)).toMatchObject([{ status: "applied" }])
      expect(await repliesOf(after.world, after.id)).toEqual(["", "Well."])
    })

    test("is done when the person says so, and the model learns that the person has checked", async () => {
      await using after = await openAfterDeath(create, forgetful)
      await resolve(after.world, after.id, "done")
      expect(after.saved).toHaveLength(1)
      const [result] = await resultsOf(after.world, after.id)
      expect(result).toMatchObject({ status: "ok", text: expect.stringContaining("the person has checked") })
      expect(await proposalRows(after.world)).toMatchObject([{ status: "applied" }])
      expect(await repliesOf(after.world, after.id)).toEqual(["", "Well."])
    })

    test("is abandoned when the person says so, and the model learns that the outcome is unknown", async () => {
      await using after = await openAfterDeath(create, forgetful)
      await resolve(after.world, after.id, "abandon")
      expect(after.saved).toHaveLength(1)
      const [result] = await resultsOf(after.world, after.id)
      expect(result).toMatchObject({ status: "in_doubt", text: expect.stringContaining("not known") })
      expect(await proposalRows(after.world)).toMatchObject([{ status: "abandoned" }])
      expect(await repliesOf(after.world, after.id)).toEqual(["", "Well."])
    })

    test("is settled once; later decisions fail with `not_in_doubt`", async () => {
      await using after = await openAfterDeath(create, forgetful)
      const { world, id } = after
      const proposalId = await onlyProposal(world, id)
      const choices = (["done", "abandon", "retry", "done", "abandon"] as const).map((choice) =>
        world.pawl.runtime.submit(id, { type: "resolve", proposalId, choice, by: world.user }),
      )
      const settled = await Promise.allSettled(choices)
      await world.pawl.runtime.rest(id)
      expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
      for (const outcome of settled) {
        if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "not_in_doubt", status: 409 })
      }
      expect(of(await world.events(id), "resolution")).toHaveLength(1)
    })

    test("is resolved once, also while another node counts as its writer: the row changes before the journal", async () => {
      await using after = await openAfterDeath(create, forgetful)
      const { world, id, saved } = after
      const proposalId = await onlyProposal(world, id)
      const { engine } = world.store
      const run = (...statements: string[]) =>
        engine.change({ type: "statements", statements: statements.map((sql) => ({ sql, values: [] })) })
      await run(
        "INSERT INTO node (id, locked, beats) VALUES ('node_gone', 0, 1)",
        "UPDATE conversation SET owner = 'node_gone'",
      )
      const answerIt = () =>
        world.pawl.runtime.submit(id, { type: "resolve", proposalId, choice: "retry", by: world.user })
      expect(await answerIt()).toBe("kept")
      await world.pawl.runtime.rest(id)
      expect(await proposalRows(world)).toMatchObject([{ status: "applying" }])
      const waiting = await world.load(id)
      expect(waiting.proposals.get(proposalId)?.status).toBe("in_doubt")
      expect(waiting.inbox.map(({ input }) => input.type)).toEqual(["resolve"])
      await expect(answerIt()).rejects.toMatchObject({ code: "not_in_doubt", details: { status: "applying" } })
      expect(saved).toHaveLength(1)
      await run("DELETE FROM node WHERE id = 'node_gone'")
      await world.pawl.runtime.recover()
      await world.pawl.runtime.rest(id)
      expect(saved).toHaveLength(2)
      expect(await proposalRows(world)).toMatchObject([{ status: "applied" }])
    })

    test("cannot be decided like an open proposal", async () => {
      await using after = await openAfterDeath(create, forgetful)
      const { world, id } = after
      const commit = world.decide(id, await onlyProposal(world, id), "commit")
      await expect(commit).rejects.toMatchObject({ code: "proposal_decided", details: { status: "in_doubt" } })
      expect(after.saved).toHaveLength(1)
    })

    test("keeps new messages waiting until it is settled", async () => {
      await using after = await openAfterDeath(create, forgetful)
      const { world, id, model } = after
      expect(await world.pawl.runtime.submit(id, message("And?"))).toBe("kept")
      await world.pawl.runtime.rest(id)
      expect(model.received).toEqual([])
      await resolve(world, id, "done")
      expect(await repliesOf(world, id)).toEqual(["", "Well.", "Next."])
    })
  })

  test("a write that was interrupted, and whose process crashed before it ended, is left for the person to settle", async () => {
    await using database = await create()
    const mortal = new Mortal()
    const held = new Held()
    const clock = new TurnedClock()
    const tools = [write("save", held.run)]
    const id = await (async () => {
      const { between } = mortal
      await using world = await openWorld({ url: database.url, model: scripted(calls("save")), tools, clock, between })
      const { id } = await world.start("Save.", { mode: "auto" })
      const signal = await held.begun
      await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
      await aborted(signal)
      await clock.turn(2000)
      await world.pawl.runtime.rest(id)
      mortal.kill()
      return id
    })()
    await using world = await openChecked({ url: database.url, model: scripted(says("Well.")), tools, clock })
    expect(await resultsOf(world, id)).toMatchObject([{ status: "interrupted" }])
    expect(await proposalRows(world)).toMatchObject([{ status: "in_doubt" }])
    await resolve(world, id, "done")
    expect(await proposalRows(world)).toMatchObject([{ status: "applied" }])
    await world.send(id, "And?")
    expect((await repliesOf(world, id)).at(-1)).toBe("Well.")
  })

  test("a proposal that is not in doubt cannot be resolved", async () => {
    await using database = await create()
    await using world = await openChecked({ url: database.url, model: scripted(calls("save")), tools: [write("save")] })
    const id = await world.begin("Save.")
    await expect(resolve(world, id, "done")).rejects.toMatchObject({
      code: "not_in_doubt",
      details: { status: "pending" },
    })
  })

  describe("a write whose process crashed, and whose target can report its outcome", () => {
    const askable = (outcome: WriteOutcome | "throws") => (saved: CallId[], dies: () => void) =>
      defineTool({
        ...common,
        afterCrash: "ask-target",
        outcome: () => {
          if (outcome === "throws") throw new Error("nobody answers")
          return outcome
        },
        run(_input, { callId }) {
          if (saved.push(callId) === 1) dies()
          return answer("Saved.")
        },
      })

    test("has the result that its target reports, and is not tried again", async () => {
      await using after = await openAfterDeath(create, askable(answer("Saved, says the target.")))
      expect(after.saved).toHaveLength(1)
      expect(await resultsOf(after.world, after.id)).toMatchObject([{ status: "ok", text: "Saved, says the target." }])
      expect((await after.world.load(after.id)).run?.status).toBe("completed")
    })

    test("is tried again if its target reports that it never arrived", async () => {
      await using after = await openAfterDeath(create, askable("not-applied"))
      expect(after.saved).toHaveLength(2)
      expect(await resultsOf(after.world, after.id)).toMatchObject([{ status: "ok", text: "Saved." }])
    })

    test.each(["unknown", "throws"] as const)("is in doubt if its target does not know (%s)", async (outcome) => {
      await using after = await openAfterDeath(create, askable(outcome))
      expect(after.saved).toHaveLength(1)
      expect(await proposalRows(after.world)).toMatchObject([{ status: "in_doubt" }])
    })
  })

  test("a write whose target applies a call id once is tried again by itself", async () => {
    const idempotent = (saved: CallId[], dies: () => void) => ({
      ...forgetful(saved, dies),
      afterCrash: "run-again" as const,
    })
    await using after = await openAfterDeath(create, idempotent)
    expect(new Set(after.saved).size).toBe(1)
    expect(after.saved).toHaveLength(2)
    expect((await after.world.load(after.id)).run?.status).toBe("completed")
  })
})
