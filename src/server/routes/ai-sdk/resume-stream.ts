import type { Context } from "hono"
import type { z } from "zod"
import type { UiStreamQuery } from "../../../protocol/ai-sdk.ts"
import type { Env } from "../../door/request-env.ts"
import { watchRun } from "../../stream/watch-repeated.ts"
import { findNamedChat } from "./chat-conversation.ts"
import { isOpen, newestRun } from "./newest-run.ts"
import type { AiSdkPorts } from "./ports.ts"
import { streamRun } from "./stream-run.ts"

/**
 * The newest run from its beginning, for whoever was cut off or has reloaded their page: their message is made anew of it.
 * Nothing where none is open, or, for who asks for that too, where there was none.
 */
export async function resumeStream(
  c: Context<Env>,
  ports: AiSdkPorts,
  { ended }: z.infer<typeof UiStreamQuery>,
): Promise<Response> {
  const found = await findNamedChat(c, ports)
  const run = found && (await newestRun(ports, found.id))
  if (!found || !run || !(isOpen(run) || ended === "true")) return c.body(null, 204)
  const { id, position } = found
  ports.streams.admit(c.get("caller"))
  return streamRun(c, ports, { id, frames: await watchRun(ports, { id, start: run.start, position }) })
}
