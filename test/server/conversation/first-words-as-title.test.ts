import { describe, expect, test } from "vitest"
import { always } from "../../../core/models/scripted/model.ts"
import { says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/testing.ts"
import { fromDetail } from "../../../client/transcript/from-detail.ts"
import { reduce } from "../../../client/reduce.ts"
import { message } from "../../support/loop/world.ts"
import { databases } from "../../support/databases.ts"
import { connectMcp } from "../../dialects/mcp-client.ts"
import { openServer } from "../../support/server/socket.ts"
import { readFrames } from "../../support/server/stream.ts"

const TEXT = "  How many days\nare left? "
const TITLE = "How many days are left?"

type Server = Awaited<ReturnType<typeof openServer>>
type Start = (server: Server) => Promise<unknown>

const post =
  (path: string, body: object): Start =>
  async (server) => {
    const { status, text } = await (await server.visitor("ada")).post(path, body)
    expect([status, text]).toEqual([200, expect.any(String)])
  }
const user = (content: unknown) => ({ role: "user", content })
const parts = [{ type: "text", text: TEXT }]

const clients: readonly (readonly [string, Start])[] = [
  [
    "HTTP",
    async (server) => {
      const ada = await server.visitor("ada")
      await ada.say(await ada.begin({ agent: "test" }), TEXT)
    },
  ],
  [
    "the socket",
    async (server) => {
      using peer = await server.socket("ada")
      peer.send({ type: "chat_request", message: TEXT, context: { agent: "test" } })
      await peer.next("final")
    },
  ],
  ["/v1/chat/completions", post("/v1/chat/completions", { model: "pawl/test", messages: [user(TEXT)] })],
  ["/v1/responses", post("/v1/responses", { model: "pawl/test", input: TEXT })],
  ["the AI SDK", post("/ai-sdk", { id: "chat", agent: "test", messages: [{ id: "m", role: "user", parts }] })],
  [
    "AG-UI",
    post("/ag-ui/test", {
      ...{ threadId: "t", runId: "r", state: {}, tools: [], context: [], forwardedProps: {} },
      messages: [{ id: "m", ...user(TEXT) }],
    }),
  ],
  [
    "MCP",
    async (server) => {
      const token = await server.tokenFor("ada")
      await using person = await connectMcp(`${server.url}/mcp`, { token, era: "2026-07-28" })
      await person.call("ask_agent", { message: TEXT, agent: "test" })
    },
  ],
  [
    "the library",
    async ({ face }) => {
      const { id: user } = await face.store.people.ensure("ada", Date.now())
      await face.pawl.runtime.begin({ user, agent: "test" }, message(TEXT))
    },
  ],
]

describe.each(databases)("on $name", (database) => {
  const open = () => openServer({ database, model: scripted(always(says("Ten days."))) })
  const listed = async (server: Server) => {
    const { items } = (await (await server.visitor("ada")).get("/api/conversations")).body
    return items.map(({ title }: { title: string | null }) => title)
  }

  test.each(clients)("the first message of a conversation started over %s becomes its title", async (_, start) => {
    await using server = await open()
    await start(server)
    expect(await listed(server)).toEqual([TITLE])
  })

  test("a title that a person set before or after the first message stays", async () => {
    await using server = await open()
    const ada = await server.visitor("ada")
    const named = await ada.begin({ agent: "test", title: "My days" })
    await ada.say(named, TEXT)
    const renamed = await ada.begin({ agent: "test" })
    await ada.say(renamed, TEXT)
    await ada.patch(`/api/conversations/${renamed}`, { title: "My other days" })
    await ada.say(renamed, "And now?")
    await ada.say(named, "And now?")
    expect(await listed(server)).toEqual(["My other days", "My days"])
  })

  test("the title is set with the first message, in a stream as in the list, and stays after later messages", async () => {
    await using server = await open()
    const ada = await server.visitor("ada")
    const id = await ada.begin({ agent: "test" })
    const before = fromDetail((await ada.get(`/api/conversations/${id}`)).body)
    expect(before.title).toBe(null)
    await ada.say(id, TEXT)
    await ada.say(id, "And now?")
    const frames = await readFrames(
      await ada.watch(id),
      (seen) => seen.filter(({ type }) => type === "run_ended").length === 2,
    )
    const titles = frames.reduce(
      (seen, frame) => {
        const transcript = reduce(seen.transcript, frame as never)
        return { transcript, titles: { ...seen.titles, [frame.type]: transcript.title } }
      },
      { transcript: before, titles: {} as Record<string, string | null> },
    )
    expect([titles.transcript.title, titles.titles.message]).toEqual([TITLE, TITLE])
  })

  test("the title of a long first message ends between words", async () => {
    await using server = await open()
    const ada = await server.visitor("ada")
    const id = await ada.begin({ agent: "test" })
    await ada.say(id, "😀 word ".repeat(50_000))
    const [title] = await listed(server)
    expect(title).toBe(`${"😀 word ".repeat(8)}😀…`)
  })
})
