import { describe, expect, test } from "vitest"
import { z } from "zod"
import { defineTool, hasCode, openPawl, type PawlOptions } from "../../core/index.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"

/** A shelf of bolts: what is taken can be put back. */
function shelf() {
  const stock = { bolts: 40 }
  const input = z.object({ pieces: z.number() })
  const preview = ({ pieces }: { pieces: number }) => ({ summary: `Move ${pieces}`, action: "safe_update" as const })
  const change = (pieces: number) => ({ left: (stock.bolts += pieces) })
  const put = defineTool({
    ...{ name: "put", description: "Puts bolts back.", input, effect: "write", preview },
    run: ({ pieces }) => change(pieces),
  })
  const take = defineTool({
    ...{ name: "take", description: "Takes bolts.", input, effect: "write", preview },
    run: ({ pieces }) => change(-pieces),
    inverse: ({ pieces }) => ({ tool: "put", input: { pieces } }),
  })
  return { stock, agents: [{ name: "shelf", tools: [take, put] }] }
}

describe.each(anyDatabase)("audit, undo and grants, on $name", ({ create }) => {
  async function open(models: PawlOptions["models"]) {
    const { stock, agents } = shelf()
    const pawl = await openPawl({ store: { url: (await create()).url, durability: "normal" }, models, agents })
    return { pawl, stock }
  }

  test("an applied write is listed with who approved it, and its undo is a proposal", async () => {
    const { stock, ...opened } = await open(
      scripted(calls("take", { pieces: 5 }), says("35 are left."), says("Undone.")),
    )
    await using pawl = opened.pawl
    const asked = await pawl.ask("Take 5.")
    expect((await pawl.audit.list()).items).toEqual([])
    if (asked.status === "waiting") await pawl.proposals.approve(asked.proposals[0]!.id)
    await pawl.answer(asked.conversationId)
    const [entry] = (await pawl.audit.list()).items
    expect(entry).toMatchObject({ tool: "take", summary: "Move 5", arguments: { pieces: 5 }, undoable: true })
    expect(entry!.decidedBy).toMatch(/^user_/)

    const proposal = await pawl.audit.undo(entry!.id)
    expect(proposal).toMatchObject({ status: "pending", tool: "put", arguments: { pieces: 5 } })
    expect(stock.bolts).toBe(35)
    expect(await pawl.proposals.approve(proposal.id)).toMatchObject({ status: "applied" })
    expect(stock.bolts).toBe(40)
    expect(await pawl.audit.get(entry!.id)).toMatchObject({ undoneBy: proposal.id })
    await expect(pawl.audit.undo(entry!.id)).rejects.toSatisfy((error) => hasCode(error, "already_undone"))
  })

  test("a write without an inverse cannot be undone; entries of others do not exist", async () => {
    const { pawl: opened } = await open(scripted(calls("put", { pieces: 1 }), says("Done.")))
    await using pawl = opened
    await pawl.ask("Put 1.", { mode: "auto" })
    const [entry] = (await pawl.audit.list({ limit: 1 })).items
    expect(entry).toMatchObject({ tool: "put", decidedBy: "policy", undoable: false })
    await expect(pawl.audit.undo(entry!.id)).rejects.toSatisfy((error) => hasCode(error, "not_undoable"))
    await pawl.people.create("ada")
    const ada = pawl.as("ada")
    expect((await ada.audit.list()).items).toEqual([])
    for (const id of [entry!.id, "aud_none", "x"]) {
      await expect(ada.audit.get(id)).rejects.toSatisfy((error) => hasCode(error, "not_found"))
      await expect(ada.audit.undo(id)).rejects.toSatisfy((error) => hasCode(error, "not_found"))
    }
  })

  test("a grant covers later calls until it is used up or revoked", async () => {
    const take = (pieces: number) => calls("take", { pieces })
    const models = scripted(take(1), take(2), says("37."), take(3), says("34."))
    const { stock, ...opened } = await open(models)
    await using pawl = opened.pawl
    const asked = await pawl.ask("Take some.")
    const { conversationId: conversation } = asked
    if (asked.status === "waiting") await pawl.proposals.approve(asked.proposals[0]!.id, { uses: 3 })
    expect(await pawl.answer(conversation)).toMatchObject({ text: "37." })
    expect(stock.bolts).toBe(37)
    expect(await pawl.grants.list(conversation)).toMatchObject([
      { tool: "take", action: "safe_update", uses: 3, left: 2, grantedAt: expect.stringMatching(/Z$/) },
    ])
    await pawl.grants.revoke(conversation, "put")
    expect(await pawl.grants.list(conversation)).toHaveLength(1)
    await pawl.grants.revoke(conversation, "take")
    expect(await pawl.grants.list(conversation)).toEqual([])
    expect(await pawl.ask("Take 3.", { conversation })).toMatchObject({ status: "waiting", because: "approval" })
    expect(stock.bolts).toBe(37)
    await pawl.people.create("ada")
    const theirs = [pawl.as("ada").grants.list(conversation), pawl.as("ada").grants.revoke(conversation)]
    for (const each of await Promise.allSettled(theirs))
      expect(each).toMatchObject({ status: "rejected", reason: { code: "not_found" } })
  })
})
