import { canRetry, hasCode, newKey } from "../../../client/index.ts"
import type { MessageFile } from "../../../core/protocol/index.ts"
import { client } from "./client.ts"
import { forgetting, noticeSignOut } from "./identity.ts"
import { currentPath, navigate } from "./router.ts"
import { Store } from "./store.ts"
import { whenBack } from "./auto-retry.ts"

export interface Sending extends Outgoing {
  /**
   * `waiting`: nobody answers, and they are sent when somebody does. `refused` by the server, or `old`, so that a key of
   * theirs is no longer known: their person says what now.
   */
  readonly state: "sending" | "waiting" | "refused" | "old"
  /** Why they were refused. */
  readonly error?: unknown
}

/** The server knows a key for a day. What is older could be said a second time, so it is not sent unasked. */
const KNOWN_MS = 23 * 60 * 60 * 1000

const KEY = "pawl.outbox"

/** Words that the server does not have yet, in the order they were said. */
export const outbox = new Store<readonly Sending[]>(readOutbox().map((kept) => ({ ...kept, state: "sending" })))

/** Tells the view of a conversation that a message of the outbox has arrived in it, before it leaves the outbox. */
export const arrivals = new Set<(conversationId: string) => Promise<void>>()

/** One after another, so that they arrive in the order they were said: by conversation, or by key before there is one. */
const lanes = new Map<string, Promise<void>>()
const leaving = new Map<string, AbortController>()

type To = { readonly conversationId: string } | { readonly beginning: Beginning }

/** Says something. It is kept before it is sent, and stays until the server has it, the person takes it back or both end. */
export function sendMessage(
  to: To,
  text: string,
  when: "queue" | "steer" = "queue",
  files: readonly MessageFile[] = [],
): void {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const sent: Sending = {
    key: newKey(),
    conversationId: "conversationId" in to ? to.conversationId : null,
    beginning: "beginning" in to ? to.beginning : null,
    mayBeBegun: false,
    ...(files.length > 0 ? { files } : {}),
    ...{ text, when, timeZone, at: Date.now(), state: isHeldUp(to) ? "waiting" : "sending" },
  }
  keep([...outbox.value, sent])
  enqueue(sent)
}

const isHeldUp = (to: To): boolean =>
  "conversationId" in to &&
  outbox.value.some(({ conversationId, state }) => conversationId === to.conversationId && state === "waiting")

/** Sends what an earlier life of this page has left. */
export function resumeOutbox(): void {
  for (const sent of outbox.value) {
    if (leaving.has(sent.key)) continue
    if (Date.now() - sent.at > KNOWN_MS) change(sent.key, { state: "old" })
    else enqueue(sent)
  }
}

/** Takes words off the page that the server may not have. Where it had them after all, they are in the conversation. */
export function takeBack(key: string): void {
  leaving.get(key)?.abort()
  keep(outbox.value.filter((each) => each.key !== key))
}

/** Once more what was refused. With the same key, unless that is what was refused or is no longer known. */
export function sendAgain(key: string): void {
  const sent = outbox.value.find((each) => each.key === key)
  if (!sent) return
  const isSpent = sent.state === "old" || hasCode(sent.error, "message_withdrawn") || hasCode(sent.error, "key_reused")
  takeBack(key)
  const { error: _, ...rest } = sent
  const again: Sending = { ...rest, state: "sending", ...(isSpent ? { key: newKey(), at: Date.now() } : {}) }
  keep([...outbox.value, again])
  enqueue(again)
}

// Nothing of one person is left for the next who signs in here.
forgetting.add(() => {
  for (const { key } of outbox.value) takeBack(key)
})

function keep(all: readonly Sending[]): void {
  outbox.set(all)
  saveOutbox(all.map(({ state: _, error: __, ...kept }) => kept))
}

function change(key: string, changes: Partial<Sending>): void {
  keep(outbox.value.map((each) => (each.key === key ? { ...each, ...changes } : each)))
}

function enqueue({ key, conversationId }: Sending): void {
  const gone = new AbortController()
  leaving.set(key, gone)
  const lane = conversationId ?? key
  const done = (lanes.get(lane) ?? Promise.resolve())
    .then(() => deliver(key, gone.signal))
    .finally(() => {
      if (leaving.get(key) === gone) leaving.delete(key)
    })
  lanes.set(lane, done)
}

