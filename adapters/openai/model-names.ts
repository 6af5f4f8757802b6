import type { OpenAiModels } from "../../core/adapter.ts"
import { failure } from "../../core/protocol/index.ts"

const PREFIX = "pawl/"

/** The agent, and the model if the caller chooses one. */
export interface NamedModel {
  readonly agent: string
  readonly model?: string
}

/** `pawl/<agent>` or `pawl/<agent>/<model>`; a model's own name may contain slashes. Throws `unknown_model`. */
export function readModelName(name: string): NamedModel {
  const rest = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : ""
  const at = rest.indexOf("/")
  const [agent, model] = at < 0 ? [rest, undefined] : [rest.slice(0, at), rest.slice(at + 1)]
  if (agent === "" || model === "")
    throw failure("unknown_model", {
      name: name.slice(0, 200),
      choices: "those of GET /v1/models, like pawl/workspace",
    })
  return model === undefined ? { agent } : { agent, model }
}

export const toModelName = ({ agent }: Pick<NamedModel, "agent">): string => PREFIX + agent

interface Listed {
  readonly agents: readonly string[]
  readonly models: readonly { readonly name: string; readonly provider: string; readonly available: boolean }[]
  readonly embedder?: { readonly name: string; readonly dimensions: number }
}

/** Every agent alone, and with each available model, and the embedder. There is no creation time. */
export function toModels({ agents, models, embedder }: Listed): OpenAiModels {
  const usable = models.filter(({ available }) => available)
  const entry = (id: string, owned_by: string) => ({ id, object: "model" as const, created: 0, owned_by })
  const alone = agents.map((agent) => entry(PREFIX + agent, "pawl"))
  const together = agents.flatMap((agent) =>
    usable.map(({ name, provider }) => entry(`${PREFIX}${agent}/${name}`, provider)),
  )
  const embedders = embedder?.dimensions ? [entry(embedder.name, "pawl")] : []
  return { object: "list", data: [...alone, ...together, ...embedders] }
}
