import { describe, expect, test, vi } from "vitest"
import type { ServerFrame } from "../../core/protocol/socket.ts"
import { chatChunk, ProviderServer, sse, streamHead } from "../../core/models/providers/server.fixture.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { anyDatabase } from "../support/databases.ts"
import { connect, Machine } from "../support/server/device.ts"
import { Visitor } from "../support/server/face.ts"
import { Peer } from "../support/server/socket.ts"
import { isOver, readFrames, type SeenFrame, transcriptOf } from "../support/server/stream.ts"

vi.setConfig({ testTimeout: 180_000 })

const TEXT = "The whole answer, 😀 to the last word."

async function serve(environment: Record<string, string>, token: string) {
  const server = new PawlProcess(["serve"], { PAWL_PORT: "0", ...environment })
  const [, url] = await server.says(/listening on (\S+)\n/)
  return { server, url: url as string, ada: new Visitor(fetch, token, url as string) }
}

describe.concurrent.each(anyDatabase)("over a socket on $name", ({ name, create }) => {
  const prepare = async (more: Record<string, string> = {}) => {
    const database: Record<string, string> = name === "postgres" ? { DATABASE_URL: (await create()).url } : {}
    const environment = { PAWL_DATA: dataFolder(), ...database, ...more }
    const token = await tokenFor(environment)
    return { environment, token }
  }

  test("a reply watched through two kill -9 in the middle of it equals the stored one", async () => {
    let attempt = 0
    await using provider = await ProviderServer.open((response) => {
      const words = attempt++ < 2 ? TEXT.slice(0, 10) : TEXT
      streamHead(response).write(sse(...[...words].map((content) => chatChunk({ content }))))
      if (words === TEXT) response.end(sse(chatChunk({}, "stop"), "[DONE]"))
    })
    const { environment, token } = await prepare({ LM_STUDIO_ENDPOINT: provider.url, PAWL_MODEL: "qwen" })
    let id = ""
    const seen: SeenFrame[] = []
    for (let life = 0; life < 3; life++) {
      const { server, url, ada } = await serve(environment, token)
      await using _ = server
      using peer = await Peer.open(url, { authorization: `Bearer ${token}` })
      if (life === 0) id = await ada.begin()
      const after = seen.at(-1)?.id
      peer.send({ type: "attach", conversationId: id, ...(after ? { after } : {}) })
      if (life === 0) peer.send({ type: "chat_request", message: "Tell me.", context: { conversationId: id } })
      await peer.until(() =>
        life < 2 ? peer.events(id).some(({ id }) => id.endsWith(".10")) : isOver(peer.events(id)),
      )
      seen.push(...peer.events(id))
      if (life < 2) await server.kill("SIGKILL")
      else expect(transcriptOf(seen)).toEqual(transcriptOf(await readFrames(await ada.watch(id), isOver)))
    }
    expect(transcriptOf(seen).shown).toEqual([TEXT])
  })

  test("a write on a device during which the server died is applied once, and its ledger says so", async () => {
    const { environment, token } = await prepare()
    const machine = new Machine()
    const first = await serve(environment, token)
    await using _ = first.server
    const device = await connect(machine, {
      url: first.url,
      token,
      deviceId: "laptop",
      deals: (call) => {
        const outcome = machine.deal(call)
        if (call.action !== "insert") return outcome
        first.server.child.kill("SIGKILL") // after the effect, before its answer
        return undefined
      },
    })
    const id = await first.ada.begin({ deviceId: "laptop", mode: "auto" })
    await first.ada.say(id, "add a task: buy milk").catch(() => {})
    await device.close()
    expect(machine.effects).toBe(1)

    const second = await serve(environment, token)
    await using __ = second.server
    using again = await connect(machine, { url: second.url, token, deviceId: "laptop" })
    using watcher = await Peer.open(second.url, { authorization: `Bearer ${token}` })
    watcher.send({ type: "attach", conversationId: id })
    await watcher.until(() => watcher.events(id).some(({ type }) => type === "run_ended"))
    expect(again.seen.some((frame: ServerFrame) => frame.type === "tool_status")).toBe(true)
    const [proposal] = (await second.ada.get("/api/agent/proposals")).body.items
    expect(proposal).toMatchObject({ tool: "create_task", status: "applied" })
    expect([machine.effects, machine.tasks.size]).toEqual([1, 1])
  })

  test("a yes after a kill -9 approves nothing that this process has not shown, and then does so once", async () => {
    const { environment, token } = await prepare()
    const machine = new Machine()
    const say = async (peer: Peer, message: string) => {
      const from = peer.seen.length
      peer.send({ type: "chat_request", message, context: {} })
      return peer.next("final", from)
    }
    const first = await serve(environment, token)
    await using _ = first.server
    const device = await connect(machine, { url: first.url, token, deviceId: "laptop" })
    const asked = await say(device, "add a task: buy milk")
    expect(asked).toMatchObject({ status: "paused", response: expect.stringContaining("milk") })
    await first.server.kill("SIGKILL")

    const second = await serve(environment, token)
    await using __ = second.server
    using again = await connect(machine, { url: second.url, token, deviceId: "laptop" })
    expect(await say(again, "yes")).toMatchObject({
      ...asked,
      response: expect.stringContaining("Waiting for your yes"),
    })
    expect(machine.effects).toBe(0)
    const done = await say(again, "yes")
    expect([done.status, done.conversationId]).toEqual([undefined, asked.conversationId])
    expect([machine.effects, machine.tasks.size]).toEqual([1, 1])
  })
})
