import type { SessionConfigOption } from "@agentclientprotocol/sdk"
import type { Client } from "../../client/client.ts"

export const MODEL_OPTION = "model"

/** Which model answers, as an editor offers it: those that can answer, and the one that does. */
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
