import type { Context } from "hono"
import { failure, hasCode } from "../protocol/errors.ts"
import type { Mode } from "../protocol/schema.ts"
import { demand, type Env, userOf } from "./caller.ts"
import type { ServerPorts } from "./ports.ts"

/** Refuses a mode that this caller may not set: `auto` approves writes, so it takes who may approve and an operator who agrees. */
export function allowMode(c: Context<Env>, { runtime }: ServerPorts, mode: Mode | null | undefined): void {
  if (mode !== "auto") return
  demand(c, "approve")
  if (runtime.ports.policy.forbidAuto) throw failure("mode_forbidden", { mode })
}

/** What a name or an alias stands for, if it can be used now. */
export async function chooseModel(
  c: Context<Env>,
  { runtime }: ServerPorts,
  name: string,
): Promise<{ model: string; provider: string }> {
  try {
    const { name: model, provider } = await runtime.ports.models.get(name, userOf(c))
    return { model, provider }
  } catch (error) {
    if (!hasCode(error, "not_configured")) throw error
    throw failure("model_unavailable", (error as { details: unknown }).details as { model: string; need: string })
  }
}
