import type { Context } from "hono"
import type { z } from "zod"
import type { UiStreamQuery } from "../../../protocol/dialects/ai-sdk.ts"
import type { Env } from "../../door/request-env.ts"
import { isOpen, type NewestRun } from "../../stream/newest-run.ts"
import { watchRun } from "../../stream/watch-repeated.ts"
import type { AiSdkPorts } from "./ports.ts"
import { runOfNamedChat } from "./run-of-chat.ts"
import { streamRun } from "./stream-run.ts"

/**
 * For so long after its end a run is told to whoever resumes. A client does not tell how much it has: one that was cut off
 * just before the end would keep half an answer, and one that has it all is told it again.
 */
const LATELY_MS = 15 * 60_000

/**
 * The newest run from its beginning, for whoever was cut off or has reloaded their page: their message is made anew of it.
 * Nothing where none is open or has ended lately, or, for who asks for that too, where there was none.
 */
export async function resumeStream(
  c: Context<Env>,
  ports: AiSdkPorts,
  { ended }: z.infer<typeof UiStreamQuery>,
): Promise<Response> {
  const newest = await runOfNamedChat(c, ports)
  if (!newest || !isTold(newest.run, ended, ports.clock.now())) return c.body(null, 204)
  const { id, position } = newest.found
  ports.streams.admit(c.get("caller"))
  return streamRun(c, ports, { id, frames: await watchRun(ports, { id, start: newest.run.start, position }) })
}

function isTold(run: NewestRun, ended: "true" | "false" | undefined, now: number): boolean {
  if (isOpen(run) || ended !== undefined) return isOpen(run) || ended === "true"
  return run.endedAt !== null && now - Date.parse(run.endedAt) < LATELY_MS
}
