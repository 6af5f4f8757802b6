import { describe, expect, test, vi } from "vitest"
import { z } from "zod"
import { answer, defineTool } from "../../core/engine/definition/tool.ts"
import { createClient, emptyTranscript, reduce, type Transcript } from "../../client/index.ts"
import { always } from "../../core/models/scripted/model.ts"
import { calls, fails, replies, says, thinks } from "../../core/models/scripted/script.ts"
import { anyDatabase } from "../support/databases.ts"
import { agUiAs, asks, runs } from "./ag-ui-client.ts"
import { aiSdkAs, NodeChat } from "./ai-sdk-client.ts"
import { Stage } from "./stage.ts"
import { named } from "../support/loop/several-models.ts"

const tool = { description: "For this test.", input: z.object({ what: z.string().optional() }) }
const read = { ...tool, effect: "read", afterCrash: "run-again" } as const
const tools = [
  defineTool({
    ...read,
    name: "look",
    run: async () => answer("Four doors.", { data: { kind: "table", rows: [[4]] } }),
  }),
  defineTool({ ...read, name: "fall", run: () => Promise.reject(new Error("It broke.")) }),
  defineTool({
    ...{ ...tool, name: "paint", effect: "write", afterCrash: "in-doubt", inverse: false },
    run: async ({ what }) => answer(`Painted the ${what}.`),
  }),
]
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const WORDS = "How many doors — and paint one ☑?"

/** Reasoning, three kinds of tool calls, a reply that restarts, two writes (one approved), and a change of model. */
const script = () => [
  replies(
    thinks("Let me see.", undefined, { chunks: 2 }),
    says("I look.", { chunks: 3 }),
    calls(["look", {}], ["fall", {}], ["nothing", { a: 1 }]),
  ),
  fails("overloaded", { after: "Fif", retriable: true }),
  replies(says("Four."), calls(["paint", { what: "door" }], ["paint", { what: "wall" }])),
  always(fails("quota_spent")),
]
const open = async (database: (typeof anyDatabase)[number]) => {
  const others = [named("b", always(says("Done, as you said.", { chunks: 2 })))]
  const stage = await Stage.open(database, { tools, others, agent: { fallback: ["b"] } })
  stage.plays(...script())
  return stage
}

// oxlint-disable-next-line typescript/no-explicit-any -- whatever a client holds; each is read into lines
type Told = any

const call = (name: string, input: unknown, status: string, text: unknown) => [
  ...["call", name, JSON.stringify(input), status, status === "rejected" ? "" : text],
]

/** Returns the transcript that our own client shows. */
const ours = ({ items }: Transcript) =>
  items.flatMap((item): unknown[][] => {
    if (item.type === "call") return [call(item.name, item.input, item.state, item.text)]
    if (item.type !== "message") return []
    const { role, content, reasoning, files = [] } = item.message
    if (role === "user") return [["user", content, ...files.map(({ name, type }) => `${name} ${type}`)]]
    return [...(reasoning ? [["thought", reasoning.text]] : []), ...(content ? [["reply", content]] : [])]
  })
/** The rest of the client's state: proposals with their outcome, the answering model, notices. */
const small = ({ items }: Transcript) =>
  items.flatMap((item) => {
    if (item.type === "proposal") return [[item.proposal.summary, item.proposal.status, item.reason]]
    if (item.type === "notice") return [[item.notice, item.detail]]
    return item.type === "message" ? [[item.message.model, item.message.data]] : []
  })

const inUseChat = ({ role, parts }: Told): unknown[][] => {
  if (role === "user") {
    const files = parts.flatMap(({ type, filename, mediaType }: Told) =>
      type === "file" ? `${filename} ${mediaType}` : [],
    )
    return [["user", parts.at(-1).text, ...files]]
  }
  const status: Record<string, string> = {
    "output-available": "ok",
    "output-denied": "rejected",
    "output-error": "error",
  }
  return parts.flatMap(({ type, text, input, state, output, errorText }: Told) => {
    if (type === "text") return [["reply", text]]
    if (type === "reasoning") return [["thought", text]]
    return type.startsWith("tool-") ? [call(type.slice(5), input, status[state]!, output ?? errorText)] : []
  })
}

