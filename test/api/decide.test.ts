import { describe, expect, test } from "vitest"
import { z } from "zod"
import { type Answer, defineTool, failed, hasCode, openPawl } from "../../src/index.ts"
import { calls, says, type ScriptedReply, scripted } from "../../src/testing.ts"
import { anyDatabase } from "../support/databases.ts"

type Waiting = Extract<Answer, { status: "waiting" }>

/** A shelf of bolts, and an agent that takes from it. */
function shelf() {
  const stock = { bolts: 40 }
  const take = defineTool({
    name: "take",
    description: "Takes bolts.",
    input: z.object({ pieces: z.number() }),
    effect: "write",
    preview: ({ pieces }) => ({ summary: `Take ${pieces}`, action: "safe_update", revision: String(stock.bolts) }),
    run({ pieces }) {
      if (pieces > stock.bolts) return failed(`There are only ${stock.bolts}.`)
      stock.bolts -= pieces
      return { left: stock.bolts }
    },
  })
  return { stock, agents: [{ name: "shelf", tools: [take] }] }
}

describe.each(anyDatabase)("deciding, on $name", ({ create }) => {
  async function ask(...replies: ScriptedReply[]) {
    const { stock, agents } = shelf()
    const { url } = await create()
    const pawl = await openPawl({ store: { url, durability: "normal" }, models: scripted(...replies), agents })
    const asked = (await pawl.ask("Take some.")) as Waiting
    expect(asked).toMatchObject({ status: "waiting", because: "approval" })
    return { pawl, stock, url, agents, asked, proposal: asked.proposals[0]! }
  }

  test("a yes is carried out once, and the answer follows", async () => {
    const { stock, asked, proposal, ...opened } = await ask(calls("take", { pieces: 5 }), says("35 are left."))
    await using pawl = opened.pawl
    expect(stock.bolts).toBe(40)
    expect(await pawl.proposals.approve(proposal.id)).toMatchObject({ status: "applied" })
    expect(stock.bolts).toBe(35)
    expect(await pawl.answer(asked.conversationId)).toMatchObject({ status: "answered", text: "35 are left." })
    await expect(pawl.proposals.approve(proposal.id)).rejects.toSatisfy((e) => hasCode(e, "proposal_decided"))
    expect(stock.bolts).toBe(35)
  })

  test("a no does nothing, and the model is told why", async () => {
    const { stock, asked, proposal, ...opened } = await ask(calls("take", { pieces: 5 }), ({ history }) => {
      const last = history.at(-1)
      return says(last?.role === "tool" ? (last.results[0]?.text ?? "") : "")
    })
    await using pawl = opened.pawl
    expect(await pawl.proposals.reject(proposal.id, "Too many.")).toMatchObject({ status: "rejected" })
    expect((await pawl.answer(asked.conversationId)).text).toContain("Too many.")
    expect(stock.bolts).toBe(40)
  })

  test("other arguments are a proposal of their own; bad ones are refused", async () => {
    const { stock, proposal, ...opened } = await ask(calls("take", { pieces: 5 }), says("Done."))
    await using pawl = opened.pawl
    await expect(pawl.proposals.edit(proposal.id, { pieces: "all" })).rejects.toThrow(/pieces/)
    const edited = await pawl.proposals.edit(proposal.id, { pieces: 1 })
    expect(edited).toMatchObject({ status: "pending", summary: "Take 1", arguments: { pieces: 1 } })
    expect(await pawl.proposals.get(proposal.id)).toMatchObject({ status: "superseded" })
    await pawl.proposals.approve(edited.id)
    expect(stock.bolts).toBe(39)
  })

  test("what waits is found and decided in a next life, and by whoever asks for the list", async () => {
    const { agents, url, stock, asked, ...opened } = await ask(calls("take", { pieces: 2 }))
    await opened.pawl.close()
    await using next = await openPawl({ store: url, models: scripted(says("38.")), agents })
    const { items } = await next.proposals.list({ status: "pending" })
    expect(items.map(({ summary }) => summary)).toEqual(["Take 2"])
    await next.proposals.approve(items[0]!.id)
    expect(await next.answer(asked.conversationId)).toMatchObject({ status: "answered", text: "38." })
    expect(stock.bolts).toBe(38)
  })

  test("a decision in another process than the one that asked is carried out once, and both learn of it", async () => {
    const { agents, url, stock, asked, proposal, ...opened } = await ask(calls("take", { pieces: 2 }), says("38."))
    await using pawl = opened.pawl
    await using other = await openPawl({ store: url, models: scripted(says("38.")), agents })
    const settled = await Promise.allSettled([
      pawl.proposals.approve(proposal.id),
      other.proposals.approve(proposal.id),
    ])
    expect(settled.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"])
    expect(await pawl.answer(asked.conversationId)).toMatchObject({ status: "answered", text: "38." })
    expect(await other.answer(asked.conversationId)).toMatchObject({ status: "answered", text: "38." })
    expect(stock.bolts).toBe(38)
  })

  test("cancelling settles what waits, and erasing leaves nothing", async () => {
    const { stock, asked, proposal, ...opened } = await ask(calls("take", { pieces: 2 }))
    await using pawl = opened.pawl
    expect(await pawl.conversations.cancel(asked.conversationId)).toBe(true)
    expect(await pawl.conversations.cancel(asked.conversationId)).toBe(false)
    await expect(pawl.proposals.approve(proposal.id)).rejects.toThrow()
    await pawl.conversations.erase(asked.conversationId)
    await expect(pawl.conversations.get(asked.conversationId)).rejects.toSatisfy((e) => hasCode(e, "not_found"))
    expect(stock.bolts).toBe(40)
  })
})
