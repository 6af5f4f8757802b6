import { setTimeout as sleep } from "node:timers/promises"
import type { UserId } from "../../../core/protocol/ids.ts"
import type { Route } from "../../../core/protocol/routes/route.ts"
import { routes } from "../../../core/protocol/routes/index.ts"
import { scopes } from "../../../core/protocol/account/sign-in.ts"
import { Browser, linkFor } from "../../support/server/browser.ts"
import { type Face, Visitor } from "../../support/server/face.ts"
import { type Drawn, spoiled } from "./requests.ts"

export interface Outcome {
  readonly drawn: Drawn
  readonly status: number
  readonly type: string | null
  readonly text: string
  readonly asked: string
}

const ID = /\b(conv|run|prop|aud|msg|tok|sess|call|task|conn|res|col|doc|psg)_[0-9A-Za-z]{18,20}(?:_\d+)?\b/g
const PLACES: Readonly<Record<string, string>> = {
  conversations: "conv",
  runs: "run",
  proposals: "prop",
  audit: "aud",
  sessions: "sess",
  connections: "conn",
  chat: "conv",
  tokens: "tok",
  collections: "col",
  documents: "doc",
  passages: "psg",
}
const NEWEST = 12
const TIMEOUT_MS = 120_000
const BEGINNING_MS = 2000

/** Clients that send random requests to a server, with ids from its answers. */
export class Crowd {
  readonly #face: Face
  readonly #seen = new Map<string, string[]>()
  /** Proposals by their conversation. */
  readonly #waiting = new Map<string, string[]>()
  #callers: (Visitor | Browser)[] = []
  user = "" as UserId

  private constructor(face: Face) {
    this.#face = face
  }

  static async open(face: Face): Promise<Crowd> {
    const crowd = new Crowd(face)
    crowd.user = (await face.store.people.ensure("ada", Date.now())).id
    await crowd.#come()
    return crowd
  }

