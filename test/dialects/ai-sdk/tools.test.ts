import { beforeAll, describe, expect, test } from "vitest"
import { always } from "../../../core/models/scripted/model.ts"
import { calls, replies, says } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { type AiSdkPerson, aiSdkAs, NodeChat, plain, sdk, textOf } from "../ai-sdk-client.ts"
import { Stage } from "../stage.ts"

const tools = { show_map: { description: "Shows a place.", inputSchema: { type: "object", properties: {} } } }
const MAP = calls("client-show_map", { place: "Oslo" })
const SHOWN = { zoom: 3 }
/** Sends automatically, as a page with its own tools and approvals does. */
const sendAutomaticallyWhen = (options: object): boolean =>
  sdk.lastAssistantMessageIsCompleteWithToolCalls(options) ||
  sdk.lastAssistantMessageIsCompleteWithApprovalResponses(options)

describe.each(anyDatabase)("tools of a page with useChat on $name", (database) => {
  let stage: Stage
  let ada: AiSdkPerson

  beforeAll(async () => {
    stage = await Stage.open(database)
    ada = await aiSdkAs(stage.face, "ada")
    return () => stage[Symbol.asyncDispose]()
  })

  interface Page {
    readonly id?: string
    readonly messages?: NodeChat["messages"]
    readonly agent?: string
    /** Whether its tool returns a result by itself. */
    readonly works?: boolean
    readonly automatic?: boolean
  }

  /** A page that executes its own tool on request, and does nothing else. */
  function pageOf({ agent = "test", works = true, automatic = true, ...more }: Page = {}) {
    const called: string[] = []
    let requests = 0
    const transport = {
      ...ada.transport,
      body: { agent, tools },
      fetch: ((url: string, init: RequestInit) => {
        requests++
        return ada.transport.fetch!(url, init)
      }) as typeof fetch,
    }
    const chat: NodeChat = new NodeChat({
      ...more,
      transport,
      onToolCall: ({ toolCall: { toolName, toolCallId, toolMetadata } }) => {
        if (toolMetadata?.pawl?.client !== true) return
        called.push(toolName)
        if (works) void chat.addToolOutput({ tool: toolName, toolCallId, output: SHOWN })
      },
      ...(automatic ? { sendAutomaticallyWhen } : {}),
    })
    return { chat, called, requests: () => requests }
  }
  const mapOf = ({ lastMessage }: Pick<NodeChat, "lastMessage">) =>
    plain(lastMessage!.parts.find(({ type }) => type === "tool-show_map"))
  const told = async (chat: NodeChat) => (await stage.native.get(`/ai-sdk/${chat.id}`)).body
  const bring = (chat: NodeChat, output: unknown) =>
    chat.addToolOutput({ tool: "show_map", toolCallId: mapOf(chat).toolCallId, output })

  test("one is called by the model and executed by the page, and the answer continues in the same message", async () => {
    stage.plays(replies(says("Look."), MAP), says("There it is."))
    const { chat, called, requests } = pageOf()
    await chat.sendMessage({ text: "Where is Oslo?" })
    expect([chat.error, chat.status, called, requests()]).toEqual([undefined, "ready", ["show_map"], 2])
    expect(chat.messages).toHaveLength(2)
    expect(mapOf(chat)).toMatchObject({ state: "output-available", input: { place: "Oslo" }, output: SHOWN })
    expect(textOf(chat.lastMessage)).toBe("Look.\n\nThere it is.")
    // The model receives the page's result as untrusted text.
    expect(JSON.stringify(stage.received[1]!.history)).toMatch(/Words from outside.*zoom/s)
    const { messages } = await told(chat)
    expect(messages.at(-1)).toMatchObject({ parts: plain(chat.lastMessage!.parts) })
    // A client that resumes later receives the whole answer, and executes nothing again.
    const late = pageOf({ id: chat.id, messages })
    await late.chat.resumeStream()
    expect([late.called, late.requests(), late.chat.status]).toEqual([[], 1, "ready"])
    expect(plain(late.chat.lastMessage!.parts)).toEqual(plain(chat.lastMessage!.parts))
  })

  test("a page that is reloaded while its tool call is pending executes it", async () => {
    stage.plays(MAP, says("There it is."))
    const before = pageOf({ works: false })
    await before.chat.sendMessage({ text: "Where is Oslo?" })
    expect([mapOf(before.chat).state, before.requests()]).toEqual(["input-available", 1])
    const { messages, activeStreamId } = await told(before.chat)
    expect(activeStreamId).toBe(before.chat.lastMessage!.id)
    const after = pageOf({ id: before.chat.id, messages })
    await after.chat.resumeStream()
    expect([after.called, after.chat.status, textOf(after.chat.lastMessage)]).toEqual([
      ...[["show_map"], "ready", "There it is."],
    ])
  })

  test("next to a pending write, both are settled with one request, and nothing is sent in between", async () => {
    stage.plays(calls(["client-show_map", {}], ["create_task", { title: "Go to Oslo" }]), always(says("Done.")))
    const { chat, requests } = pageOf({ agent: "workspace" })
    await chat.sendMessage({ text: "Oslo" })
    expect([mapOf(chat).state, requests()]).toEqual(["output-available", 1])
    const { approval } = chat.lastMessage!.parts.find(({ state }) => state === "approval-requested")
    const over = new Promise<void>((resolve) => {
      const look = () => (textOf(chat.lastMessage) === "Done." ? resolve() : setImmediate(look))
      look()
    })
    await chat.addToolApprovalResponse({ id: approval.id, approved: true })
    await over
    expect(requests()).toBe(2)
    const history = JSON.stringify(stage.received[1]!.history)
    expect(history).toMatch(/zoom.*Go to Oslo/s)
    expect(chat.lastMessage!.parts.find(({ type }) => type === "tool-create_task").state).toBe("output-available")
  })

  test("the first result counts: sent again it joins the same run, and a different one is refused as too late", async () => {
    stage.plays(MAP, says("There it is."))
    const { chat } = pageOf({ works: false, automatic: false })
    await chat.sendMessage({ text: "Where is Oslo?" })
    const { id, messages } = chat
    const [one, same, other] = [1, 2, 3].map(() => pageOf({ id, messages, works: false, automatic: false }).chat)
    await Promise.all([bring(one!, SHOWN), bring(same!, SHOWN), bring(other!, "not shown")])
    await Promise.all([one!.sendMessage(), same!.sendMessage()])
    expect([one!.error, same!.error]).toEqual([undefined, undefined])
    expect([textOf(one!.lastMessage), textOf(same!.lastMessage)]).toEqual(["There it is.", "There it is."])
    await other!.sendMessage()
    expect(JSON.parse(other!.error!.message)).toMatchObject({ status: 409, code: "call_settled" })
    expect(stage.received).toHaveLength(2)
  })

  test("a tool error reaches the model, and a new message settles a pending call, with any result sent until then", async () => {
    stage.plays(MAP, MAP, MAP, says("As you like."))
    const { chat } = pageOf({ works: false, automatic: false })
    await chat.sendMessage({ text: "Where is Oslo?" })
    const failed = { tool: "show_map", toolCallId: mapOf(chat).toolCallId, errorText: "no network" }
    await chat.addToolOutput({ ...failed, state: "output-error" })
    await chat.sendMessage()
    expect(JSON.stringify(stage.received[1]!.history)).toContain("no network")
    await chat.sendMessage({ text: "Where is Rome?" })
    await bring(chat, "shown at last")
    await chat.sendMessage({ text: "Never mind." })
    expect(JSON.stringify(stage.received[3]!.history)).toMatch(/did not send a result.*shown at last/s)
    expect(textOf(chat.lastMessage)).toBe("As you like.")
    expect((await told(chat)).messages.map(({ role }: { role: string }) => role)).toEqual([
      ...["user", "assistant", "user", "assistant", "user", "assistant"],
    ])
  })

  test("a result from another person, or for a call that is not pending, changes nothing", async () => {
    stage.plays(MAP, always(says("There it is.")))
    const { chat } = pageOf({ works: false, automatic: false })
    await chat.sendMessage({ text: "Where is Oslo?" })
    await bring(chat, "forged")
    const sent = { id: chat.id, messages: chat.messages }
    const bob = await stage.face.as("bob")
    const theirs = await bob.post("/ai-sdk", sent)
    const byId = await bob.post("/ai-sdk", { ...sent, id: chat.lastMessage!.metadata.pawl.conversationId })
    const none = await bob.post("/ai-sdk", { ...sent, id: "conv_0" })
    expect([theirs.status, byId.status, byId.text, theirs.text]).toEqual([404, 404, none.text, none.text])
    const other = { type: "tool-show_map", toolCallId: "call_0", state: "output-available", input: {}, output: "x" }
    const idle = await stage.native.post("/ai-sdk", {
      ...sent,
      messages: [{ id: "x", role: "assistant", parts: [other] }],
    })
    expect([idle.status, idle.body.detail]).toEqual([400, expect.stringContaining("does not answer an open proposal")])
    expect(stage.received).toHaveLength(1)
  })

  test.each<[what: string, tools: object]>([
    ["a name that is none", { "show map": {} }],
    ["a description that is none", { show: { description: 1 } }],
    ["a schema that is none", { show: { inputSchema: [] } }],
    ["a tool that is none", { show: "x" }],
    ["too many", Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`t${at}`, {}]))],
    ["too much", { show: { description: "x", inputSchema: { title: "x".repeat(100_000) } } }],
  ])("%s is refused, and no conversation is created", async (_what, declared) => {
    const words = { id: "w", role: "user", parts: [{ type: "text", text: "Hello" }] }
    const refused = await stage.native.post("/ai-sdk", { id: "refused", messages: [words], tools: declared })
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining("tools: ")])
    expect((await stage.native.get("/ai-sdk/refused")).body.conversationId).toBeNull()
  })
})
