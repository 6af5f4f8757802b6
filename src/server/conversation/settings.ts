import type { Agents } from "../../agent/definition/agent.ts"
import type { Beginning } from "../../agent/input.ts"
import type { Site } from "../../agent/devices.ts"
import { failure, hasCode } from "../../protocol/errors.ts"
import { type ConnectionId, isId } from "../../protocol/ids.ts"
import type { ReplySettings } from "../../protocol/conversation/reply-settings.ts"
import type { Mode } from "../../protocol/schema.ts"
import { demandOf } from "../door/caller.ts"
import type { ConversationPorts } from "./ports.ts"
import type { Caller } from "../door/ports.ts"

/** Refuses a mode that this caller may not set: `auto` approves writes, so it takes who may approve and an operator who agrees. */
export function allowMode(caller: Caller, { policy }: ConversationPorts, mode: Mode | null | undefined): void {
  if (mode !== "auto") return
  demandOf(caller, "approve")
  if (policy.forbidAuto) throw failure("mode_forbidden", { mode })
}

/** What a name or an alias stands for, if it can be used now. */
export async function chooseModel(
  { person }: Caller,
  { models }: ConversationPorts,
  name: string,
): Promise<{ model: string; provider: string }> {
  try {
    const { name: model, provider } = await models.get(name, person.id)
    return { model, provider }
  } catch (error) {
    if (!hasCode(error, "not_configured")) throw error
    throw failure("model_unavailable", (error as { details: unknown }).details as { model: string; need: string })
  }
}

/**
 * Who answers where the chosen model cannot, by their names. One that cannot be used now may be on the list: it is passed
 * over until it can. Throws `unknown_model`.
 */
export async function chooseFallback(
  { person }: Caller,
  { models }: ConversationPorts,
  names: readonly string[] | null | undefined,
): Promise<{ fallback?: readonly string[] | null }> {
  if (!names) return names === undefined ? {} : { fallback: null }
  const named = names.map(async (name) => {
    try {
      return (await models.get(name, person.id)).name
    } catch (error) {
      if (!hasCode(error, "not_configured")) throw error
      return name
    }
  })
  return { fallback: [...new Set(await Promise.all(named))] }
}

/** Whom a conversation is with that names nobody: the assistant, or the first agent of a server that has none. */
const usualAgent = ({ all }: Agents): string => (all.find(({ name }) => name === "workspace") ?? all[0])?.name ?? ""

export type Chosen = Partial<
  Record<"agent" | "model" | "title" | "deviceId" | "connectionId", string | null | undefined>
> & {
  readonly mode?: Mode | null | undefined
  readonly site?: Site | null | undefined
  readonly fallback?: readonly string[] | null | undefined
  readonly settings?: ReplySettings | null | undefined
}

/** What a conversation begins with that somebody wants so, if they may. */
export async function toBeginning(caller: Caller, ports: ConversationPorts, chosen: Chosen): Promise<Beginning> {
  const { agent, model, mode, title, settings } = chosen
  allowMode(caller, ports, mode)
  return {
    user: caller.person.id,
    agent: agent ?? usualAgent(ports.agents),
    ...(mode ? { mode } : {}),
    ...(title ? { title } : {}),
    ...(settings ? { settings } : {}),
    ...(model ? await chooseModel(caller, ports, model) : {}),
    ...(await chooseFallback(caller, ports, chosen.fallback)),
    ...(await chooseSite(caller, ports, chosen)),
    ...(await chooseConnection(caller, ports, chosen.connectionId)),
  }
}

/** Which database it works on. Null takes it off again; undefined leaves it as it is. Throws `not_found` for another's. */
export async function chooseConnection(
  { person }: Caller,
  { databases }: ConversationPorts,
  id: string | null | undefined,
): Promise<{ connectionId?: ConnectionId | null }> {
  if (id === undefined) return {}
  if (id === null) return { connectionId: null }
  if (!isId("conn", id)) throw failure("not_found")
  await databases.find(person.id, id)
  return { connectionId: id }
}

/** Where tools are to run. A device without a name is the newest that is there: a conversation is bound to one, not to any. */
export async function chooseSite(
  { person }: Caller,
  { devices }: ConversationPorts,
  { site, deviceId }: Pick<Chosen, "site" | "deviceId">,
): Promise<{ site?: Site; deviceId?: string | null }> {
  if (site === "server" && deviceId)
    throw failure("bad_request", { problem: "deviceId: a conversation on the server has no device." })
  if (site === "server") return { site, deviceId: null }
  if (deviceId) return { site: "device", deviceId }
  if (site !== "device") return {}
  const newest = (await devices.of(person.id))[0]?.introduced
  if (!newest) throw failure("device_offline", { device: "Your device" })
  return { site, deviceId: newest.deviceId }
}
