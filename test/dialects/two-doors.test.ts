import { beforeAll, describe, expect, test, vi } from "vitest"
import { always } from "../../core/models/scripted/model.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { anyDatabase } from "../support/databases.ts"
import { type AgUiPerson, agUiAs, connects, runs } from "./ag-ui-client.ts"
import { type AiSdkPerson, aiSdkAs, NodeChat, textOf } from "./ai-sdk-client.ts"
import { Stage } from "./stage.ts"

describe.each(anyDatabase)("one conversation through two adapters, on $name", (database) => {
  let stage: Stage
  let useChat: AiSdkPerson
  let agUi: AgUiPerson

  beforeAll(async () => {
    vi.spyOn(console, "error").mockImplementation(() => {}) // a client prints what it throws
    stage = await Stage.open(database)
    useChat = await aiSdkAs(stage.face, "ada")
    agUi = await agUiAs(stage.face, "ada")
    return () => stage[Symbol.asyncDispose]()
  })

  const titles = async () =>
    (await stage.native.get("/api/workspace/tasks")).body.items.map(({ title }: { title: string }) => title)

  test.each([
    ["both agree", true, true],
    ["the page agrees and the frontend does not", true, false],
    ["the frontend agrees and the page does not", false, true],
  ])(
    "two adapters decide at once, %s: one decision counts, and the other client is notified",
    async (what, byPage, byFrontend) => {
      for (let round = 0; round < 4; round++) {
        const title = `${what} ${round}`
        stage.plays(calls("create_task", { title }), always(says("Done.")))
        const chat = new NodeChat({ transport: { ...useChat.transport, body: { agent: "workspace" } } })
        await chat.sendMessage({ text: title })
        const { conversationId } = chat.lastMessage!.metadata.pawl
        const frontend = agUi(conversationId, { agent: "workspace" })
        await connects(frontend)
        const [{ id }] = frontend.pendingInterrupts
        await chat.addToolApprovalResponse({ id, approved: byPage })
        const resume = [{ interruptId: id, status: "resolved", payload: { approved: byFrontend } }]
        // Alternates which request is sent first.
        const sending = [() => chat.sendMessage(), () => runs(frontend, { resume })] as const
        const [first, second] = round % 2 === 0 ? sending : ([sending[1], sending[0]] as const)
        const done = await Promise.all([first(), second()])
        const on = (round % 2 === 0 ? done[1] : done[0]) as Awaited<ReturnType<typeof runs>>
        const late = on.events.filter(({ name }) => name === "pawl.late").map(({ value }) => value)
        const { status } = (await stage.native.get(`/api/agent/proposals/${id}`)).body
        const kept = (await titles()).filter((one: string) => one === title).length
        expect([status, kept]).toEqual(status === "applied" ? ["applied", 1] : ["rejected", 0])
        if (byPage === byFrontend) expect([chat.error, late, kept]).toEqual([undefined, [], 1])
        else {
          const pageWon = byPage === (status === "applied")
          // The loser may get its answer while the approved change is still being applied.
          const stands = (told: string | undefined) => (told === "applying" ? "applied" : told)
          const told = chat.error && JSON.parse(chat.error.message)
          expect([told?.code, stands(told?.proposal.status)]).toEqual(
            pageWon ? [undefined, undefined] : ["proposal_decided", status],
          )
          expect(late.map((each) => [each.interruptId, each.code, stands(each.status)])).toEqual(
            pageWon ? [[id, "proposal_decided", status]] : [],
          )
        }
        expect(frontend.messages.at(-1).content).toBe("Done.")
        if (chat.error) await chat.resumeStream()
        expect(textOf(chat.lastMessage)).toBe("Done.")
        expect(stage.received).toHaveLength(2)
      }
    },
  )

  test("another person's ids give the same 404 on every route as ids that do not exist", async () => {
    stage.plays(calls("create_task", { title: "Mine" }), always(says("Done.")))
    const chat = new NodeChat({ transport: { ...useChat.transport, body: { agent: "workspace" } } })
    await chat.sendMessage({ text: "milk" })
    const { conversationId } = chat.lastMessage!.metadata.pawl
    const { approval, toolCallId } = chat.lastMessage!.parts.find(({ state }) => state === "approval-requested")
    const bob = await stage.face.as("bob")
    const words = { id: "w", role: "user", parts: [{ type: "text", text: "Hello" }] }
    const part = { type: "tool-create_task", toolCallId, input: {} }
    const decided = (id: string) => ({ ...part, state: "approval-responded", approval: { id, approved: true } })
    const answered = { ...part, state: "output-available", output: "forged" }
    const says_ = { id: "w", role: "user", content: "Hello" }
    const run = (threadId: string, more: object = {}) => ({ threadId, runId: "r", messages: [says_], ...more })
    const resume = (interruptId: string) => [{ interruptId, status: "resolved", payload: { approved: true } }]
    const attempts = (id: string, proposal: string) => [
      bob.post("/ai-sdk", { id, messages: [words] }),
      bob.post("/ai-sdk", { id, messages: [words], trigger: "regenerate-message" }),
      bob.post("/ai-sdk", { id, messages: [{ id: "a", role: "assistant", parts: [decided(proposal)] }] }),
      bob.post("/ai-sdk", { id, messages: [{ id: "a", role: "assistant", parts: [answered] }] }),
      bob.post("/ai-sdk", { id: "bobs", messages: [{ id: "a", role: "assistant", parts: [decided(proposal)] }] }),
      bob.get(`/ai-sdk/${id}`),
      bob.get(`/ai-sdk/${id}?cursor=1`),
      bob.get(`/ai-sdk/${id}/stream`),
      bob.get(`/ai-sdk/${id}/stream?ended=true`),
      bob.post(`/ai-sdk/${id}/stop`, {}),
      bob.post("/ag-ui/workspace", run(id)),
      bob.post("/ag-ui/workspace", run(id, { resume: resume(proposal) })),
      bob.post("/ag-ui/workspace", run("bobs", { messages: [], resume: resume(proposal) })),
      bob.post("/ag-ui/workspace/connect", run(id)),
    ]
    const foreign = await Promise.all(attempts(conversationId, approval.id))
    const missing = await Promise.all(attempts("conv_0", "prop_0"))
    expect(foreign.map(({ status, text }) => [status, text])).toEqual(missing.map(({ text }) => [404, text]))
    expect((await stage.native.get(`/api/agent/proposals/${approval.id}`)).body.status).toBe("pending")
    expect(stage.received).toHaveLength(1)
  })
})
