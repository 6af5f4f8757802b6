import type { Agents } from "../../engine/definition/agent.ts"
import type { ModelSource } from "../../engine/ports.ts"
import type { Beginning } from "../../engine/input.ts"
import type { Site } from "../../engine/devices.ts"
import type { UnavailableChoice, ModelAnswer } from "../../protocol/answers.ts"
import { type ClientKind, clientKindOf } from "../../protocol/account/sign-in.ts"
import { failure, hasCode } from "../../protocol/errors.ts"
import { type ConnectionId, isId, type UserId } from "../../protocol/ids.ts"
import type { ReplySettings } from "../../protocol/conversation/reply-settings.ts"
import type { Mode } from "../../protocol/schema.ts"
import { requireScopeOf } from "../auth/caller.ts"
import type { ConversationPorts, ModelCatalogue } from "./ports.ts"
import type { Caller } from "../auth/credentials.ts"
import type { ConversationView, Run } from "../../protocol/conversation/conversation.ts"

/** Refuses the mode `auto`, which approves writes, without the scope `approve` or if the operator forbids it. */
export function requireModeAllowed(caller: Caller, { policy }: ConversationPorts, mode: Mode | null | undefined): void {
  if (mode !== "auto") return
  requireScopeOf(caller, "approve")
  if (policy.forbidAuto) throw failure("mode_forbidden", { mode })
}

/** Resolves a model's name or alias, if it can be used now. */
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

/** The same if a person chooses it: their new conversations in this client start with it. */
export async function chooseAndRememberModel(caller: Caller, ports: ConversationPorts, name: string) {
  const chosen = await chooseModel(caller, ports, name)
  await ports.chosenModels.remember(caller.person.id, clientKindOf(caller.credential), chosen.model)
  return chosen
}

/** Refuses an image for a model that does not see it: a program could not tell that the answer is a guess. */
export async function requireSight(
  models: ModelSource & ModelCatalogue,
  user: UserId,
  name: string | null,
): Promise<void> {
  const model = await models.get(name, user)
  if (model.sees?.images) return
  const seeing = (await models.list(user)).filter(({ available, features }) => available && features.includes("images"))
  const choices = seeing.slice(0, 3).map((each) => each.name)
  throw failure("model_lacks_images", { model: model.name, choices: choices.join(", ") })
}

/** Who starts a conversation, and in which client. */
interface Chooser {
  readonly user: UserId
  readonly client: ClientKind
}

export const chooserOf = ({ person, credential }: Caller): Chooser => ({
  user: person.id,
  client: clientKindOf(credential),
})

type ChoicePorts = Pick<ConversationPorts, "chosenModels"> & { readonly models: ModelSource }

/** The model that a person chose last in this client, else their default, and whether it can still be used. */
export async function readLastChoice(
  { user, client }: Chooser,
  { chosenModels, models }: ChoicePorts,
): Promise<{ usable?: { model: string; provider: string }; unavailable?: UnavailableChoice }> {
  const name = await chosenModels.read(user, client)
  if (name === null) return {}
  try {
    const { name: model, provider } = await models.get(name, user)
    return { usable: { model, provider } }
  } catch (error) {
    if (hasCode(error, "unknown_model")) return { unavailable: { name, need: "it is not known any more" } }
    if (!hasCode(error, "not_configured")) throw error
    const { need } = (error as { details: unknown }).details as { need: string }
    return { unavailable: { name, need } }
  }
}

export async function lastChosenModel(
  chooser: Chooser,
  ports: ChoicePorts,
): Promise<{ model?: string; provider?: string }> {
  return (await readLastChoice(chooser, ports)).usable ?? {}
}

/**
 * The models to use if the chosen one fails. A model that cannot be used now may be listed: it is skipped until it can.
 * Throws `unknown_model`.
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

/** The default agent: the assistant, or the first agent of a server without one. */
const defaultAgent = ({ all }: Agents): string => (all.find(({ name }) => name === "workspace") ?? all[0])?.name ?? ""

type ConversationChoices = Partial<
  Record<"agent" | "model" | "title" | "deviceId" | "connectionId", string | null | undefined>
