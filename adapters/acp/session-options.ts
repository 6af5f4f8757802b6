import type { SessionModeState, SessionConfigOption } from "@agentclientprotocol/sdk"
import type { Mode } from "../../core/protocol/schema.ts"
import type { Client } from "../../client/client.ts"

const MODES: Readonly<Record<Mode, { readonly name: string; readonly description: string }>> = {
  "read-only": { name: "Read only", description: "Looks, and changes nothing" },
  confirm: { name: "Confirm", description: "Shows each change first, and makes it when you say yes" },
  auto: { name: "Auto", description: "Makes changes without asking, except where it always asks" },
}

/** The modes of a conversation as an editor offers them. */
export function modesOf(current: Mode): SessionModeState {
  return {
    currentModeId: current,
    availableModes: Object.entries(MODES).map(([id, mode]) => ({ id, ...mode })),
  }
}

export const MODEL_OPTION = "model"

/** The models that can answer and the current one, as an ACP option. */
export async function modelOption(client: Client, current: string | null): Promise<SessionConfigOption[]> {
  const { items, default: usual } = await client.listModels()
  const chosen = current ?? usual
  const offered = items.filter(({ name, available }) => available || name === chosen)
  if (chosen === null || offered.length === 0) return []
  return [
    {
      type: "select",
      id: MODEL_OPTION,
      name: "Model",
      category: "model",
      currentValue: chosen,
      options: offered.map(({ name, provider }) => ({ value: name, name, description: provider })),
    },
  ]
}