/** Sends it until it has arrived or was refused. */
async function deliver(key: string, signal: AbortSignal): Promise<void> {
  for (let tries = 0; !signal.aborted; tries++) {
    const sent = outbox.value.find((each) => each.key === key)
    if (!sent) return
    try {
      const id = sent.conversationId ?? (await begin(sent))
      if (signal.aborted) return
      await arrive(id, sent, signal)
      await Promise.all([...arrivals].map((onArrival) => onArrival(id)))
      keep(outbox.value.filter((each) => each.key !== key))
      return
    } catch (error) {
      if (signal.aborted) return
      if (noticeSignOut(error)) return // it is sent when somebody has signed in again
      if (!canRetry(error)) return change(key, { state: "refused", error })
      keep(outbox.value.map((each) => (isBehind(each, sent) ? { ...each, state: "waiting" } : each)))
      await back(tries, signal)
    }
  }
}

/** It itself, and what waits for it to arrive first. */
const isBehind = (each: Sending, first: Sending) =>
  each.key === first.key ||
  (each.state === "sending" && each.conversationId !== null && each.conversationId === first.conversationId)

const back = (tries: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const leave = whenBack(tries, resolve)
    signal.addEventListener("abort", () => (leave(), resolve()), { once: true })
  })

/** Begins the conversation that the words are for, or finds the one that an earlier try has begun. */
async function begin(sent: Sending): Promise<string> {
  const { key, beginning } = sent
  const body = beginning as Beginning
  const begun = sent.mayBeBegun ? await findBegun(sent, body) : undefined
  change(key, { mayBeBegun: true })
  const { id } = begun ?? (await client.createConversation({ body }))
  // What is said to it from now on waits for these words.
  const mine = lanes.get(key)
  if (mine) lanes.set(id, mine)
  change(key, { conversationId: id })
  if (currentPath() === "/" && outbox.value.some((each) => each.key === key)) navigate(`/c/${id}`)
  return id
}

/** A clock that is wrong by so much still finds what it has begun. */
const SKEW_MS = 10 * 60 * 1000

async function findBegun({ at }: Sending, { title, agent }: Beginning) {
  const { items } = await client.listConversations({ query: { limit: 20 } })
  return items.find(
    (one) =>
      one.title === (title ?? null) &&
      (agent === undefined || one.agent === agent) &&
      one.position <= 1 &&
      Date.parse(one.createdAt) > at - SKEW_MS,
  )
}

/** Resolves when the server has the words: its answer begins when they are kept, which may be long before they are said. */
async function arrive(id: string, sent: Sending, signal: AbortSignal): Promise<void> {
  const { text, when, timeZone, files, key: idempotencyKey } = sent
  const heard = new AbortController()
  const accepted = Promise.withResolvers<void>()
  const frames = client.run(id, text, {
    ...{
      when,
      timeZone,
      attended: true,
      idempotencyKey,
      tries: 1,
      ...(files ? { files: files.map(({ id }) => id) } : {}),
    },
    signal: AbortSignal.any([signal, heard.signal]),
    onState: ({ state }) => state === "live" && accepted.resolve(),
  })
  const first = frames.next()
  try {
    await Promise.race([accepted.promise, first])
  } finally {
    heard.abort()
    // The rest comes over the line that is open already.
    first.then(() => frames.return()).catch(() => {})
  }
}

/** What a conversation is begun with. */
type Beginning = NonNullable<NonNullable<Parameters<typeof client.createConversation>[0]>["body"]>

/** Words on their way to the server. */
interface Outgoing {
  /** Their Idempotency-Key: however often they are sent, they are said once. */
  readonly key: string
  /** Null where the conversation is still to be begun. */
  readonly conversationId: string | null
  readonly beginning: Beginning | null
  /** It may have been begun, by a request whose answer was lost. */
  readonly mayBeBegun: boolean
  readonly text: string
  readonly when: "queue" | "steer"
  readonly timeZone: string
  /** Files that the server has already. */
  readonly files?: readonly MessageFile[]
  /** When they were first sent. */
  readonly at: number
}

/** Kept for this tab, like drafts: a reload takes no words away, and who signs in elsewhere finds none of them. */
function readOutbox(): readonly Outgoing[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]")
    return Array.isArray(kept) ? (kept as Outgoing[]) : []
  } catch {
    return [] // storage is refused, or holds what is not ours
  }
}

function saveOutbox(all: readonly Outgoing[]): void {
  try {
    if (all.length === 0) sessionStorage.removeItem(KEY)
    else sessionStorage.setItem(KEY, JSON.stringify(all))
  } catch {
    // Then they last as long as the page.
  }
}
