import { z } from "zod"
import { type NewsKind, newsKinds } from "../agent/ports.ts"
import { CallProgress } from "../protocol/conversation/call-progress.ts"
import type { JournalEvent } from "../protocol/events.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import { lazily } from "../protocol/lazily.ts"

const conversation = lazily(() => z.custom<ConversationId>((value) => typeof value === "string"))
const user = lazily(() => z.custom<UserId>((value) => typeof value === "string"))
const count = lazily(() => z.int().min(0))
const watched = () => ({ conversations: z.array(conversation), people: z.array(user) })

/** What one process says to others. Only processes of the cluster speak on its wire, but they may be of another version. */
const word = lazily(() =>
  z.discriminatedUnion("type", [
    /** It has just come, or has missed something: say what you watch. */
    z.object({ type: z.literal("hello") }),
    /** Somebody watches these there; `whole`: these and no others. */
    z.object({ type: z.literal("watch"), ...watched(), whole: z.boolean().optional() }),
    z.object({ type: z.literal("leave"), ...watched() }),
    /**
     * It is there, and watches so many: whoever has counted otherwise has missed something. `at` is a moment of its own, which
     * others give back to it: so it learns how long a word takes, without anybody's time of day.
     */
    z.object({ type: z.literal("beat"), conversations: count, people: count, at: z.number().optional() }),
    z.object({ type: z.literal("echo"), at: z.number() }),
    /** More of a reply; `offset` is where it ends. */
    z.object({ type: z.literal("delta"), id: conversation, position: count, offset: count, text: z.string() }),
    /** And of what is thought for it, with how long that took. */
    z.object({
      type: z.literal("thought"),
      ...{ id: conversation, position: count, offset: count, text: z.string(), ms: z.number() },
    }),
    /** How far a call is that runs there. */
    z.object({ type: z.literal("progress"), id: conversation, ...CallProgress.shape }),
    /** What comes does not follow what was heard of this reply: say it from its beginning. */
    z.object({ type: z.literal("again"), id: conversation }),
    z.object({ type: z.literal("rows"), id: conversation, user, events: z.array(z.custom<JournalEvent>(isRow)) }),
    /** The same where rows are too long to be carried, or may not be. */
    z.object({ type: z.literal("written"), id: conversation, position: count }),
    z.object({ type: z.literal("rest"), id: conversation }),
    /** It goes on there: whoever had it before may not know that. */
    z.object({ type: z.literal("taken_up"), id: conversation }),
    z.object({ type: z.literal("gone"), id: conversation, user }),
    /** Something has happened in a conversation of a person all of whose things are watched there. */
    z.object({ type: z.literal("happened"), user, id: conversation, types: z.array(z.string()) }),
    z.object({
      type: z.literal("news"),
      user,
      kind: z.custom<NewsKind>((kind) => newsKinds.some((known) => known === kind)),
    }),
    z.object({ type: z.literal("wake"), id: conversation }),
    z.object({ type: z.literal("revoked") }),
  ]),
)

export type NodeWord = z.infer<typeof word>
export type WordOf<Type extends NodeWord["type"]> = Extract<NodeWord, { readonly type: Type }>

const letter = lazily(() => z.object({ from: z.string(), words: z.array(z.unknown()) }))

/** Of words that are written already. */
export const writeLetter = (from: string, words: readonly string[]): string =>
  `{"from":${JSON.stringify(from)},"words":[${words.join(",")}]}`

/** Undefined where it is none. Words that a newer version says and this one does not know are left out. */
export function readLetter(text: string): { readonly from: string; readonly words: NodeWord[] } | undefined {
  const data = parsedLetter(text)
  if (!data) return undefined
  const words = data.words.flatMap((said) => {
    const known = word.safeParse(said)
    return known.success ? [known.data] : []
  })
  return { from: data.from, words }
}

/** Whose it is, with words that nobody has looked at. */
export const parsedLetter = (text: string): z.infer<typeof letter> | undefined => letter.safeParse(parsed(text)).data

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What every row has; the rest is as its writer's version wrote it, as in the journal. */
function isRow(value: unknown): boolean {
  const row = value as Partial<Record<string, unknown>> | null
  return typeof row === "object" && row !== null && typeof row.type === "string" && typeof row.position === "number"
}
