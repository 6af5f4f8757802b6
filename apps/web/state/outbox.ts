import { canRetry, hasCode, newKey } from "../../../client/index.ts"
import type { MessageFile } from "../../../core/protocol/index.ts"
import { client } from "./client.ts"
import { forgetting, noticeSignOut } from "./identity.ts"
import { currentPath, navigate } from "./router.ts"
import { Store } from "./store.ts"
import { whenBack } from "./auto-retry.ts"

export interface Sending extends Outgoing {
  /**
   * `waiting`: the server is unreachable, and the message is sent when it is back. `refused` by the server, or `old`,
   * so that its idempotency key has expired: the person decides.
   */
  readonly state: "sending" | "waiting" | "refused" | "old"
  /** Why it was refused. */
  readonly error?: unknown
}

/** The server remembers a key for a day. An older message could be sent twice, so it is not resent without asking. */
const KNOWN_MS = 23 * 60 * 60 * 1000

const KEY = "pawl.outbox"

/** Messages that the server has not stored yet, in order. */
export const outbox = new Store<readonly Sending[]>(readOutbox().map((kept) => ({ ...kept, state: "sending" })))

/** Called when a message of the outbox has arrived, before it leaves the outbox. */
export const arrivals = new Set<(conversationId: string) => Promise<void>>()

/** One at a time, so that messages arrive in order: by conversation, or by key before there is one. */
const lanes = new Map<string, Promise<void>>()
const leaving = new Map<string, AbortController>()

type To = { readonly conversationId: string } | { readonly beginning: Beginning }

/** Sends a message. It is stored before it is sent, and stays until the server has it or the person removes it. */
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

/** Sends what was left before a reload. */
export function resumeOutbox(): void {
  for (const sent of outbox.value) {
    if (leaving.has(sent.key)) continue
    if (Date.now() - sent.at > KNOWN_MS) change(sent.key, { state: "old" })
    else enqueue(sent)
  }
}

/** Removes a message from the outbox. If the server has it after all, it is in the conversation. */
export function removeUnsent(key: string): void {
  leaving.get(key)?.abort()
  keep(outbox.value.filter((each) => each.key !== key))
}

/** Sends a refused message again. With the same key, unless the key was refused or has expired. */
export function sendAgain(key: string): void {
  const sent = outbox.value.find((each) => each.key === key)
  if (!sent) return
  const isSpent = sent.state === "old" || hasCode(sent.error, "message_withdrawn") || hasCode(sent.error, "key_reused")
  removeUnsent(key)
  const { error: _, ...rest } = sent
  const again: Sending = { ...rest, state: "sending", ...(isSpent ? { key: newKey(), at: Date.now() } : {}) }
  keep([...outbox.value, again])
  enqueue(again)
}

// Cleared at sign-out, for the next person.
forgetting.add(() => {
  for (const { key } of outbox.value) removeUnsent(key)
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
      if (noticeSignOut(error)) return // it is sent after the next sign-in
      if (!canRetry(error)) return change(key, { state: "refused", error })
      keep(outbox.value.map((each) => (isBehind(each, sent) ? { ...each, state: "waiting" } : each)))
      await back(tries, signal)
    }
  }
}

/** The message itself, and those that wait for it. */
const isBehind = (each: Sending, first: Sending) =>
  each.key === first.key ||
  (each.state === "sending" && each.conversationId !== null && each.conversationId === first.conversationId)

const back = (tries: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const leave = whenBack(tries, resolve)
    signal.addEventListener("abort", () => (leave(), resolve()), { once: true })
  })

/** Creates the conversation of the message, or finds the one that an earlier attempt created. */
async function begin(sent: Sending): Promise<string> {
  const { key, beginning } = sent
  const body = beginning as Beginning
  const begun = sent.mayBeBegun ? await findCreated(sent, body) : undefined
  change(key, { mayBeBegun: true })
  const { id } = begun ?? (await client.createConversation({ body }))
  // Later messages to the conversation wait for this one.
  const mine = lanes.get(key)
  if (mine) lanes.set(id, mine)
  change(key, { conversationId: id })
  if (currentPath() === "/" && outbox.value.some((each) => each.key === key)) navigate(`/c/${id}`)
  return id
}

/** Allowed clock difference when looking for a created conversation. */
const SKEW_MS = 10 * 60 * 1000

async function findCreated({ at }: Sending, { title, agent }: Beginning) {
  const { items } = await client.listConversations({ query: { limit: 20 } })
  return items.find(
    (one) =>
      one.title === (title ?? null) &&
      (agent === undefined || one.agent === agent) &&
      one.position <= 1 &&
      Date.parse(one.createdAt) > at - SKEW_MS,
  )
}

/** Resolves when the server has stored the message, which may be long before it is processed. */
async function arrive(id: string, sent: Sending, signal: AbortSignal): Promise<void> {
  const { text, when, timeZone, files, key: idempotencyKey } = sent
  const received = new AbortController()
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
    signal: AbortSignal.any([signal, received.signal]),
    onState: ({ state }) => state === "live" && accepted.resolve(),
  })
  const first = frames.next()
  try {
    await Promise.race([accepted.promise, first])
  } finally {
    received.abort()
    // The rest arrives over the stream that is already open.
    first.then(() => frames.return()).catch(() => {})
  }
}

/** The body of a new conversation. */
type Beginning = NonNullable<NonNullable<Parameters<typeof client.createConversation>[0]>["body"]>

/** A message on its way to the server. */
interface Outgoing {
  /** The idempotency key: however often the message is sent, it is processed once. */
  readonly key: string
  /** Null if the conversation must be created first. */
  readonly conversationId: string | null
  readonly beginning: Beginning | null
  /** A request to create it was sent, but its response was lost. */
  readonly mayBeBegun: boolean
  readonly text: string
  readonly when: "queue" | "steer"
  readonly timeZone: string
  /** Files that are already uploaded. */
  readonly files?: readonly MessageFile[]
  /** When it was first sent. */
  readonly at: number
}

/** Stored for this tab, like drafts: they survive a reload, and other tabs do not see them. */
function readOutbox(): readonly Outgoing[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]")
    return Array.isArray(kept) ? (kept as Outgoing[]) : []
  } catch {
    return [] // storage is blocked, or has other data
  }
}

function saveOutbox(all: readonly Outgoing[]): void {
  try {
    if (all.length === 0) sessionStorage.removeItem(KEY)
    else sessionStorage.setItem(KEY, JSON.stringify(all))
  } catch {
    // Storage is blocked; then they last as long as the page.
  }
}