  /** Ada six times, with all rights, and others with fewer. */
  async #come(): Promise<void> {
    const face = this.#face
    const ada = await face.as("ada", ...scopes)
    const bob = await face.as("bob")
    const browser = await Browser.of(face, "ada")
    const reader = await face.as("ada", "read")
    const nobody = new Visitor((request) => face.fetch(request), undefined)
    this.#callers = [ada, ada, ada, ada, ada, browser, browser, bob, reader, nobody]
  }

  async send(drawn: Drawn): Promise<Outcome> {
    const { name, method, headers, raw } = drawn
    const route: Route = routes[name]
    const caller = name === "deleteMe" ? await this.#face.as("carl") : this.#callers[drawn.caller]!
    let pick = 0
    const next = () => drawn.picks[pick++ % drawn.picks.length]!
    const address = route.path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
      return encodeURIComponent(this.#idFor(route.path, field, { known: drawn.known, at: next() }))
    })
    const words = await this.#words(address, next)
    const filled = (value: unknown) => (drawn.isMeant ? value : fill(value, words, drawn.known, next))
    const query = toQuery(method === "GET" ? spoiled(filled(drawn.query), drawn.spoil) : filled(drawn.query))
    const whole = drawn.body === undefined ? undefined : spoiled(filled(drawn.body), drawn.spoil)
    const body = method === "GET" || method === "HEAD" ? undefined : (raw ?? whole)
    const asked = `${method} ${address}${query}`
    const response = await inTime(this.#ask(caller, asked, { body, headers }), asked)
    const { status, type, text } = response
    if (status === 401) await this.#come() // another request has revoked the token
    this.#learn(text)
    if (status === 404) for (const [id, kind = ""] of address.matchAll(ID)) this.#forget(kind, id)
    return { drawn, status, type, text, asked }
  }

  /** Resolves when all runs have ended or wait. */
  async settle(): Promise<void> {
    const { pawl, store } = this.#face
    const rows = await store.engine.query<{ id: string }>("SELECT id FROM conversations", [])
    for (const { id } of rows) await pawl.runtime.rest(id as never)
  }

  async #ask(caller: Visitor | Browser, asked: string, sent: { body?: unknown; headers: Record<string, string> }) {
    const [method = "", path = ""] = asked.split(/ (.*)/)
    // Our browser client reads answers to their end, and a stream may not end.
    const isThread = /^\/api\/chat\/[^/]+\/message\b/.test(path) // the only stream without heartbeats
    const streams = sent.headers.accept !== undefined || isThread || /\/(events|feed)\b/.test(path)
    if (caller instanceof Browser && !streams) return caller.ask(method, path, sent)
    const visitor = caller instanceof Browser ? (this.#callers[0] as Visitor) : caller
    const response = await visitor.send(method, path, sent)
    const type = response.headers.get("content-type")
    return { status: response.status, type, text: await readSome(response, isThread) }
  }

  #idFor(path: string, field: string, { known, at }: { known: number; at: number }): string {
    if (field === "tool") return ["create_task", "pay", "nothing", "\0", "é"][at % 5]!
    if (field === "table") return ["tasks", "tasks", "tasks", "notes", "nothing", "__proto__"][at % 6]!
    if (field === "name") return ["openai", "anthropic", "nobody", "__proto__"][at % 4]!
    const kind =
      field === "messageId"
        ? "msg"
        : field === "resultId"
          ? "res"
          : field === "documentId"
            ? "doc"
            : path.includes("{table}")
              ? "task"
              : PLACES[/(\w+)\/\{id\}/.exec(path)?.[1] ?? ""]
    const all = [...(this.#seen.get(kind ?? "conv") ?? [])]
    const newest = all.slice(-NEWEST)
    if (known > 0 && newest.length > 0) return newest[at % newest.length]!
    return [`${kind}_${"0".repeat(18)}`, "x", "%", "\0", "..", "__proto__", "é".repeat(100)][at % 7]!
  }

  async #words(address: string, next: () => number): Promise<Record<string, readonly unknown[]>> {
    const proposals = this.#waiting.get(/conv_\w+/.exec(address)?.[0] ?? "") ?? []
    const secret = address.endsWith("/sign-in") && next() % 2 ? await linkFor(this.#face, "ada") : "none"
    return {
      agent: ["test", "workspace", "test", null],
      model: ["scripted", "alias", "locked"],
      name: ["scripted", "alias", "locked"],
      ...{
        connectionId: [null],
        user_connection_id: [null],
        deviceId: [null],
        site: ["server", null],
        mode: ["confirm", "auto", "read-only"],
      },
      ...{ proposalIds: [proposals, []], secret: [secret], arguments: [{ title: "Else" }, { q: "else" }] },
      ...{
        position: [1, 2, 5],
        at: [1, 2, 5],
        before: [1, 3],
        after: ["0", "1", "2.1"],
        cursor: this.#seen.get("cursor") ?? [],
      },
      ...{ from: ["2026-01-01"], to: ["2026-02-01"], scopes: [["read"], ["read", "chat"]] },
      ...{ apiKey: ["sk-of-ada-0123456789"], baseUrl: [null] },
    }
  }

  #learn(text: string): void {
    for (const [id, kind = ""] of text.matchAll(ID)) this.#note(kind, id)
    for (const [, id = "", conversation = ""] of text.matchAll(/"id":"(prop_\w+)","conversationId":"(conv_\w+)"/g)) {
      this.#waiting.set(conversation, [...new Set([...(this.#waiting.get(conversation) ?? []), id])].slice(-3))
    }
    for (const [, cursor = ""] of text.matchAll(/"nextCursor":"([^"]+)"/g)) this.#note("cursor", cursor)
  }

  /** Forgets an id that was deleted or belongs to another user, so that it is requested only once. */
  #forget(kind: string, id: string): void {
    this.#seen.set(
      kind,
      (this.#seen.get(kind) ?? []).filter((other) => other !== id),
    )
  }

  #note(kind: string, id: string): void {
    const ids = this.#seen.get(kind) ?? []
    if (!ids.includes(id)) this.#seen.set(kind, [...ids, id].slice(-NEWEST * 2))
  }
}

/** Fields that can name an existing item do so as often as was drawn. */
function fill(value: unknown, words: Record<string, readonly unknown[]>, known: number, next: () => number): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).map(([key, own]) => {
    const choices = Object.hasOwn(words, key) ? words[key]! : []
    const at = next()
    return [key, choices.length > 0 && at % 10 < known ? choices[at % choices.length] : own]
  })
  return Object.fromEntries(entries)
}

function toQuery(value: unknown): string {
  if (typeof value !== "object" || value === null) return ""
  const pairs = Object.entries(value).map(([key, each]) => {
    const text = (typeof each === "string" ? each : JSON.stringify(each)).toWellFormed()
    return `${encodeURIComponent(key)}=${encodeURIComponent(text)}`
  })
  return pairs.length > 0 ? `?${pairs.join("&")}` : ""
}

/** An answer to its end; of a stream its beginning. */
async function readSome(response: Response, mayWait: boolean): Promise<string> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response.text()
  const reader = response.body?.getReader()
  // A message queued after a run that waits for approval has no events until the decision.
  const first = await (mayWait ? Promise.race([reader?.read(), sleep(BEGINNING_MS)]) : reader?.read())
  await reader?.cancel()
  return new TextDecoder().decode(first?.value)
}

async function inTime<T>(answer: Promise<T>, asked: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT_MS} ms: ${asked}`)), TIMEOUT_MS)
  try {
    return await Promise.race([answer, promise])
  } finally {
    clearTimeout(timer)
  }
}
