import type { PaidBy, Usage } from "../../protocol/conversation/message.ts"
import { estimateTokens } from "../history/tokens.ts"
import type { Model, ModelRequest, Price } from "../model.ts"
import type { Reservation, Spent } from "../ports.ts"
import type { Work } from "../record.ts"
import type { Reply } from "./reply.ts"

/** What tokens cost, in dollars to the millionth; null where the price or the counts are not known. */
export function costOf(price: Price | null, usage: Usage): number | null {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = usage
  if (!price || inputTokens === null || outputTokens === null) return null
  const [cached, written] = [cachedTokens ?? 0, cacheWriteTokens ?? 0]
  const plain = Math.max(inputTokens - cached - written, 0)
  const input =
    plain * price.input + cached * (price.cached ?? price.input) + written * (price.cacheWrite ?? price.input)
  return Math.round(input + outputTokens * price.output) / 1_000_000
}

/** The usage of a whole reply as it is recorded: with what it cost and who pays, where the model says its price. */
export function accounted(
  model: Model,
  usage: Usage | undefined,
  reservation: Reservation | undefined,
): Usage | undefined {
  const { price, provider, paidBy = "shared" } = model
  if (price === undefined || !usage) return usage
  // Under a ceiling a provider that does not count is not for free: it is taken for what was set aside.
  const cost = costOf(price, usage) ?? reservation?.cost ?? null
  return { ...usage, cost, provider, paidBy }
}

/** Sets the worst case of a request aside. Throws `over_budget`, and then nothing may be sent. */
export async function reserve(
  { conversation, ports }: Work,
  model: Model,
  { request, historyTokens }: { readonly request: ModelRequest; readonly historyTokens: number },
): Promise<Reservation | undefined> {
  const { id, user, run } = conversation
  if (!ports.budget || !run) return undefined
  const aside = request.tools.reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool)), 0)
  const inputTokens = historyTokens + estimateTokens(request.system) + aside
  const maxOutputTokens = request.settings?.maxOutputTokens
  return ports.budget.reserve({ conversation: id, run: run.id, user, model, inputTokens, maxOutputTokens })
}

/** Lets go of what was set aside. What cannot be let go of now expires by itself. */
export async function settle({ conversation, ports }: Work, reservation: Reservation, spent?: Spent): Promise<void> {
  await ports.budget?.settle(reservation, spent).catch((error: unknown) => {
    ports.log.warn("settle_failed", { conversation: conversation.id, error })
  })
}

/** What a reply that broke off will be charged for, as far as we can tell: it was read, and these words were written. */
export function estimateOf(reservation: Reservation, reply: Reply): Spent {
  const { model, inputTokens } = reservation
  const outputTokens = estimateTokens(reply.shown)
  const paidBy: PaidBy = model.paidBy ?? "shared"
  const cost = costOf(model.price ?? null, { inputTokens, outputTokens }) ?? reservation.cost
  return { model: model.name, provider: model.provider, paidBy, inputTokens, outputTokens, cost }
}