> & {
  readonly mode?: Mode | null | undefined
  readonly site?: Site | null | undefined
  readonly fallback?: readonly string[] | null | undefined
  readonly settings?: ReplySettings | null | undefined
}

/** Checks the chosen settings of a new conversation and adds the defaults. */
export async function toConversationStart(
  caller: Caller,
  ports: ConversationPorts,
  chosen: ConversationChoices,
): Promise<Beginning> {
  const { agent, model, mode, title, settings } = chosen
  requireModeAllowed(caller, ports, mode)
  return {
    user: caller.person.id,
    agent: agent ?? defaultAgent(ports.agents),
    ...(mode ? { mode } : {}),
    ...(title ? { title } : {}),
    ...(settings ? { settings } : {}),
    ...(model ? await chooseModel(caller, ports, model) : await lastChosenModel(chooserOf(caller), ports)),
    ...(await chooseFallback(caller, ports, chosen.fallback)),
    ...(await chooseSite(caller, ports, chosen)),
    ...(await chooseConnection(caller, ports, chosen.connectionId)),
  }
}

/**
 * The database of a conversation. Null removes it, undefined changes nothing. Throws `not_found` for another person's.
 */
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

/** Selects the device for tools. Without a device id it is the newest device: a conversation is bound to one device. */
export async function chooseSite(
  { person }: Caller,
  { devices }: ConversationPorts,
  { site, deviceId }: Pick<ConversationChoices, "site" | "deviceId">,
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

/** Switches the model if a request names one. Throws `busy` while a run is using the current one. */
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

/** The default model of a conversation without one; null if the person has to choose first. */
export async function defaultOf(models: ModelCatalogue, user: UserId): Promise<string | null> {
  try {
    return await models.defaultName(user)
  } catch (error) {
    if (hasCode(error, "no_model_selected") || hasCode(error, "unknown_model")) return null
    throw error
  }
}

/**
 * Fills in the default model of conversations that chose none. In the store the model stays null, so that it follows the
 * default when that changes.
 */
export async function withDefaultModels<View extends ConversationView>(
  models: ModelCatalogue,
  user: UserId,
  views: readonly View[],
): Promise<View[]> {
  if (views.every(({ model }) => model !== null)) return views.map((view) => ({ ...view, modelChosen: true }))
  const model = await defaultOf(models, user)
  const provider = model === null ? null : await providerOf(models, user, model)
  return views.map((view) =>
    view.model === null ? { ...view, model, provider, modelChosen: false } : { ...view, modelChosen: true },
  )
}

async function providerOf(models: ModelCatalogue, user: UserId, model: string): Promise<string | null> {
  if (models.providerOf) return models.providerOf(model, user)
  return (await models.list(user)).find(({ name }) => name === model)?.provider ?? null
}

export async function withDefaultModel<View extends ConversationView>(
  models: ModelCatalogue,
  user: UserId,
  view: View,
): Promise<View> {
  const [named] = await withDefaultModels(models, user, [view])
  return named ?? view
}

/** Fills in the default model of open runs without a reply; finished runs stay as they are. */
export async function withDefaultModelsOfRuns(
  models: ModelCatalogue,
  user: UserId,
  runs: readonly Run[],
): Promise<Run[]> {
  const isOpen = ({ model, status }: Run) => model === null && (status === "running" || status === "paused")
  if (!runs.some(isOpen)) return [...runs]
  const model = await defaultOf(models, user)
  return runs.map((run) => (isOpen(run) ? { ...run, model } : run))
}

interface ModelQuestion extends Pick<ConversationView, "id" | "model"> {
  readonly user: UserId
}

/** The model of a conversation, and the models it could use. */
export async function toModelAnswer(models: ModelCatalogue, { id, model, user }: ModelQuestion): Promise<ModelAnswer> {
  const listed = await models.list(user)
  const names = Object.fromEntries(listed.map(({ name, available }) => [name, available]))
  return { conversationId: id, model: model ?? (await defaultOf(models, user)), models: names }
}
