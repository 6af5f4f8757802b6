import type { Context } from "hono"
import type { z } from "zod"
import type { UiStopped, UiStopRequest } from "../../../protocol/dialects/ai-sdk.ts"
import { waitForEvent } from "../../conversation/wait-for-event.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { isOpen } from "../../stream/newest-run.ts"
import type { AiSdkPorts } from "./ports.ts"
import { runOfNamedChat } from "./run-of-chat.ts"

/** Stops the run for good. To hang up does not: whoever hangs up may come again. */
export async function stopStream(
  c: Context<Env>,
  ports: AiSdkPorts,
  { activeStreamId }: z.infer<typeof UiStopRequest>,
): Promise<UiStopped> {
  const newest = await runOfNamedChat(c, ports)
  if (!newest || !isOpen(newest.run)) return { stopped: false }
  const { found, run } = newest
  if (activeStreamId && activeStreamId !== run.runId) return { stopped: false }
  using watching = waitForEvent(ports, found, (event) => event.type === "run_ended")
  const only = activeStreamId ? { run: activeStreamId } : {} // it may have ended since, and another have begun
  await ports.runtime.submit(found.id, { type: "cancel", by: userOf(c), ...only })
  await watching.over()
  const after = await ports.conversations.run(userOf(c), run.runId)
  return { stopped: after?.status === "cancelled" }
}
