import { PassThrough } from "node:stream"
import { Client } from "@modelcontextprotocol/client"
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio"
import { beforeAll, describe, expect, test } from "vitest"
import type { Model } from "../../core/engine/model.ts"
import { bridgeMcp } from "../../apps/cli/open/mcp-bridge.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { hangs, replies, says } from "../../core/models/scripted/script.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { anyDatabase } from "../support/databases.ts"
import { ERAS, type Era, toAnswer } from "../dialects/mcp-client.ts"
import { Face, type Visitor } from "../support/server/face.ts"

describe.each(ERAS)("pawl mcp carries messages of protocol version %s", (era) => {
  let face: Face
  let native: Visitor
  let token: string
  /** That the model is asked. */
  let heard = Promise.withResolvers<void>()
  /** Changes an answer on its way from the server. */
  let onTheWay: (response: Response) => Response

  beforeAll(async () => {
    const script = scripted(
      always(({ history }) => {
        const last = history.at(-1)
        return last?.role === "user" && last.text === "wait" ? replies(says("Half"), hangs()) : says("Four of them.")
      }),
    )
    const model: Model = {
      ...{ name: "scripted", provider: "scripted", contextTokens: 200_000 },
      stream(request, signal) {
        heard.resolve()
        return script.stream(request, signal)
      },
    }
    face = await Face.open({ url: (await anyDatabase[0]!.create()).url, model })
    native = await face.as("ada")
    const person = await face.store.people.ensure("ada", Date.now())
    token = (await face.store.people.createToken(person, ["read", "chat"], Date.now())).token
    return () => face[Symbol.asyncDispose]()
  })

  async function start() {
    heard = Promise.withResolvers()
    onTheWay = (response) => response
    const [input, output] = [new PassThrough(), new PassThrough()]
    const fetch = async (url: string | URL, init?: RequestInit) => {
      const headers = new Headers(init?.headers)
      headers.set("authorization", `Bearer ${token}`)
      return onTheWay(await face.fetch(new Request(url, { ...init, headers })))
    }
    const end = { url: "http://localhost/mcp", fetch }
    const ended = bridgeMcp(end, { input, output, stopping: new AbortController().signal })
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: modeOf(era) } })
    // Lines in, lines out: its output is this test's input.
    await client.connect(new StdioServerTransport(output, input))
    const ask = async (message: string, options: object = {}) =>
      toAnswer((await client.callTool({ name: "ask_agent", arguments: { message, agent: "test" } }, options)) as never)
    return { input, client, ask, ended }
  }
  const newest = async () => (await native.get("/api/conversations?limit=1")).body.items[0].id as ConversationId
  const runOf = async (id: string) => (await native.get(`/api/conversations/${id}/runs`)).body.items[0]

  test("in both directions, with progress, until its input ends", async () => {
    const { client, ask, input, ended } = await start()
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("ask_agent")
    const told: unknown[] = []
    const { facts } = await ask("How many?", { onprogress: (progress: unknown) => told.push(progress) })
    expect([facts.answer, told.length > 0]).toEqual(["Four of them.", true])
    input.end()
    await ended
  })

  test("and cancellations: the run of the request stops", async () => {
    const { ask, input, ended } = await start()
    const cancel = new AbortController()
    const asked = ask("wait", { signal: cancel.signal }).catch((error: Error) => error)
    await heard.promise
    const id = await newest()
    const over = face.pawl.runtime.rest(id)
    cancel.abort()
    expect(await asked).toBeInstanceOf(Error)
    await over
    expect((await runOf(id)).status).toBe("cancelled")
    input.end()
    await ended
  })

  test("and reports an answer that is interrupted or missing", async () => {
    const { client, ask, input, ended } = await start()
    onTheWay = (response) =>
      response.status === 200 ? new Response("", { headers: { "content-type": "text/event-stream" } }) : response
    await expect(ask("How many?")).rejects.toThrow(/was interrupted/)
    onTheWay = () => new Response("no", { status: 401 })
    await expect(client.listTools()).rejects.toThrow(/no/)
    onTheWay = (response) => response
    expect((await ask("How many?")).facts.answer).toBe("Four of them.")
    input.end()
    await ended
  })

  test("malformed and oversized messages do no harm", async () => {
    const { input, client, ended } = await start()
    input.write("{no json\n[]\nnull\n\n")
    expect((await client.listTools()).tools.length).toBeGreaterThan(0)
    input.write("x".repeat(3 * 1024 * 1024))
    await ended
  })
})

const modeOf = (era: Era) => (era === "legacy" ? era : { pin: era })
