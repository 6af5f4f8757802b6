import { fork } from "../agent/fork.ts"
import { parseCursor } from "../protocol/cursor.ts"
import { failure } from "../protocol/errors.ts"
import { type ConversationId, isId, newId } from "../protocol/ids.ts"
import type { ReplySettingsPatch } from "../protocol/conversation/reply-settings.ts"
import { withSettings } from "../protocol/conversation/with-settings.ts"
import type { Mode } from "../protocol/schema.ts"
import { eraseConversation } from "../server/conversation/erase.ts"
import { conversationOf } from "../server/conversation/find.ts"
import { nameModel, nameModels } from "../server/conversation/named-models.ts"
import { check } from "../server/request/read-input.ts"
import { orClosed } from "./closed.ts"
import { followConversation, lookUntil } from "./follow.ts"
import { GivenChange, GivenPage, GivenRange } from "./given.ts"
import { type PersonalParts, portsOf } from "./parts.ts"
import type { Conversation, Message, Page, PawlEvent } from "./read-only.ts"

export interface PageOptions {
  readonly cursor?: string
  /** 50 without. */
  readonly limit?: number
  /** Only those whose title has these words. A page may then hold less than its limit and still have a `nextCursor`. */
  readonly search?: string
}

/** Messages in order; `nextBefore` is what to ask for next to page back, null at the beginning. */
export interface MessagePage {
  readonly items: readonly Message[]
  readonly nextBefore: number | null
}

export interface EventOptions {
  /** The `id` of the last event that was seen, or the `cursor` of an answer; the beginning without. */
  readonly after?: string
  /** Ends the watching. The work goes on. */
  readonly signal?: AbortSignal
}

export interface ConversationChange {
  readonly title?: string
  readonly mode?: Mode
  readonly model?: string
  /** How the model replies. What is not named stays; null takes back what was set. */
  readonly settings?: ReplySettingsPatch
}

export interface Conversations {
  /** Newest first. */
  list(page?: PageOptions): Promise<Page<Conversation>>
  get(id: string): Promise<Conversation>
  /** The newest, or those before a `seq`. */
  messages(id: string, range?: { readonly before?: number; readonly limit?: number }): Promise<MessagePage>
  /** All that happened after a place, and then what happens, until the watching is ended. */
  events(id: string, options?: EventOptions): AsyncGenerator<PawlEvent, void, undefined>
  change(id: string, change: ConversationChange): Promise<Conversation>
  /** A new conversation with all that was said before a message. What waits for a person stays behind. */
  fork(id: string, at: { readonly before: string }): Promise<Conversation>
  /** Stops what is at work, and takes back the questions that wait behind it; false where nothing was. */
  cancel(id: string): Promise<boolean>
  /** Erases it with all that was said in it. */
  erase(id: string): Promise<void>
}

export function openConversations(parts: PersonalParts): Conversations {
  const { store, runtime, models, closing } = parts
  const { conversations } = store
  const find = async (id: string) => {
    if (!isId("conv", id)) throw failure("not_found")
    return conversationOf(store, await parts.user(), id)
  }
  const named = async (id: ConversationId) => nameModel(models, await parts.user(), await find(id))

  return {
    async list(page = {}) {
      const given = check(GivenPage, page)
      const user = await parts.user()
      const found = await conversations.list(user, given)
      return { ...found, items: await nameModels(models, user, found.items) }
    },

    get: (id) => named(id as ConversationId),

    async messages(id, range = {}) {
      const { before, limit } = check(GivenRange, range)
      const { items } = await conversations.messages((await find(id)).id, { before, limit })
      const first = items[0]?.seq ?? 1
      return { items, nextBefore: first > 1 ? first : null }
    },

    async *events(id, { after = "0", signal } = {}) {
      const conversation = await orClosed(parts, find(id))
      const cursor = parseCursor(after)
      const problem = `after: "${after.slice(0, 50)}" is no place in ${conversation.id}.`
      if (!cursor || cursor.position > conversation.position) throw failure("bad_request", { problem })
      const stop = AbortSignal.any(signal ? [signal, closing] : [closing])
      if (stop.aborted) return
      const source = await followConversation(parts, { id: conversation.id, user: await parts.user(), after: cursor })
      const leave = () => source.close()
      stop.addEventListener("abort", leave, { once: true })
      try {
        for (let some = await source.next(); some; some = await source.next()) yield* some as PawlEvent[]
      } finally {
        stop.removeEventListener("abort", leave)
        leave()
      }
    },

    async change(id, change) {
      const { model, mode, title, settings } = check(GivenChange, change)
      const { id: found } = await find(id)
      if (mode === "auto" && parts.ports.policy.forbidAuto) throw failure("mode_forbidden", { mode })
      const chosen = model === undefined ? undefined : await models.get(model, await parts.user())
      const given = {
        ...(title === undefined ? {} : { title }),
        ...(mode === undefined ? {} : { mode }),
        ...(chosen && model !== undefined ? { model, provider: chosen.provider } : {}),
      }
      await runtime.submit(found, { type: "settings", ...given, ...(settings ? { settings } : {}) })
      // A conversation at work takes it over with its next step; it is durable now, so it is shown now.
      const now = await named(found)
      return { ...now, ...given, ...(settings ? { settings: withSettings(now.settings ?? {}, settings) } : {}) }
    },

    async fork(id, { before }) {
      const { id: found } = await find(id)
      const place = isId("msg", before) ? await conversations.placeOf(found, before) : undefined
      if (typeof place !== "number") throw failure("not_found")
      const user = await parts.user()
      const to = newId("conv", user, store.clock.now())
      await store.messageFiles.shareUses(user, found, to) // before: a file whose other conversation goes must not go with it
      return named((await fork(parts.ports, found, place - 1, { to })).id)
    },

    async cancel(id) {
      const { id: found, status } = await find(id)
      if (status !== "running" && status !== "awaiting_confirmation") return false
      const user = await parts.user()
      await runtime.submit(found, { type: "cancel", by: user })
      return lookUntil(parts, found, async () => {
        const [newest] = (await conversations.runs(found, { limit: 1 })).items
        return newest?.status === "running" || newest?.status === "paused" ? undefined : newest?.status === "cancelled"
      })
    },

    erase: async (id) => eraseConversation(portsOf(parts), await parts.user(), (await find(id)).id),
  }
}
