import { describe, expect, test } from "vitest"
import { fork } from "../../../core/engine/fork.ts"
import { answer, failed } from "../../../core/engine/definition/tool.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import type { ConversationId } from "../../../core/protocol/ids.ts"
import { openChecked, resultsOf } from "../../support/loop/checked-world.ts"
import { databases } from "../../support/databases.ts"
import { dyingAt } from "../../support/loop/faults.ts"
import { read, write } from "../../support/loop/tools.ts"
import { openWorld } from "../../support/loop/world.ts"

const same = (name: string, times: number, input = {}) =>
  calls(...Array.from({ length: times }, () => [name, input] as const))

describe.each(databases)("on $name, identical calls of one reply", ({ create }) => {
  test("are one proposal that shows their number, run once, and each call has its one result", async () => {
    await using database = await create()
    const done: string[] = []
    const tools = [write("pay", ({ q }) => (done.push(String(q)), answer("Paid.")))]
    const model = scripted(same("pay", 500, { q: "5" }), says("Done."))
    await using world = await openChecked({ url: database.url, model, tools })
    const id = await world.begin("Pay 5.")
    const open = await world.proposals(id)
    expect(open.map(({ proposed }) => proposed.summary)).toEqual([
      "Run pay (asked for 256 times in one reply; done once)",
    ])
    expect((await world.load(id)).run).toMatchObject({ status: "running" })
    await world.decide(id, open[0]!.proposed.id, "commit")
    expect(done).toEqual(["5"])
    const results = await resultsOf(world, id)
    expect(results).toHaveLength(256)
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["ok"]))
    expect(results.slice(1).every(({ reusedFrom }) => reusedFrom === results[0]?.callId)).toBe(true)
    expect(results[1]?.text).toMatch(/^\[The same call .*\] Paid\.$/)
    expect((await world.load(id)).run).toMatchObject({ status: "completed" })
  })

  test("share a rejection, a new message instead of a decision, and a cancel", async () => {
    await using database = await create()
    const model = scripted(same("pay", 3), same("pay", 2), says("Well."), same("pay", 2))
    await using world = await openChecked({ url: database.url, model, tools: [write("pay")] })
    const id = await world.begin("Pay.")
    await world.decide(id, (await world.proposals(id))[0]!.proposed.id, "reject", "no")
    expect(await world.results(id)).toEqual(["rejected", "rejected", "rejected"])
    await world.send(id, "Leave it.")
    expect((await world.results(id)).slice(3)).toEqual(["superseded", "superseded"])
    await world.send(id, "Pay now.")
    await world.pawl.runtime.submit(id, { type: "cancel", by: world.user })
    await world.pawl.runtime.rest(id)
    expect((await world.results(id)).slice(5)).toEqual(["cancelled", "cancelled"])
  })

  test("share the edit of the first", async () => {
    await using database = await create()
    const done: string[] = []
    const tools = [write("pay", ({ q }) => (done.push(String(q)), answer("Paid.")))]
    await using world = await openChecked({ url: database.url, model: scripted(same("pay", 2, { q: "50" })), tools })
    const id = await world.begin("Pay.")
    const { id: proposalId } = (await world.proposals(id))[0]!.proposed
    await world.pawl.runtime.submit(id, { type: "edit", proposalId, arguments: { q: "5" }, by: world.user })
    await world.pawl.runtime.rest(id)
    const [edited] = await world.proposals(id)
    expect(edited?.proposed.summary).toContain("asked for 2 times")
    await world.decide(id, edited!.proposed.id, "commit").catch(() => {})
    expect(done).toEqual(["5"])
    expect((await resultsOf(world, id)).map(({ text }) => text)).toEqual([
      expect.stringContaining('The person changed the arguments to {"q":"5"}'),
      expect.stringContaining('The person changed the arguments to {"q":"5"}'),
    ])
    world.problems.length = 0 // the script has no third reply
  })

  test("that read run once, whatever they return, and different writes stay apart", async () => {
    await using database = await create()
    const asked: string[] = []
    const tools = [
      read("look", ({ q }) => (asked.push(`look ${q}`), answer("x".repeat(2000)))),
      read("sorry", () => (asked.push("sorry"), failed("Not there."))),
    ]
    const several = calls(["look", { q: "a" }], ["sorry"], ["look", { q: "b" }], ["look", { q: "a" }], ["sorry"])
    const model = scripted(several, calls("look", { q: "a" }), says("Done."))
    await using world = await openChecked({ url: database.url, model, tools })
    const id = await world.begin("Look.")
    expect(asked.toSorted()).toEqual(["look a", "look b", "sorry"])
    const results = (await resultsOf(world, id)).toSorted((a, b) => a.seq - b.seq)
    expect(results.map(({ status }) => status)).toEqual(["ok", "error", "ok", "ok", "error", "ok"])
    expect(results[3]?.text.length).toBeLessThan(700)
    // The same call in a later reply gets the whole text, from the first answer.
    expect(results[5]).toMatchObject({ text: "x".repeat(2000), reusedFrom: results[0]?.callId })
  })

  test.each(["before", "after"] as const)(
    "are done at most once, whichever write is the last (%s it)",
    async (when) => {
      for (let at = 1, lived = false; !lived; at++) {
        await using database = await create()
        let done = 0
        const tools = [write("pay", () => (done++, answer("Paid."))), read("look")]
        const script = [calls(["look"], ["pay"], ["look"], ["pay"], ["pay"]), says("Done.")]
        let dying: ReturnType<typeof dyingAt> | undefined
        {
          const between = (journal: Parameters<typeof dyingAt>[1]) => (dying = dyingAt({ at, when }, journal))
          await using first = await openWorld({ url: database.url, model: scripted(...script), tools, between })
          await first.begin("Pay.", { mode: "auto" }).catch(() => {})
        }
        lived = !dying?.dead
        const model = scripted(always(({ history }) => (history.at(-1)?.role === "tool" ? says("Done.") : script[0]!)))
        await using world = await openChecked({ url: database.url, model, tools })
        await world.pawl.runtime.recover()
        const [row] = await world.store.engine.query<{ id: ConversationId }>("SELECT id FROM conversations", [])
        if (!row) continue
        await world.pawl.runtime.rest(row.id)
        expect(done).toBeLessThanOrEqual(1)
        const { run, calls: open } = await world.load(row.id)
        // Each has its result, or the interrupted write is in doubt and the calls behind it wait with it.
        if (run?.status === "running") expect(open.map(({ state }) => state)).toContain("in_doubt")
        else expect(await world.results(row.id)).toEqual(["ok", "ok", "ok", "ok", "ok"])
      }
    },
  )

  test("are copied into a fork with their results", async () => {
    await using database = await create()
    const model = scripted(same("look", 3), says("Seen."), says("Again."))
    await using world = await openChecked({ url: database.url, model, tools: [read("look")] })
    const id = await world.begin("Look.")
    const copy = await fork(world.pawl.ports, id, (await world.load(id)).position)
    await world.send(copy.id, "And now?")
    expect((await world.load(copy.id)).run).toMatchObject({ status: "completed" })
    expect((await resultsOf(world, copy.id)).map(({ status }) => status)).toEqual(["ok", "ok", "ok"])
  })

  test("more than a screenful of changes asks the model to do less", async () => {
    await using database = await create()
    const many = Array.from({ length: 30 }, (_, n) => ["pay", { q: `${n}` }] as const)
    const model = scripted(calls(...many), says("The rest later."))
    await using world = await openChecked({ url: database.url, model, tools: [write("pay")] })
    const id = await world.begin("Pay all.")
    const open = await world.proposals(id)
    expect(open).toHaveLength(20)
    const refused = await resultsOf(world, id)
    expect(refused).toHaveLength(10)
    expect(refused[0]).toMatchObject({ status: "error", text: expect.stringContaining("20 changes at a time") })
    for (const { proposed } of open) await world.decide(id, proposed.id, "commit")
    expect((await world.results(id)).filter((status) => status === "ok")).toHaveLength(20)
    expect((await world.load(id)).run).toMatchObject({ status: "completed" })
  })
})