const inAgUi = (messages: Told[], statusOf: ReadonlyMap<string, string>) =>
  messages.flatMap(({ role, content, toolCalls = [] }: Told): unknown[][] => {
    if (role === "user") return [["user", content]]
    if (role === "reasoning") return [["thought", content]]
    if (role !== "assistant") return []
    const called = toolCalls.map(({ id, function: { name, arguments: input } }: Told) => {
      const result = messages.find(({ toolCallId }: Told) => toolCallId === id)
      return call(name, JSON.parse(input), statusOf.get(id)!, result?.content)
    })
    return [...(content ? [["reply", content]] : []), ...called]
  })

describe.each(anyDatabase)("the same script through three adapters, on $name", (database) => {
  /** Returns a conversation as our own client follows it to its end. */
  async function followed({ face }: Stage, id: string): Promise<Transcript> {
    const { token } = await aiSdkAs(face, "ada")
    const ask = ((url: string, init: RequestInit) => face.fetch(new Request(url, init))) as typeof fetch
    const client = createClient({ baseUrl: "http://localhost", token, fetch: ask })
    let transcript = emptyTranscript
    for await (const frame of client.events(id)) {
      transcript = reduce(transcript, frame)
      if (frame.type === "done" && (frame.data as Told).status === "completed") break
    }
    return transcript
  }

  async function natively(withFile: boolean): Promise<Transcript> {
    await using stage = await open(database)
    const { native } = stage
    const id = await native.begin({ agent: "test" })
    const names = { "content-type": "image/png", "x-file-name": "dot.png" }
    const file = withFile ? (await native.post("/api/files", Buffer.from(PNG, "base64"), names)).body.id : undefined
    const [door, wall] = (await native.say(id, WORDS, file ? { files: [file] } : {})).body.proposals
    await native.post(`/api/agent/proposals/${door.id}/commit`)
    await native.post(`/api/agent/proposals/${wall.id}/reject`, { reason: "too red" })
    return await followed(stage, id)
  }

  test("useChat shows the same as our own client and stores the same conversation, with a file", async () => {
    const own = await natively(true)
    await using stage = await open(database)
    const { transport } = await aiSdkAs(stage.face, "ada")
    const chat = new NodeChat({ transport })
    const image = { type: "file", mediaType: "image/png", filename: "dot.png", url: `data:image/png;base64,${PNG}` }
    await chat.sendMessage({ text: WORDS, files: [image] })
    for (const { approval, input } of chat.lastMessage!.parts.filter(({ state }) => state === "approval-requested")) {
      const { id } = approval
      const isDoor = input.what === "door"
      await chat.addToolApprovalResponse(isDoor ? { id, approved: true } : { id, approved: false, reason: "too red" })
    }
    await chat.sendMessage()
    expect(chat.error).toBeUndefined()
    const lines = chat.messages.flatMap(inUseChat)
    expect(lines).toEqual(ours(own))
    expect(lines.map(([kind]) => kind)).toEqual([
      ...["user", "thought", "reply", "call", "call", "call", "reply", "call", "call", "reply"],
    ])
    expect(lines[0]![2]).toBe("dot.png image/png")
    expect(chat.lastMessage!.parts.find(({ type }) => type === "data-table").data).toEqual({
      kind: "table",
      rows: [[4]],
    })
    const left = await followed(stage, chat.lastMessage!.metadata.pawl.conversationId)
    expect([ours(left), small(left)]).toEqual([ours(own), small(own)])
  })

  test("AG-UI's client shows the same as our own client and stores the same conversation", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {}) // the client prints what it throws
    const own = await natively(false)
    await using stage = await open(database)
    const agent = (await agUiAs(stage.face, "ada"))()
    const first = await asks(agent, WORDS)
    const resume = agent.pendingInterrupts.map(({ id: interruptId, metadata: { proposal } }) => {
      const payload = proposal.arguments.what === "door" ? { approved: true } : { approved: false, reason: "too red" }
      return { interruptId, status: "resolved", payload }
    })
    const { events } = await runs(agent, { resume })
    const results = [...first.events, ...events].filter(({ type }) => type === "TOOL_CALL_RESULT")
    const statusOf = new Map(results.map(({ toolCallId, metadata }) => [toolCallId, metadata.status]))
    expect(inAgUi(agent.messages, statusOf)).toEqual(ours(own))
    expect(results.map(({ metadata }) => metadata.data)).toContainEqual({ kind: "table", rows: [[4]] })
    const left = await followed(stage, first.events[0].metadata.pawl.conversationId)
    expect([ours(left), small(left)]).toEqual([ours(own), small(own)])
  })
})
