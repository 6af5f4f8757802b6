import { describe, expect, test, vi } from "vitest"
import { chatChunk, ProviderServer, sse, streamHead } from "../../core/models/providers/server.fixture.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { databases } from "../support/databases.ts"
import { Visitor } from "../support/server/face.ts"
import { isOver, readFrames, type SeenFrame, transcriptOf } from "../support/server/stream.ts"

vi.setConfig({ testTimeout: 180_000 })

const TEXT = "The whole answer, 😀 to the last word."

/** A server process, and a client of ada. */
async function serve(environment: Record<string, string>, token: string) {
  const server = new PawlProcess(["serve"], { PAWL_PORT: "0", ...environment })
  const [, url] = await server.says(/listening on (\S+)\n/)
  return { server, ada: new Visitor(fetch, token, url as string) }
}

describe.concurrent.each(databases)("a watched reply on $name", ({ name, create }) => {
  test("through two kill -9 in the middle of it, the watcher's pieces equal the stored reply", async () => {
    let attempt = 0
    // Two attempts show some text and never end; the third is complete.
    await using provider = await ProviderServer.open((response) => {
      const words = attempt++ < 2 ? TEXT.slice(0, 10) : TEXT
      streamHead(response).write(sse(...[...words].map((content) => chatChunk({ content }))))
      if (words === TEXT) response.end(sse(chatChunk({}, "stop"), "[DONE]"))
    })
    const database: Record<string, string> = name === "postgres" ? { DATABASE_URL: (await create()).url } : {}
    const environment = { PAWL_DATA: dataFolder(), LM_STUDIO_ENDPOINT: provider.url, PAWL_MODEL: "qwen", ...database }
    const token = await tokenFor(environment)

    let id = ""
    const seen: SeenFrame[] = []
    const half = (frames: SeenFrame[]) => frames.some(({ id }) => id.endsWith(".10"))
    for (let life = 0; life < 3; life++) {
      const { server, ada } = await serve(environment, token)
      await using _ = server
      if (life === 0) {
        id = await ada.begin()
        ada.say(id, "Tell me.").catch(() => {})
      }
      const last = seen.at(-1)?.id ?? "0"
      const stream = last === "0" ? ada.watch(id) : ada.rewatch(id, last)
      seen.push(...(await readFrames(await stream, life < 2 ? half : isOver)))
      if (life < 2) await server.kill("SIGKILL")
      else {
        const stored = await readFrames(await ada.watch(id), isOver)
        const { rows, shown } = transcriptOf(stored)
        expect(shown).toEqual([TEXT])
        expect(transcriptOf(seen)).toEqual({ rows, shown })
        expect(rows.filter(({ type }) => type === "restarted")).toHaveLength(2)
      }
    }
  })
})
