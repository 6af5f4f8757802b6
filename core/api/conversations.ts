import { fork } from "../engine/fork.ts"
import { parseCursor } from "../protocol/cursor.ts"
import { failure } from "../protocol/errors.ts"
import { type ConversationId, isId, newId } from "../protocol/ids.ts"
import { type ReplySettingsPatch, withSettings } from "../protocol/conversation/reply-settings.ts"
import type { Mode } from "../protocol/schema.ts"
import { eraseConversation } from "../server/conversation/erase.ts"
import { conversationOf } from "../server/conversation/find.ts"
import { withDefaultModel, withDefaultModels } from "../server/conversation/settings.ts"
import { check } from "../server/request/read-input.ts"
import {
  type Conversation,
  type Message,
  orClosed,
  type Page,
  type PawlEvent,
  type PersonalParts,
  portsOf,
} from "./parts.ts"
import { followConversation, lookUntil } from "./follow.ts"
import { ConversationPatch, ConversationQuery, MessageQuery } from "../protocol/requests.ts"

/** Which page of the conversation list to return, and an optional search in the titles. */
export interface PageOptions {
  readonly cursor?: string
  /** Default: 50. */
  readonly limit?: number
  /**
   * Only conversations whose title contains these words. A page can then have fewer items than `limit` and still have a
   * `nextCursor`.
   */
  readonly search?: string
}

/**
 * A page of messages, oldest first. Pass `nextBefore` as `before` to read the previous page; it is null on the first
 * page.
 */
export interface MessagePage {
  readonly items: readonly Message[]
  readonly nextBefore: number | null
}

/** Options of `conversations.events`: where in the conversation to start, and how to stop. */
export interface EventOptions {
  /**
   * The `id` of the last event that you received, or the `cursor` of an answer. Default: the start of the conversation.
   */
  readonly after?: string
  /** Ends the subscription. The run continues. */
  readonly signal?: AbortSignal
}

/** Changes to a conversation: its title, mode, model or reply settings. Omitted fields stay as they are. */
export interface ConversationChange {
  readonly title?: string
  readonly mode?: Mode
  readonly model?: string
  /** Reply settings to change. Omitted settings stay as they are; null removes one. */
  readonly settings?: ReplySettingsPatch
}

/** The conversations of one user: list, read, follow, change and delete them. */
export interface Conversations {
  /** Lists conversations, newest first. */
  list(page?: PageOptions): Promise<Page<Conversation>>
  get(id: string): Promise<Conversation>
  /** Returns the newest messages, or those before the message with this `seq`. */
  messages(id: string, range?: { readonly before?: number; readonly limit?: number }): Promise<MessagePage>
  /** Yields every event after a position, then live events until `signal` aborts. */
  events(id: string, options?: EventOptions): AsyncGenerator<PawlEvent, void, undefined>
  change(id: string, change: ConversationChange): Promise<Conversation>
  /** Creates a conversation with all messages before the one with this id. Open proposals are not copied. */
  fork(id: string, at: { readonly before: string }): Promise<Conversation>
  /** Cancels the active run and withdraws queued messages. Returns false if there was nothing to cancel. */
  cancel(id: string): Promise<boolean>
  /** Deletes the conversation and its messages permanently. */
  erase(id: string): Promise<void>
}

export function openConversations(parts: PersonalParts): Conversations {
  const { store, runtime, models, closing } = parts
  const { conversations } = store
  const find = async (id: string) => {
    if (!isId("conv", id)) throw failure("not_found")
    return conversationOf(store, await parts.user(), id)
  }
  const named = async (id: ConversationId) => withDefaultModel(models, await parts.user(), await find(id))

  return {
    async list(page = {}) {
      const given = check(ConversationQuery, page)
      const user = await parts.user()
      const found = await conversations.list(user, given)
      return { ...found, items: await withDefaultModels(models, user, found.items) }
    },

    get: (id) => named(id as ConversationId),

    async messages(id, range = {}) {
      const { before, limit } = check(MessageQuery, range)
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
      const { model, mode, title, settings } = check(ConversationPatch, change)
      const { id: found } = await find(id)
      if (mode === "auto" && parts.ports.policy.forbidAuto) throw failure("mode_forbidden", { mode })
      const chosen = model === undefined ? undefined : await models.get(model, await parts.user())
      const given = {
        ...(title === undefined ? {} : { title }),
        ...(mode === undefined ? {} : { mode }),
        ...(chosen && model !== undefined ? { model, provider: chosen.provider } : {}),
      }
      await runtime.submit(found, { type: "settings", ...given, ...(settings ? { settings } : {}) })
      // An active run applies the change with its next step. It is durable already, so it is shown.
      const now = await named(found)
      return { ...now, ...given, ...(settings ? { settings: withSettings(now.settings ?? {}, settings) } : {}) }
    },

    async fork(id, { before }) {
      const { id: found } = await find(id)
      const place = isId("msg", before) ? await conversations.placeOf(found, before) : undefined
      if (typeof place !== "number") throw failure("not_found")
      const user = await parts.user()
      const to = newId("conv", user, store.clock.now())
      await store.messageFiles.shareUses(user, found, to) // first, so that deleting the original does not delete shared files
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
