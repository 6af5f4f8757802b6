import { createContext, runInContext } from "node:vm"
import { build } from "rolldown"
import { expect, test } from "vitest"
import { calls, says, scripted } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { openServer } from "../support/server/socket.ts"
import { write } from "../support/loop/tools.ts"

const sqlite = databases.find(({ name }) => name === "sqlite")!

/** Globals that all browsers have supported for years, and none of Node's. */
const { URL, TextDecoder, TextEncoder, AbortController, AbortSignal, crypto, setTimeout, clearTimeout } = globalThis
const ofBrowsers = { URL, TextDecoder, TextEncoder, AbortController, AbortSignal, crypto, setTimeout, clearTimeout }

async function bundle(): Promise<string> {
  const { output } = await build({
    input: "client/index.ts",
    platform: "browser",
    write: false,
    output: { format: "iife", name: "pawl" },
    // An unresolved module would stay an import, with only a warning.
    onLog: (_level, log) => {
      throw new Error(log.message)
    },
  })
  expect(output).toHaveLength(1)
  return output[0].code
}

test("the client is one file for a browser, without Node's modules", { timeout: 120_000 }, async () => {
  const code = await bundle()
  expect(code).not.toMatch(/\bnode:|\brequire\(|\bprocess\.env|\bBuffer\./)
})

test(
  "it talks to a server and shows a conversation with browser globals only",
  {
    timeout: 120_000,
  },
  async () => {
    await using face = await Face.open({
      url: (await sqlite.create()).url,
      model: scripted(calls("change", { q: "a" }), says("Done.")),
      tools: [write("change")],
    })
    const ada = await face.store.people.ensure("ada", Date.now())
    const { token } = await face.store.people.createToken(ada, ["read", "chat", "approve", "manage"], Date.now())
    const fetch = (url: string, init: RequestInit) => face.fetch(new Request(url, init))
    const page = createContext({ ...ofBrowsers, fetch, token })
    runInContext(await bundle(), page)
    const shown = await runInContext(
      `(async () => {
      const client = pawl.createClient({ baseUrl: "http://localhost", token })
      const { id } = await client.createConversation({ body: { agent: "test" } })
      let transcript = pawl.emptyTranscript
      for await (const frame of client.run(id, "go")) transcript = pawl.reduce(transcript, frame)
      const { proposal } = transcript.items.find((item) => item.type === "proposal")
      await client.commitProposal({ params: { id: proposal.id } })
      for await (const frame of client.events(id, { after: transcript.cursor })) {
        transcript = pawl.reduce(transcript, frame)
        if (frame.type === "done") break
      }
      const refused = await client.readRun({ params: { id: "run_nobody" } }).catch((error) => error.code)
      return [transcript.status, transcript.items.map((item) => item.type).join(), refused]
    })()`,
      page,
    )
    expect([...(shown as string[])]).toEqual(["active", "message,message,call,proposal,message", "not_found"])
  },
)

test(
  "so does the client with a socket, opened at the page's own address",
  {
    timeout: 120_000,
  },
  async () => {
    await using server = await openServer({ database: sqlite, model: scripted(says("Hello."), says("Again.")) })
    const token = await server.tokenFor("ada")
    const page = new EventTarget()
    const [addEventListener, removeEventListener] = [
      page.addEventListener.bind(page),
      page.removeEventListener.bind(page),
    ]
    const opened: string[] = []
    class PageSocket extends WebSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols)
        opened.push(url)
      }
    }
    const location = { href: `${server.url}/conversations/1` }
    const document = Object.assign(new EventTarget(), { visibilityState: "visible" })
    const fetch = (url: string, init: RequestInit) => globalThis.fetch(new URL(url, location.href), init)
    const globals = { fetch, WebSocket: PageSocket, token, location, document, addEventListener, removeEventListener }
    const context = createContext({ ...ofBrowsers, ...globals })
    runInContext(await bundle(), context)
    const shown = await runInContext(
      `(async () => {
      const states = []
      const client = pawl.createSocketClient({ baseUrl: "", token })
      client.connection.onState(({ state }) => states.push(state))
      const { id } = await client.createConversation({ body: { agent: "test" } })
      let transcript = pawl.emptyTranscript
      for (const text of ["one", "two"]) {
        for await (const frame of client.run(id, text)) transcript = pawl.reduce(transcript, frame)
      }
      const { value } = await client.feed().next()
      return [transcript.items.map((item) => item.message.content).join(), value.type, states.join()]
    })()`,
      context,
    )
    expect([...(shown as string[])]).toEqual(["one,Hello.,two,Again.", "snapshot", "connecting,live"])
    expect(opened).toEqual([`${server.url.replace("http", "ws")}/api/ws`])
  },
)
