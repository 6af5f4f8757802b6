import type { ModelAnswer } from "../../protocol/answers.ts"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import { hasCode } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { Run } from "../../protocol/conversation/run.ts"
import type { ModelCatalogue } from "./ports.ts"

/** What a conversation gets that chose none; null where it has to choose first. */
export async function defaultOf(models: ModelCatalogue, user: UserId): Promise<string | null> {
  try {
    return await models.defaultName(user)
  } catch (error) {
    if (hasCode(error, "no_model_selected") || hasCode(error, "unknown_model")) return null
    throw error
  }
}

/**
 * Conversations as they are answered: one that chose no model names the one that answers all the same. In the store it
 * stays open, so that it follows the default when that becomes another.
 */
export async function nameModels<View extends ConversationView>(
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

export async function nameModel<View extends ConversationView>(
  models: ModelCatalogue,
  user: UserId,
  view: View,
): Promise<View> {
  const [named] = await nameModels(models, user, [view])
  return named ?? view
}

/** Runs that are not over and have no reply yet are answered by the model that is next asked; what is past stays as it was. */
export async function nameModelsOfRuns(models: ModelCatalogue, user: UserId, runs: readonly Run[]): Promise<Run[]> {
  const isOpen = ({ model, status }: Run) => model === null && (status === "running" || status === "paused")
  if (!runs.some(isOpen)) return [...runs]
  const model = await defaultOf(models, user)
  return runs.map((run) => (isOpen(run) ? { ...run, model } : run))
}

interface Asked extends Pick<ConversationView, "id" | "model"> {
  readonly user: UserId
}

/** Which model a conversation has, and which it could have. */
export async function modelAnswer(models: ModelCatalogue, { id, model, user }: Asked): Promise<ModelAnswer> {
  const listed = await models.list(user)
  const names = Object.fromEntries(listed.map(({ name, available }) => [name, available]))
  return { conversationId: id, model: model ?? (await defaultOf(models, user)), models: names }
}
