import { describe, expect, test, vi } from "vitest"
import { createSocketClient, emptyTranscript, isFrame, reduce, type UnknownFrame } from "../../client/index.ts"
import { chatChunk, ProviderServer, sse, streamHead } from "../../core/models/providers/server.fixture.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { anyDatabase } from "../support/databases.ts"
import { ownPort } from "../support/processes/own-port.ts"
import { transcriptOf } from "../support/server/stream.ts"

vi.setConfig({ testTimeout: 180_000 })

const TEXT = "The whole answer, 😀 to the last word."

async function serve(environment: Record<string, string>) {
  const server = new PawlProcess(["serve"], environment)
  const [, url] = await server.says(/listening on (\S+)\n/)
  return { server, url: url as string }
}

describe.concurrent.each(anyDatabase)("a client on one socket, on $name", ({ name, create }) => {
  test("survives two kill -9 of its server and a graceful stop, and shows what is stored", async () => {
    let attempt = 0
    // Two attempts show some text and never end; the third is whole, and so is the second run.
    await using provider = await ProviderServer.open((response) => {
      const words = attempt++ < 2 ? TEXT.slice(0, 10) : TEXT
      streamHead(response).write(sse(...[...words].map((content) => chatChunk({ content }))))
      if (words === TEXT) response.end(sse(chatChunk({}, "stop"), "[DONE]"))
    })
    const database: Record<string, string> = name === "postgres" ? { DATABASE_URL: (await create()).url } : {}
    const environment = {
      PAWL_DATA: dataFolder(),
      LM_STUDIO_ENDPOINT: provider.url,
      PAWL_MODEL: "qwen",
      PAWL_PORT: await ownPort(),
      ...database,
    }
    const token = await tokenFor(environment)
    let life = await serve(environment)
    const { url } = life
    const client = createSocketClient({ baseUrl: url, token })
    const { id } = await client.createConversation()

    const watched: UnknownFrame[] = []
    const ran: UnknownFrame[] = []
    let heard = () => {}
    const watching = (async () => {
      for await (const frame of client.events(id)) {
        watched.push(frame)
        heard()
        if (isFrame(frame, "done") && watched.filter(({ type }) => type === "done").length === 2) return
      }
    })()
    const until = async (enough: (frames: readonly UnknownFrame[]) => boolean) => {
      while (!enough(watched)) await new Promise<void>((resolve) => (heard = resolve))
    }
    const running = (async () => {
      for await (const frame of client.run(id, "Tell me.", { tries: 100 })) ran.push(frame)
    })()
    for (const half of [1, 2]) {
      await until((frames) => frames.filter(({ id }) => id.endsWith(".10")).length === half)
      await life.server.kill("SIGKILL")
      life = await serve(environment)
    }
    await running
    await life.server.kill("SIGTERM")
    life = await serve(environment)
    for await (const frame of client.run(id, "And again.", { tries: 100 })) ran.push(frame)
    await watching

    const stored: UnknownFrame[] = []
    for await (const frame of client.events(id)) {
      stored.push(frame)
      if (stored.filter(({ type }) => type === "done").length === 2) break
    }
    expect(transcriptOf(watched as never)).toEqual(transcriptOf(stored as never))
    expect(transcriptOf(ran as never).rows).toEqual(transcriptOf(stored as never).rows.slice(1))
    const { items, status } = watched.reduce(reduce, emptyTranscript)
    expect(status).toBe("active")
    const said = items.flatMap((item) => (item.type === "message" ? [item.message.content] : []))
    expect(said).toEqual(["Tell me.", TEXT, "And again.", TEXT])
    expect(stored.filter(({ type }) => type === "restarted")).toHaveLength(2)
  })
})
