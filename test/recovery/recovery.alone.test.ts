import { once } from "node:events"
import { rm, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { join } from "node:path"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { chatChunk, chatReply, ProviderServer, sse, streamHead } from "../../src/models/providers/server.fixture.ts"
import { dataFolder, PawlProcess, pawl } from "../support/processes/pawl-process.ts"
import { Visitor } from "../support/server/face.ts"
import { lifeNamed } from "../support/processes/package.ts"

vi.setConfig({ testTimeout: 90_000 })

const script = lifeNamed("server-life")
type Environment = Record<string, string>
type Server = PawlProcess & { readonly url: string }

async function start(environment: Environment, words = ["serve"], program?: string): Promise<Server> {
  const server = new PawlProcess(words, { PAWL_PORT: "0", ...environment }, program ? { script: program } : {})
  onTestFinished(() => server[Symbol.asyncDispose]()) // also where the test fails before it has ended it
  const [, url] = await server.says(/listening on (\S+)\n/)
  return Object.assign(server, { url: url as string })
}
const startLife = (environment: Environment) => start(environment, [], script)

async function tokenOf(environment: Environment): Promise<string> {
  return (await pawl(["token", "create", "--user", "ada"], environment)).stdout.trim()
}

const call = (name: string) => {
  const calls = [{ index: 0, id: "c", type: "function", function: { name, arguments: "{}" } }]
  return sse(chatChunk({ role: "assistant", tool_calls: calls }), chatChunk({}, "tool_calls"), "[DONE]")
}

/** Calls a tool once and then says something; a conversation that has a result gets words. */
const callsOnce = (name: string) =>
  ProviderServer.open((response, { body }) => {
    const done = body.messages.some(({ role }: { role: string }) => role === "tool")
    streamHead(response).end(done ? chatReply("All done.") : call(name))
  })

const settings = (provider: ProviderServer): Environment & { PAWL_DATA: string } => ({
  PAWL_DATA: dataFolder(),
  LM_STUDIO_ENDPOINT: provider.url,
  PAWL_MODEL: "qwen",
})

const stateOf = async (ada: Visitor, id: string) => {
  const { body } = await ada.get(`/api/conversations/${id}/state`)
  return body
}

/** Asks until it is so; the server works by itself meanwhile. */
async function until<T>(ask: () => Promise<T>, isSo: (value: T) => boolean, ms: number): Promise<T> {
  const deadline = Date.now() + ms
  for (;;) {
    const value = await ask()
    if (isSo(value)) return value
    if (Date.now() > deadline) throw new Error(`not so after ${ms} ms: ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

describe("after kill -9", () => {
  test("in the middle of a tool, the run goes on by itself with the next start, within 5 s and unasked", async () => {
    await using provider = await callsOnce("hang")
    const environment = settings(provider)
    const token = await tokenOf(environment)
    await writeFile(join(environment.PAWL_DATA, "hanging"), "")
    const first = await startLife(environment)
    const id = await new Visitor(fetch, token, first.url).begin()
    new Visitor(fetch, token, first.url).say(id, "go").catch(() => {})
    await first.says(/hanging/)
    await first.kill("SIGKILL")
    await rm(join(environment.PAWL_DATA, "hanging"))
    expect(provider.received).toHaveLength(1)

    const again = Date.now()
    await using second = await startLife(environment)
    // Watched at the provider, not at the server: nobody may say a word to it.
    await until(
      async () => provider.received.length,
      (asked) => asked === 2,
      5000,
    )
    expect(Date.now() - again).toBeLessThan(5000)
    const ada = new Visitor(fetch, token, second.url)
    const run = await until(
      () => stateOf(ada, id),
      ({ status }) => status !== "running",
      5000,
    )
    expect(run).toMatchObject({ status: "completed", toolHistory: [{ name: "hang", status: "ok" }] })
  })

  test.each(["tool", "reply"])(
    "a turn whose %s kills the process three times is set aside, the server stays up, and resume tries again",
    async (where) => {
      let deadly = true
      let server: Server | undefined
      await using provider = await ProviderServer.open((response, { body }) => {
        const done = body.messages.some(({ role }: { role: string }) => role === "tool")
        streamHead(response)
        if (where === "tool") return response.end(done ? chatReply("All done.") : call("kill"))
        if (!deadly) return response.end(chatReply("All done."))
        response.write(sse(chatChunk({ role: "assistant", content: "I beg" })))
        server?.child.kill("SIGKILL")
      })
      const environment = settings(provider)
      const token = await tokenOf(environment)
      const mark = join(environment.PAWL_DATA, "deadly")
      await writeFile(mark, "")
      server = await startLife(environment)
      const id = await new Visitor(fetch, token, server.url).begin()
      new Visitor(fetch, token, server.url).say(id, "go").catch(() => {})
      await server.ended
      for (const _ of ["second", "third"]) {
        // It may be dead before it says that it listens.
        server = new PawlProcess([], { PAWL_PORT: "0", ...environment }, { script }) as Server
        expect((await server.ended).code).toBe(null)
      }
      await using fourth = await startLife(environment)
      const ada = new Visitor(fetch, token, fourth.url)
      const run = await until(
        () => stateOf(ada, id),
        ({ status }) => status !== "running",
        5000,
      )
      expect(run).toMatchObject({ status: "failed", error: { code: "set_aside" } })
      expect(await ada.get("/healthz")).toMatchObject({ status: 200 })
      expect(fourth.child.exitCode).toBe(null)

      deadly = false
      await rm(mark)
      const resumed = await ada.post(`/api/conversations/${id}/resume`)
      expect(resumed.body.run.status).toBe("completed")
      expect(resumed.body.messages.at(-1).content).toBe("All done.")
    },
  )
})

describe("SIGTERM", () => {
  test("does not wait for whoever only watches: their streams end, and they come again", async () => {
    const environment = { PAWL_DATA: dataFolder() }
    const server = await start(environment)
    const ada = new Visitor(fetch, await tokenOf(environment), server.url)
    const watched = [await ada.watch(await ada.begin()), await ada.send("GET", "/api/feed")]
    const ends = watched.map((response) => response.text())
    expect((await server.kill("SIGTERM")).code).toBe(0)
    for (const text of await Promise.all(ends)) expect(text).toContain("event: ") // ended whole, not cut
  })

  /** A connection with a request that is not finished: it counts as at work and holds up the end. */
  async function halfARequest(url: string) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1")
    await once(socket, "connect")
    socket.write("GET /readyz HTTP/1.1\r\nHost: localhost\r\n")
    return socket
  }

  const refused = (url: string) =>
    fetch(url).then(
      () => false,
      () => true,
    )

  test("drains: nobody new comes in, readyz says so, and a second one stops at once", async () => {
    await using provider = await callsOnce("hang")
    await using server = await start(settings(provider))
    const [finishing, hanging] = [await halfARequest(server.url), await halfARequest(server.url)]
    await fetch(`${server.url}/healthz`) // what was sent before has been read by now
    server.child.kill("SIGTERM")
    await until(() => refused(`${server.url}/healthz`), Boolean, 4000)
    finishing.write("Connection: close\r\n\r\n")
    let text = ""
    for await (const chunk of finishing) text += String(chunk)
    expect(text).toMatch(/^HTTP\/1.1 503 [\s\S]*"code":"draining"/)
    expect(server.child.exitCode).toBe(null)
    const asked = Date.now()
    expect((await server.kill("SIGTERM")).code).toBe(143)
    expect(Date.now() - asked).toBeLessThan(2000)
    hanging.destroy()
  })

  test("puts down what is at work: the next process continues it, and that is no crash", async () => {
    await using provider = await callsOnce("hang")
    const environment = settings(provider)
    const token = await tokenOf(environment)
    const mark = join(environment.PAWL_DATA, "hanging")
    await writeFile(mark, "")
    let server = await startLife(environment)
    const id = await new Visitor(fetch, token, server.url).begin()
    const said = new Visitor(fetch, token, server.url).say(id, "go")
    await server.says(/hanging/)
    expect((await server.kill("SIGTERM")).code).toBe(0)
    expect((await said).status).toBe(202)
    // More often than a crash would be forgiven.
    for (let life = 0; life < 4; life++) {
      server = await startLife(environment)
      await server.says(/hanging/)
      expect((await server.kill("SIGTERM")).code).toBe(0)
    }
    await rm(mark)
    await using last = await startLife(environment)
    const ada = new Visitor(fetch, token, last.url)
    const run = await until(
      () => stateOf(ada, id),
      ({ status }) => status !== "running",
      5000,
    )
    expect(run).toMatchObject({ status: "completed" })
  })
})
