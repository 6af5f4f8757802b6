import { describe, expect, test } from "vitest"
import { z } from "zod"
import { type Answer, defineTool, failed, hasCode, openPawl } from "../../core/index.ts"
import { calls, says, type ScriptedReply, scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"

type Waiting = Extract<Answer, { status: "waiting" }>

/** A shelf of bolts, and an agent that takes bolts from it. */
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

  test("an approval is applied once, and the answer follows", async () => {
    const { stock, asked, proposal, ...opened } = await ask(calls("take", { pieces: 5 }), says("35 are left."))
    await using pawl = opened.pawl
    expect(stock.bolts).toBe(40)
    expect(await pawl.proposals.approve(proposal.id)).toMatchObject({ status: "applied" })
    expect(stock.bolts).toBe(35)
    expect(await pawl.answer(asked.conversationId)).toMatchObject({ status: "answered", text: "35 are left." })
    await expect(pawl.proposals.approve(proposal.id)).rejects.toSatisfy((e) => hasCode(e, "proposal_decided"))
    expect(stock.bolts).toBe(35)
  })

  test("rejecting applies nothing and passes the reason to the model", async () => {
    const { stock, asked, proposal, ...opened } = await ask(calls("take", { pieces: 5 }), ({ history }) => {
      const last = history.at(-1)
      return says(last?.role === "tool" ? (last.results[0]?.text ?? "") : "")
    })
    await using pawl = opened.pawl
    expect(await pawl.proposals.reject(proposal.id, "Too many.")).toMatchObject({ status: "rejected" })
    expect((await pawl.answer(asked.conversationId)).text).toContain("Too many.")
    expect(stock.bolts).toBe(40)
  })

  test("edited arguments create a new proposal; invalid ones are refused", async () => {
    const { stock, proposal, ...opened } = await ask(calls("take", { pieces: 5 }), says("Done."))
    await using pawl = opened.pawl
    await expect(pawl.proposals.edit(proposal.id, { pieces: "all" })).rejects.toThrow(/pieces/)
    const edited = await pawl.proposals.edit(proposal.id, { pieces: 1 })
    expect(edited).toMatchObject({ status: "pending", summary: "Take 1", arguments: { pieces: 1 } })
    expect(await pawl.proposals.get(proposal.id)).toMatchObject({ status: "superseded" })
    await pawl.proposals.approve(edited.id)
    expect(stock.bolts).toBe(39)
  })

  test("a pending proposal can be listed and approved after a restart", async () => {
    const { agents, url, stock, asked, ...opened } = await ask(calls("take", { pieces: 2 }))
    await opened.pawl.close()
    await using next = await openPawl({ store: url, models: scripted(says("38.")), agents })
    const { items } = await next.proposals.list({ status: "pending" })
    expect(items.map(({ summary }) => summary)).toEqual(["Take 2"])
    await next.proposals.approve(items[0]!.id)
    expect(await next.answer(asked.conversationId)).toMatchObject({ status: "answered", text: "38." })
    expect(stock.bolts).toBe(38)
  })

  test("a decision in another process is applied once, and both processes receive it", async () => {
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

  test("a proposal stays pending for a week", async () => {
    const { proposal, ...opened } = await ask(calls("take", { pieces: 5 }))
    await using _ = opened.pawl
    // Its creation time is that of its event, which may be written a moment later.
    const waits = Date.parse(proposal.expiresAt) - Date.parse(proposal.createdAt)
    expect(Math.round(waits / 1000)).toBe(7 * 24 * 60 * 60)
  })

  test("an expired proposal is reported as such, and can be proposed again", async () => {
    const { stock, agents } = shelf()
    const { url } = await create()
    const models = scripted(calls("take", { pieces: 5 }), says("35 are left."))
    const store = { url, durability: "normal" } as const
    const limits = { proposalMinutes: 0.01 }
    let asked: Waiting
    {
      await using short = await openPawl({ store, models, agents, limits })
      asked = (await short.ask("Take some.")) as Waiting
      const id = asked.proposals[0]!.id
      await expect.poll(async () => (await short.proposals.get(id)).status).toBe("expired")
      expect(await short.answer(asked.conversationId)).toMatchObject({
        ...{ status: "waiting", because: "expired", proposals: [{ id, status: "expired" }] },
      })
      await expect(short.proposals.approve(id)).rejects.toSatisfy((e) => hasCode(e, "proposal_expired"))
    }
    await using pawl = await openPawl({ store, models, agents })
    const old = asked.proposals[0]!.id
    stock.bolts = 50
    const anew = await pawl.proposals.again(old)
    expect(anew).toMatchObject({ status: "pending", summary: "Take 5", arguments: { pieces: 5 } })
    expect(await pawl.answer(asked.conversationId)).toMatchObject({ because: "approval", proposals: [{ id: anew.id }] })
    await expect(pawl.proposals.again(old)).rejects.toSatisfy((e) => hasCode(e, "proposal_decided"))
    expect(await pawl.proposals.approve(anew.id)).toMatchObject({ status: "applied" })
    expect(await pawl.answer(asked.conversationId)).toMatchObject({ status: "answered", text: "35 are left." })
    expect(stock.bolts).toBe(45)
  })

  test("cancelling settles pending proposals, and erasing removes everything", async () => {
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
