import { describe, expect, test } from "vitest"
import { z } from "zod"
import { answer, defineTool, type Tool } from "../../core/engine/definition/tool.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { Proposal } from "../../core/protocol/proposals/proposal.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { TurnedClock } from "../support/loop/world.ts"

/** The time limit of a write, plus its grace period. */
const TOOL_AND_GRACE_MS = 32_000
const milk = calls("create_task", { title: "Buy milk" })

describe.each(anyDatabase)("deciding over HTTP on $name", ({ create }) => {
  const url = async () => (await create()).url

  test("a rejection reaches the model with its reason, and nothing is written", async () => {
    const model = scripted(milk, says("As you wish."))
    await using face = await Face.open({ url: await url(), model })
    const ada = await face.as("ada")
    const id = await ada.begin()
    const [proposal] = (await ada.say(id, "milk")).body.proposals
    const rejected = await ada.post(`/api/agent/proposals/${proposal.id}/reject`, { reason: "I have some" })
    expect([rejected.status, rejected.body]).toEqual([200, { ...proposal, status: "rejected" }])
    const { body } = await ada.post(`/api/conversations/${id}/resume`)
    expect(body.messages.map(({ content }: { content: string }) => content)).toEqual([
      "The person rejected this: I have some",
      "As you wish.",
    ])
    const again = await ada.post(`/api/agent/proposals/${proposal.id}/reject`)
    expect([again.status, again.body.code, again.body.proposal.status]).toEqual([409, "proposal_decided", "rejected"])
    const { user } = await face.store.journal.load(id as never)
    expect(await face.store.workspaceOf(user).select("tasks")).toEqual([])
  })

  test("an edit is a new proposal, and its arguments run", async () => {
    const model = scripted(milk, says("Done."))
    await using face = await Face.open({ url: await url(), model })
    const ada = await face.as("ada")
    const id = await ada.begin()
    const [proposal] = (await ada.say(id, "milk")).body.proposals
    const path = `/api/agent/proposals/${proposal.id}`

    const misfit = await ada.post(`${path}/edit`, { arguments: { title: "", colour: "red" } })
    expect([misfit.status, misfit.body.code]).toEqual([400, "bad_request"])
    expect(misfit.body.detail).toMatch(/title.*colour/)
    expect((await ada.get(path)).body.status).toBe("pending")

    const edited = await ada.post(`${path}/edit`, { arguments: { title: "Buy oat milk", priority: "high" } })
    expect(edited.status).toBe(201)
    const successor = Proposal.parse(edited.body)
    expect(successor).toMatchObject({ status: "pending", callId: proposal.callId, runId: proposal.runId })
    expect(successor.id).not.toBe(proposal.id)
    expect(successor.hash).not.toBe(proposal.hash)
    expect(successor.arguments).toEqual({ title: "Buy oat milk", priority: "high" })
    expect(successor.diff?.after).toMatchObject({ title: "Buy oat milk", priority: "high" })
    expect((await ada.get(path)).body).toMatchObject({ status: "superseded", arguments: { title: "Buy milk" } })
    expect((await ada.post(`${path}/commit`)).body).toMatchObject({
      code: "proposal_decided",
      proposal: { status: "superseded" },
    })

    expect((await ada.post(`/api/agent/proposals/${successor.id}/commit`)).body.status).toBe("applied")
    const { body } = await ada.post(`/api/conversations/${id}/resume`)
    expect(body.messages[0].content).toContain("The person changed the arguments to")
    expect(body.messages[0].content).toContain("Task created: Buy oat milk")
  })

  test("of many decisions at once one counts, and the others get its result", async () => {
    const model = scripted(milk, says("Done."))
    await using face = await Face.open({ url: await url(), model })
    const ada = await face.as("ada")
    const id = await ada.begin()
    const [proposal] = (await ada.say(id, "milk")).body.proposals
    const ways = Array.from({ length: 20 }, (_, n) => (n % 2 ? "commit" : "reject"))
    const replies = await Promise.all(ways.map((way) => ada.post(`/api/agent/proposals/${proposal.id}/${way}`)))
    const lost = replies.filter(({ status }) => status === 409)
    expect([replies.filter(({ status }) => status === 200).length, lost.length]).toEqual([1, 19])
    for (const { body, type } of lost) {
      expect(type).toBe("application/problem+json")
      expect(Proposal.parse(body.proposal).id).toBe(proposal.id)
      expect(body.proposal.status).not.toBe("pending")
    }
    await face.pawl.runtime.rest(id as never)
    const { user } = await face.store.journal.load(id as never)
    const { status } = (await ada.get(`/api/agent/proposals/${proposal.id}`)).body
    expect(await face.store.workspaceOf(user).select("tasks")).toHaveLength(status === "applied" ? 1 : 0)
  })

  test("two proposals of one reply: each commit waits for its own call, the run for both", async () => {
    const both = calls(["create_task", { title: "A" }], ["create_task", { title: "B" }])
    await using face = await Face.open({ url: await url(), model: scripted(both, says("Both.")) })
    const ada = await face.as("ada")
    const id = await ada.begin()
    const { proposals } = (await ada.say(id, "two")).body
    expect(proposals.map((each: Proposal) => each.arguments)).toEqual([{ title: "A" }, { title: "B" }])
    expect((await ada.post(`/api/agent/proposals/${proposals[1].id}/commit`)).body.status).toBe("applied")
    const early = await ada.post(`/api/conversations/${id}/resume`)
    expect([early.status, early.body.code]).toEqual([409, "still_pending"])
    expect((await ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)).body.status).toBe("applied")
    const { body } = await ada.post(`/api/conversations/${id}/resume`)
    expect(body.messages.map(({ seq }: { seq: number }) => seq)).toEqual([3, 4, 5])
    expect(body.messages[2].content).toBe("Both.")
  })

  test("a proposal that has expired cannot be decided, and the next resume settles it", async () => {
    const clock = new TurnedClock()
    await using face = await Face.open({ url: await url(), model: scripted(milk, says("Too late.")), clock })
    const ada = await face.as("ada")
    const id = await ada.begin()
    const [proposal] = (await ada.say(id, "milk")).body.proposals
    await clock.turn(15 * 60_000)
    expect((await ada.get("/api/agent/proposals?status=pending")).body.items).toEqual([])
    expect((await ada.get("/api/agent/proposals?status=expired")).body.items).toHaveLength(1)
    for (const act of ["commit", "reject"]) {
      const late = await ada.post(`/api/agent/proposals/${proposal.id}/${act}`)
      expect([late.status, late.body.code, late.body.proposal.status]).toEqual([409, "proposal_expired", "expired"])
    }
    const { body } = await ada.post(`/api/conversations/${id}/resume`)
    expect(body.messages.map(({ content }: { content: string }) => content).at(-1)).toBe("Too late.")
    const later = await ada.post(`/api/agent/proposals/${proposal.id}/commit`)
    expect([later.status, later.body.code]).toEqual([409, "proposal_expired"])
  })

  test("a target that has changed since makes the proposal stale", async () => {
    let revision = "1"
    const tool = write("paint", { preview: () => ({ summary: "Paint it", action: "safe_update", revision }) })
    const model = scripted(calls("paint"), says("Oh."))
    await using face = await Face.open({ url: await url(), model, tools: [tool] })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const [proposal] = (await ada.say(id, "paint")).body.proposals
    revision = "2"
    const stale = await ada.post(`/api/agent/proposals/${proposal.id}/commit`)
    expect([stale.status, stale.body.code]).toEqual([409, "proposal_stale"])
    expect(stale.body.proposal).toMatchObject({ id: proposal.id, status: "failed", code: "proposal_stale" })
  })

  test("a write without a result is in doubt until a person resolves it", async () => {
    const clock = new TurnedClock()
    let begun = Promise.withResolvers<void>()
    const tool = write("fax", { run: () => (begun.resolve(), new Promise(() => {})) })
    const model = scripted(calls("fax"), says("Good."), calls("fax"))
    await using face = await Face.open({ url: await url(), model, tools: [tool], clock })
    const ada = await face.as("ada")
    /** Sends a request that runs the fax, and lets its time run out. */
    const tried = async (path: string, body?: object) => {
      begun = Promise.withResolvers()
      const reply = ada.post(path, body)
      await begun.promise
      await clock.turn(TOOL_AND_GRACE_MS)
      return (await reply).body.status
    }
    const id = await ada.begin({ agent: "test" })
    const [proposal] = (await ada.say(id, "fax")).body.proposals
    const path = `/api/agent/proposals/${proposal.id}`
    const early = await ada.post(`${path}/resolve`, { choice: "done" })
    expect([early.status, early.body.code, early.body.proposal.status]).toEqual([409, "not_in_doubt", "pending"])
    expect(await tried(`${path}/commit`)).toBe("in_doubt")
    expect((await ada.get(`/api/conversations/${id}`)).body.proposals[0].status).toBe("in_doubt")
    expect(await tried(`${path}/resolve`, { choice: "retry" })).toBe("in_doubt")
    expect((await ada.post(`${path}/resolve`, { choice: "done" })).body.status).toBe("applied")
    expect((await ada.post(`/api/conversations/${id}/resume`)).body.messages.at(-1).content).toBe("Good.")

    const [second] = (await ada.say(id, "again")).body.proposals
    expect(await tried(`/api/agent/proposals/${second.id}/commit`)).toBe("in_doubt")
    await ada.post(`/api/conversations/${id}/cancel`)
    const tooLate = await ada.post(`/api/agent/proposals/${second.id}/resolve`, { choice: "retry" })
    expect([tooLate.status, tooLate.body.detail]).toEqual([400, expect.stringContaining("abandon")])
    expect((await ada.post(`/api/agent/proposals/${second.id}/resolve`, { choice: "abandon" })).body.status).toBe(
      "abandoned",
    )
  })
})

function write(name: string, more: object): Tool {
  const definition = {
    name,
    description: `Does ${name}.`,
    input: z.object({}),
    effect: "write",
    afterCrash: "in-doubt",
    inverse: false,
    run: () => answer("done"),
  } as const
  return defineTool({ ...definition, ...more })
}
