import { beforeAll, describe, expect, test } from "vitest"
import { always } from "../../../core/models/scripted/model.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { type AiSdkPerson, aiSdkAs, NodeChat, sdk, textOf, type UiChat } from "../ai-sdk-client.ts"
import { Fax } from "../fax.ts"
import { Stage } from "../stage.ts"
import { TurnedClock } from "../../support/loop/world.ts"

const MINUTE = 60_000
const sendAutomaticallyWhen = sdk.lastAssistantMessageIsCompleteWithApprovalResponses

describe.each(anyDatabase)("deadlines of a chat with useChat on $name", (database) => {
  const clock = new TurnedClock(Date.now())
  const fax = new Fax()
  let stage: Stage
  let ada: AiSdkPerson

  beforeAll(async () => {
    stage = await Stage.open(database, { clock, tools: [fax.tool] })
    ada = await aiSdkAs(stage.face, "ada")
    return () => stage[Symbol.asyncDispose]()
  })

  const waiting = ({ lastMessage }: Pick<UiChat, "lastMessage">) =>
    lastMessage!.parts.find(({ state }) => state === "approval-requested")?.approval
  const statusOf = async (id: string) => (await stage.native.get(`/api/agent/proposals/${id}`)).body.status

  test("a write in doubt is reported as such, and a page that sends automatically sends nothing more", async () => {
    stage.plays(calls("fax"), always(says("Good.")))
    const asked: string[] = []
    const ask = (url: string, init: RequestInit) => {
      asked.push(init.method!)
      if (asked.length > 9) throw new Error("It goes round in circles.")
      return ada.transport.fetch!(url, init)
    }
    const transport = { ...ada.transport, fetch: ask as typeof fetch }
    const chat = new NodeChat({ transport, sendAutomaticallyWhen })
    await chat.sendMessage({ text: "Send it" })
    const { id } = waiting(chat)
    await fax.lost(clock, async () => {
      await chat.addToolApprovalResponse({ id, approved: true })
      await new Promise<void>((resolve) => {
        const look = () => (/^(ready|error)$/.test(chat.status) && asked.length > 1 ? resolve() : setImmediate(look))
        look()
      })
    })
    expect([await statusOf(id), chat.error, asked]).toEqual(["in_doubt", undefined, ["POST", "POST"]])
    expect(chat.lastMessage!.parts.at(-1)).toMatchObject({
      type: "data-in-doubt",
      data: { callId: expect.any(String) },
    })
    // A page that is opened or resumed in this state does not send either.
    const { messages } = (await stage.native.get(`/ai-sdk/${chat.id}`)).body
    const reloaded = new NodeChat({ id: chat.id, messages, transport, sendAutomaticallyWhen })
    await reloaded.resumeStream()
    expect(asked).toEqual(["POST", "POST", "GET"])
    // The run continues once the person resolves the write in another client.
    await stage.native.post(`/api/agent/proposals/${id}/resolve`, { choice: "done" })
    await reloaded.resumeStream()
    expect([reloaded.status, textOf(reloaded.lastMessage), asked.length]).toEqual(["ready", "Good.", 4])
  })

  test("a decision after the deadline is refused, and nothing is applied", async () => {
    stage.plays(calls("fax"), always(says("As you like.")))
    const chat = ada.chat()
    await chat.sendMessage({ text: "Send it" })
    const { id, descriptor } = waiting(chat)
    await clock.advance(Date.parse(descriptor.expiresAt) - clock.now())
    await chat.addToolApprovalResponse({ id, approved: true })
    await chat.sendMessage()
    expect(JSON.parse(chat.error!.message)).toMatchObject({ status: 409, code: "proposal_expired" })
    expect(await statusOf(id)).toBe("expired")
    await chat.sendMessage({ text: "Never mind" })
    expect([chat.error, textOf(chat.lastMessage)]).toEqual([undefined, "As you like."])
  })

  test("a page tool whose result arrives too late is refused, and the next message is answered", async () => {
    stage.plays(calls("client-look"), always(says("As you like.")))
    const transport = { ...ada.transport, body: { agent: "test", tools: { look: { description: "Looks." } } } }
    const chat = new NodeChat({ transport })
    await chat.sendMessage({ text: "Look" })
    await clock.advance(16 * MINUTE)
    const { toolCallId } = chat.lastMessage!.parts.find(({ type }) => type === "tool-look")
    await chat.addToolOutput({ tool: "look", toolCallId, output: "seen" })
    await chat.sendMessage()
    expect(JSON.parse(chat.error!.message)).toMatchObject({ status: 409, code: "call_expired" })
    await chat.sendMessage({ text: "Never mind" })
    expect([chat.error, textOf(chat.lastMessage)]).toEqual([undefined, "As you like."])
  })

  test("an ended answer can be resumed for some minutes; later only with `ended=true`", async () => {
    stage.plays(always(says("Yes.")))
    const chat = ada.chat()
    await chat.sendMessage({ text: "Hello" })
    const resume = (more = "") => stage.native.get(`/ai-sdk/${chat.id}/stream${more}`)
    const statuses = async () => [(await resume()).status, (await resume("?ended=true")).status]
    expect([...(await statuses()), (await resume("?ended=false")).status]).toEqual([200, 200, 204])
    await clock.advance(15 * MINUTE)
    expect(await statuses()).toEqual([204, 200])
    expect((await resume("?ended=perhaps")).status).toBe(400)
  })

  test("each page of a chat with many runs links to the previous one, up to the first message", async () => {
    stage.plays(always(says("Yes.")))
    const id = await stage.native.begin({ agent: "test" })
    for (let run = 0; run < 53; run++) await stage.native.say(id, `Words ${run}`)
    const page = async (cursor = "") => (await stage.native.get(`/ai-sdk/${id}${cursor && `?cursor=${cursor}`}`)).body
    const newest = await page()
    const before = await page(newest.nextCursor)
    expect([newest.messages.length, newest.truncated, before.messages.length]).toEqual([100, true, 6])
    expect([before.truncated, before.nextCursor]).toEqual([false, null])
    const said = [...before.messages, ...newest.messages].filter(({ role }: { role: string }) => role === "user")
    expect(said.map(textOf)).toEqual(Array.from({ length: 53 }, (_, run) => `Words ${run}`))
    for (const odd of ["x", "-1", "1e9"])
      expect((await stage.native.get(`/ai-sdk/${id}?cursor=${odd}`)).status).toBe(400)
  })
})
