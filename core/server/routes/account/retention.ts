import type { Hono } from "hono"
import type { ExportLine } from "../../../protocol/account/export.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { userOf } from "../../auth/caller.ts"
import type { Env } from "../../auth/credentials.ts"
import { requireStore } from "../../stream/open-stream.ts"
import { eraseConversation, erasePerson } from "../../conversation/erase.ts"
import { findConversation } from "../../conversation/find.ts"
import type { AccountPorts } from "./ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** Export and erasure. */
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
    await requireStore(c, ports)
    const cut = new AbortController()
    const failed = (error: unknown) => void (cut.signal.aborted || log.error("export_failed", { user, error }))
    // Registered when reading starts: for a HEAD request it never would end.
    const begin = () => streams.register(c.get("caller"), () => cut.abort())
    const lines = whileAllowed(retention.exportOf(user), begin, cut.signal)
    const headers = {
      "content-type": "application/x-ndjson; charset=utf-8",
      "content-disposition": 'attachment; filename="pawl-export.jsonl"',
    }
    return c.body(ReadableStream.from(toText(lines, failed)), 200, headers)
  })
}

/** Call at start and from time to time: finishes erasures that a crash interrupted, also of files on this machine. */
export async function sweepErased({
  retention,
  databases,
}: Pick<AccountPorts, "retention" | "databases">): Promise<void> {
  for (const user of await retention.sweep()) await databases.eraseFiles(user)
  await databases.tidyFiles()
}

/** The lines while the credential is valid. Afterwards it throws, so the final line is missing. */
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
    return failed(error) // rethrown, it would be written into the answer without being checked for secrets
  }
  // Marks the export as complete; without it a client cannot detect that it was cut off.
  yield encoder.encode(`${JSON.stringify({ kind: "end", lines: count })}\n`)
}
