import { beforeAll, beforeEach, describe, expect, test } from "vitest"
import { always, scripted, type ScriptedModel } from "../../../core/models/scripted/model.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { type AiSdkPerson, aiSdkAs, NodeChat, plain, sdk, textOf, type UiChat } from "../ai-sdk-client.ts"
import { Face, type Visitor } from "../../support/server/face.ts"
import { currentScript } from "../../support/current-script.ts"

const sendAutomaticallyWhen = sdk.lastAssistantMessageIsCompleteWithApprovalResponses
const task = (title: string) => ["create_task", { title }] as const

describe.each(anyDatabase)("decisions with useChat on $name", ({ create }) => {
  let face: Face
  let ada: AiSdkPerson
  let native: Visitor
  let current: ScriptedModel

  beforeAll(async () => {
    const model = currentScript(() => current)
    face = await Face.open({ url: (await create()).url, model })
    ada = await aiSdkAs(face, "ada")
    native = await face.as("ada")
    return () => face[Symbol.asyncDispose]()
  })
  beforeEach(() => void (current = scripted(calls(task("Buy milk")), always(says("Done.")))))

  const open = (person = ada, more: object = {}) =>
    new NodeChat({ ...more, transport: { ...person.transport, body: { agent: "workspace" } } })
  const waiting = ({ lastMessage }: Pick<UiChat, "lastMessage">) =>
    (lastMessage?.parts ?? []).filter(({ state }) => state === "approval-requested")
  const proposed = async (more?: object) => {
    const chat = open(ada, more)
    await chat.sendMessage({ text: "milk" })
    return { chat, approval: waiting(chat)[0]?.approval, path: `/api/agent/proposals/${waiting(chat)[0]?.approval.id}` }
  }
  const titles = async () => {
    const { items } = (await native.get("/api/workspace/tasks")).body
    return items.map(({ title }: { title: string }) => title)
  }
  /** Sends the decision as `sendAutomaticallyWhen` does, and waits for the answer. */
  const decide = async (chat: NodeChat, approved: boolean, reason?: string) => {
    for (const { approval } of waiting(chat))
      await chat.addToolApprovalResponse({ id: approval.id, approved, ...(reason ? { reason } : {}) })
    await chat.sendMessage()
  }

  test("a write asks for approval with its preview, and is applied in the same message", async () => {
    const before = (await titles()).length
    const { chat, approval, path } = await proposed()
    expect([chat.status, chat.lastMessage!.metadata.pawl.status]).toEqual(["ready", "paused"])
    const [part] = waiting(chat)
    expect(part).toMatchObject({ type: "tool-create_task", input: { title: "Buy milk" } })
    const { hash, summary, expiresAt, diff } = (await native.get(path)).body
    expect(approval).toMatchObject({ requestReason: summary, descriptor: { hash, expiresAt, diff } })
    expect((await titles()).length).toBe(before)
    await decide(chat, true)
    expect([chat.status, chat.messages.length, textOf(chat.lastMessage)]).toEqual(["ready", 2, "Done."])
    const done = chat.lastMessage!.parts.find(({ type }) => type === "tool-create_task")
    expect(done).toMatchObject({ state: "output-available", approval: { id: approval.id, approved: true } })
    expect((await titles()).length).toBe(before + 1)
    const told = (await native.get(`/ai-sdk/${chat.id}`)).body.messages.at(-1)
    expect(told.parts).toEqual(plain(chat.lastMessage!.parts))
  })

  test("decisions are sent automatically if the page wants that, and a rejection is shown as denied", async () => {
    const answered = Promise.withResolvers<void>()
    const onChange = ({ lastMessage }: UiChat) => textOf(lastMessage) === "Done." && answered.resolve()
    const { chat, approval, path } = await proposed({ sendAutomaticallyWhen, onChange })
    await chat.addToolApprovalResponse({ id: approval.id, approved: false, reason: "not now" })
    await answered.promise
    expect(chat.lastMessage!.parts.find(({ type }) => type === "tool-create_task")).toMatchObject({
      ...{ state: "output-denied", approval: { approved: false, reason: "not now" } },
    })
    expect((await native.get(path)).body.status).toBe("rejected")
  })

  test("two writes are decided separately", async () => {
    current = scripted(calls(task("Tea"), task("Salt")), always(says("Done.")))
    const { chat } = await proposed()
    const [tea, salt] = waiting(chat)
    await chat.addToolApprovalResponse({ id: tea.approval.id, approved: true })
    await chat.sendMessage()
    expect([chat.lastMessage!.metadata.pawl.status, waiting(chat).length]).toEqual(["paused", 1])
    await chat.addToolApprovalResponse({ id: salt.approval.id, approved: false })
    await chat.sendMessage()
    expect(textOf(chat.lastMessage)).toBe("Done.")
    const kept = await titles()
    expect([kept.includes("Tea"), kept.includes("Salt")]).toEqual([true, false])
  })

  test("of two concurrent decisions by two adapters one wins, and the other client receives the outcome", async () => {
    const { chat, path } = await proposed()
    const before = (await titles()).length
    const [, rejected] = await Promise.all([decide(chat, true), native.post(`${path}/reject`, {})])
    const { status } = (await native.get(path)).body
    const isMine = status === "applied"
    expect(["applied", "rejected"]).toContain(status)
    expect(rejected.status).toBe(isMine ? 409 : 200)
    expect((await titles()).length - before).toBe(isMine ? 1 : 0)
    if (!isMine) expect(JSON.parse(chat.error!.message)).toMatchObject({ status: 409, code: "proposal_decided" })
  })

  test("a decision after another is refused with the outcome, and a reload shows the current state", async () => {
    const { chat, path } = await proposed()
    await native.post(`${path}/reject`, { reason: "mine" })
    await decide(chat, true)
    const told = JSON.parse(chat.error!.message)
    expect(told).toMatchObject({ code: "proposal_decided", proposal: { status: "rejected" } })
    const { messages } = (await native.get(`/ai-sdk/${chat.id}`)).body
    const part = messages.at(-1).parts.find(({ type }: { type: string }) => type === "tool-create_task")
    expect(part).toMatchObject({ state: "output-denied", approval: { approved: false, reason: "mine" } })
  })

  test("a decision that is sent twice counts once, with the same answer", async () => {
    const { chat } = await proposed()
    const before = (await titles()).length
    for (const { approval } of waiting(chat)) await chat.addToolApprovalResponse({ id: approval.id, approved: true })
    const sent = { id: chat.id, messages: chat.messages, trigger: "submit-message" }
    const both = await Promise.all([native.post("/ai-sdk", sent), native.post("/ai-sdk", sent)])
    const late = await native.post("/ai-sdk", sent)
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    expect(late.text.replaceAll(/"data-step".*\n/g, "")).toBe(both[0]!.text.replaceAll(/"data-step".*\n/g, ""))
    expect((await titles()).length - before).toBe(1)
  })

  test("a change that another client edited is proposed again, with the arguments that would run now", async () => {
    const { chat, path } = await proposed()
    const { id } = (await native.post(`${path}/edit`, { arguments: { title: "Buy oat milk" } })).body
    await chat.resumeStream()
    expect(waiting(chat)).toMatchObject([{ input: { title: "Buy oat milk" }, approval: { id } }])
    await decide(chat, true)
    expect(await titles()).toContain("Buy oat milk")
  })

  test("after a reload pending changes are there, both in the messages and in the stream", async () => {
    const { chat } = await proposed()
    const { messages, activeStreamId } = (await native.get(`/ai-sdk/${chat.id}`)).body
    expect(activeStreamId).toBe(chat.lastMessage!.id)
    const reloaded = open(ada, { id: chat.id, messages })
    expect(waiting(reloaded)).toHaveLength(1)
    await reloaded.resumeStream()
    expect(plain(reloaded.lastMessage)).toEqual(plain(chat.lastMessage))
    await decide(reloaded, true)
    expect(textOf(reloaded.lastMessage)).toBe("Done.")
  })

  test("a message supersedes a pending change, but not one whose approval was not sent yet", async () => {
    const { chat, approval, path } = await proposed()
    await chat.addToolApprovalResponse({ id: approval.id, approved: true })
    await chat.sendMessage({ text: "and bread" })
    expect(JSON.parse(chat.error!.message)).toMatchObject({ status: 409, code: "still_pending" })
    expect((await native.get(path)).body.status).toBe("pending")
    current = scripted(calls(task("Buy milk")), always(says("Done.")))
    const other = await proposed()
    await other.chat.sendMessage({ text: "never mind" })
    expect((await native.get(other.path)).body.status).toBe("superseded")
  })

  test("a token without approval rights decides nothing, and a person cannot decide for another", async () => {
    const { chat, path } = await proposed()
    for (const { approval } of waiting(chat)) await chat.addToolApprovalResponse({ id: approval.id, approved: true })
    const sent = { id: chat.id, messages: chat.messages, trigger: "submit-message" }
    const speaker = await face.as("ada", "read", "chat")
    expect((await speaker.post("/ai-sdk", sent)).body).toMatchObject({ status: 403, code: "forbidden" })
    const bob = await face.as("bob")
    const theirs = await bob.post("/ai-sdk", sent)
    const begun = open(await aiSdkAs(face, "bob"), { id: chat.id })
    await begun.sendMessage({ text: "mine" })
    const again = await bob.post("/ai-sdk", sent)
    expect([theirs.status, again.status, again.text]).toEqual([404, 404, theirs.text])
    expect((await native.get(path)).body.status).toBe("pending")
  })
})
