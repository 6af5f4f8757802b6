import { describe, expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

const two = calls(["create_task", { title: "Buy milk" }], ["create_task", { title: "Buy bread" }])
describe.each(anyDatabase)("one answer for several proposals on $name", ({ create }) => {
  async function asked(more: Partial<Parameters<typeof Face.open>[0]> = {}) {
    const face = await Face.open({
      url: (await create()).url,
      model: scripted(two, says("Done."), says("More.")),
      ...more,
    })
    const ada = await face.as("ada")
    const id = await ada.begin()
    const { proposals } = (await ada.say(id, "milk and bread")).body as { proposals: { id: string }[] }
    const proposalIds = proposals.map((proposal) => proposal.id)
    return {
      face,
      ada,
      id,
      proposalIds,
      decide: (decision: string, shown = proposalIds) =>
        ada.post(`/api/conversations/${id}/decide`, { decision, proposalIds: shown }),
    }
  }

  const titles = async (face: Face, id: string) => {
    const { user } = await face.store.journal.load(id as never)
    return (await face.store.workspaceOf(user).select("tasks")).map(({ title }) => title).sort()
  }

  test.each([
    ["yes", "applied", "confirm", ["Buy bread", "Buy milk"]],
    ["no", "rejected", "confirm", []],
    ["all", "applied", "auto", ["Buy bread", "Buy milk"]],
    ["none", "rejected", "read-only", []],
  ])("%s leaves every one %s and the mode %s", async (decision, status, mode, written) => {
    const { face, ada, id, decide } = await asked()
    await using _ = face
    const answer = await decide(decision)
    expect([answer.status, answer.body.proposals.map((proposal: { status: string }) => proposal.status)]).toEqual([
      200,
      [status, status],
    ])
    expect((await ada.get(`/api/conversations/${id}`)).body.mode).toBe(mode)
    expect(await titles(face, id)).toEqual(written)
  })

  test("a proposal that was not shown is not decided", async () => {
    const { face, ada, proposalIds, decide } = await asked()
    await using _ = face
    await decide("yes", proposalIds.slice(0, 1))
    expect((await ada.get(`/api/agent/proposals/${proposalIds[1]}`)).body.status).toBe("pending")
  })

  test("a proposal of another conversation is a missing one, and no proposal is decided", async () => {
    const { face, ada, proposalIds } = await asked()
    await using _ = face
    const elsewhere = await ada.begin()
    const misled = await ada.post(`/api/conversations/${elsewhere}/decide`, { decision: "yes", proposalIds })
    expect([misled.status, misled.body.code]).toEqual([404, "not_found"])
    expect((await ada.get(`/api/agent/proposals/${proposalIds[0]}`)).body.status).toBe("pending")
  })
})
