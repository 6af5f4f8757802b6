import { describe, expect, test } from "vitest"
import type { Input } from "../../core/engine/input.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { hasCode } from "../../core/protocol/errors.ts"
import type { ProposalId } from "../../core/protocol/ids.ts"
import { of, openChecked } from "../support/loop/checked-world.ts"
import { databases } from "../support/databases.ts"
import { Note, proposalRows } from "./note.ts"
import { message, type World } from "../support/loop/world.ts"

/** Changes the note once, then is done. */
const changing = () =>
  scripted(
    always(({ history }) => {
      const calledAlready = history.some((turn) => turn.role === "tool")
      return calledAlready ? says("Done.") : calls("change_note", { text: "new" })
    }),
  )

describe.each(databases)("on $name", ({ create }) => {
  /** Two processes on one database, and one note that both would change. */
  async function openTwo() {
    const database = await create()
    const note = new Note()
    const open = () => openChecked({ url: database.url, model: changing(), tools: [note.change()] })
    const worlds: [World, World] = [await open(), await open()]
    return {
      ...{ note, worlds },
      async [Symbol.asyncDispose]() {
        for (const world of worlds) await world[Symbol.asyncDispose]()
        await database[Symbol.asyncDispose]()
      },
    }
  }

  const decisions: ((proposalId: ProposalId, by: string) => Input)[] = [
    (proposalId, by) => ({ type: "decide", proposalId, decision: "commit", by }),
    (proposalId, by) => ({ type: "decide", proposalId, decision: "reject", by }),
    (proposalId, by) => ({ type: "decide", proposalId, decision: "commit", by }),
    (proposalId, by) => ({ type: "edit", proposalId, arguments: { text: "edited" }, by }),
  ]

  test("a decision that names another conversation decides nothing, and does not reveal that the proposal exists", async () => {
    await using two = await openTwo()
    const [world] = two.worlds
    const mine = await world.begin("Change the note.")
    const other = await world.begin("Change the note.")
    const [open] = await world.proposals(mine)
    for (const decide of decisions) {
      const misled = world.pawl.runtime.submit(other, decide(open!.proposed.id, "bob"))
      await expect(misled).rejects.toMatchObject({ code: "not_found" })
    }
    expect((await world.proposals(mine)).map(({ status }) => status)).toEqual(["pending"])
    await world.decide(mine, open!.proposed.id, "commit")
    expect(two.note.written).toHaveLength(1)
  })

  test("of twenty racing decisions from two processes one wins, the rest get the outcome, and it alone takes effect", async () => {
    await using two = await openTwo()
    const { worlds, note } = two
    for (let round = 0; round < 4; round++) {
      const id = await worlds[0].begin("Change the note.")
      const [open] = await worlds[0].proposals(id)
      const before = note.written.length
      const racing = Array.from({ length: 20 }, (_, n) => {
        const world = worlds[n % 2] as World
        return world.pawl.runtime.submit(id, decisions[(n + round) % 4]!(open!.proposed.id, `${world.user}#${n}`))
      })
      const settled = await Promise.allSettled(racing)
      for (const world of worlds) await world.pawl.runtime.rest(id)
      await worlds[1].pawl.runtime.recover() // a decision that was stored for a process that had just ended its work
      for (const world of worlds) await world.pawl.runtime.rest(id)

      const won = settled.flatMap((outcome, n) => (outcome.status === "fulfilled" ? [n] : []))
      expect(won).toHaveLength(1)
      const recorded = of(await worlds[0].events(id), "decision")
      expect(recorded).toMatchObject([{ by: `${worlds[won[0]! % 2]!.user}#${won[0]}` }])
      for (const outcome of settled) {
        if (outcome.status === "fulfilled") continue
        expect(outcome.reason).toMatchObject({ code: "proposal_decided", status: 409 })
        expect(outcome.reason.details.status).toMatch(/^(applying|applied|rejected|superseded|failed)$/)
      }
      const effect = note.written.slice(before)
      expect(effect).toEqual(recorded[0]?.decision === "commit" ? ["new"] : [])
      const [row] = (await proposalRows(worlds[0])).filter((row) => row.id === open!.proposed.id)
      expect(row?.status).toBe({ commit: "applied", reject: "rejected", edit: "superseded" }[recorded[0]!.decision])
    }
  })

  test("a commit that races with a new message and a cancel is applied once or not at all, and all readers agree", async () => {
    await using two = await openTwo()
    const { worlds, note } = two
    for (let round = 0; round < 4; round++) {
      const id = await worlds[0].begin("Change the note.")
      const [open] = await worlds[0].proposals(id)
      const before = note.written.length
      const inputs: Input[] = [
        decisions[0]!(open!.proposed.id, "ada"),
        message("Never mind."),
        { type: "cancel", by: "ada" },
        decisions[0]!(open!.proposed.id, "ada"),
      ]
      const racing = inputs.map((_, n) => worlds[n % 2]!.pawl.runtime.submit(id, inputs[(n + round) % 4]!))
      const settled = await Promise.allSettled(racing)
      for (let look = 0; look < 3; look++) {
        for (const world of worlds) {
          await world.pawl.runtime.recover()
          await world.pawl.runtime.rest(id)
        }
      }
      const refused = settled.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []))
      expect(refused.every((reason) => hasCode(reason, "proposal_decided"))).toBe(true)
      const effect = note.written.slice(before)
      const [row] = (await proposalRows(worlds[0])).filter((row) => row.id === open!.proposed.id)
      expect([row?.status, effect]).toEqual(effect.length > 0 ? ["applied", ["new"]] : ["superseded", []])
      const [end] = of(await worlds[0].events(id), "tool_end")
      expect(end?.status).toMatch(effect.length > 0 ? /^ok$/ : /^(superseded|cancelled)$/)
    }
  })
})
