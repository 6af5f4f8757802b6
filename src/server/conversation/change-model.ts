import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import { failure } from "../../protocol/errors.ts"
import type { Caller } from "../door/ports.ts"
import type { ConversationPorts } from "./ports.ts"
import { chooseModel } from "./settings.ts"

/** Another model is asked from now on, where a request names one. Throws `busy` while a run is at work with the one before. */
export async function changeModel(
  caller: Caller,
  ports: ConversationPorts,
  { found, name }: { readonly found: ConversationView; readonly name: string | undefined },
): Promise<void> {
  const { id, model, status } = found
  if (name === undefined) return
  const chosen = await chooseModel(caller, ports, name)
  if (chosen.model === model) return
  if (status === "running") throw failure("busy", { id })
  await ports.runtime.submit(id, { type: "settings", ...chosen })
}
