import type { Hono } from "hono"
import type { ExportLine } from "../../../protocol/account/export.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { userOf } from "../../auth/caller.ts"
import type { Env } from "../../auth/credentials.ts"
import { demandStore } from "../../stream/open-stream.ts"
import { eraseConversation, erasePerson } from "../../conversation/erase.ts"
import { findConversation } from "../../conversation/find.ts"
import type { AccountPorts } from "./ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** Taking what is yours with you, and leaving nothing behind. */
export function retentionRoutes(app: Hono<Env>, ports: AccountPorts): void {
  const { log, retention, streams, databases } = ports

  serveRoute(app, routes.readStorage, async (c) => {
    const { bytes, limitBytes, kinds } = await ports.storage.read(userOf(c))
    return { bytes, limitBytes, kinds: [...kinds] }
  })

  serveRoute(app, routes.deleteConversation, async (c) => {
    const { id } = await findConversation(c, ports)
    await eraseConversation(ports, userOf(c), id)
    return null
  })

  serveRoute(app, routes.deleteMe, async (c) => {
    const user = userOf(c)
    await erasePerson(ports, user)
    await databases.eraseFiles(user)
    return null
  })

  serveRoute(app, routes.exportAll, async (c) => {
    const user = userOf(c)
    await demandStore(c, ports)
    const cut = new AbortController()
    const failed = (error: unknown) => void (cut.signal.aborted || log.error("export_failed", { user, error }))
    // Told when it is begun: one of which only the head is asked would never end.
    const begin = () => streams.register(c.get("caller"), () => cut.abort())
    const lines = whileAllowed(retention.exportOf(user), begin, cut.signal)
    const headers = {
      "content-type": "application/x-ndjson; charset=utf-8",
      "content-disposition": 'attachment; filename="pawl-export.jsonl"',
    }
    return c.body(ReadableStream.from(toText(lines, failed)), 200, headers)
  })
}

/** To be called at the start and now and then: finishes what a server died in, on this machine's disk too. */
export async function sweepErased({
  retention,
  databases,
}: Pick<AccountPorts, "retention" | "databases">): Promise<void> {
  for (const user of await retention.sweep()) await databases.eraseFiles(user)
  await databases.tidyFiles()
}

/** Lines for as long as nobody takes back what they are asked with; then it ends, without the line that says it is whole. */
async function* whileAllowed(
  lines: AsyncIterable<ExportLine>,
  begin: () => () => void,
  signal: AbortSignal,
): AsyncGenerator<ExportLine> {
  const letGo = begin()
  try {
    for await (const line of lines) {
      signal.throwIfAborted()
      yield line
    }
    signal.throwIfAborted()
  } finally {
    letGo()
  }
}

async function* toText(lines: AsyncIterable<ExportLine>, failed: (error: unknown) => void): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  let count = 0
  try {
    for await (const line of lines) {
      count++
      yield encoder.encode(`${JSON.stringify(line)}\n`)
    }
  } catch (error) {
    return failed(error) // thrown on, it would be written into the answer, and nobody has read it for secrets
  }
  // Without it nobody could tell an export that was cut off from a whole one.
  yield encoder.encode(`${JSON.stringify({ kind: "end", lines: count })}\n`)
}
