import { createHmac } from "node:crypto"
import { type Clock, machineTimeOf } from "../shared/time/clock.ts"
import type { Log } from "../shared/log.ts"
import { AppError } from "../protocol/errors.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import type { Proposal } from "../protocol/proposals/proposal.ts"

/** The stored state of webhook deliveries. */
interface Deliveries<Due extends Waiting = Waiting> {
  due(now: number, limit: number): Promise<Due[]>
  claim(due: Due, now: number, until: number): Promise<number | undefined>
  proposals(due: Due): Promise<Proposal[]>
  end(due: Due, now: number): Promise<void>
  tryAgainAt(due: Due, at: number): Promise<void>
}

interface Waiting {
  readonly conversationId: ConversationId
  readonly position: number
  readonly user: UserId
}

export interface WebhookSettings {
  readonly url: string
  readonly secret: string
  /** How long an answer may take. */
  readonly timeoutMs?: number
  /** Sends requests through the operator's proxies, if any. */
  readonly fetch?: typeof globalThis.fetch
}

interface Surroundings<Due extends Waiting> {
  readonly deliveries: Deliveries<Due>
  readonly clock: Clock
  readonly log: Log
}

/** Concurrent deliveries. */
const AT_ONCE = 8
/** Longer than an attempt can last: after this its process has failed. */
const CLAIM_MS = 15_000
const TIMEOUT_MS = 10_000
const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 5 * 60_000
/** About an hour and a half. */
const MAX_ATTEMPTS = 25

/**
 * Notifies another program of open proposals, at least once. A proposal that is decided, expired or erased before its
 * delivery is dropped.
 */
export class Webhook<Due extends Waiting> {
  readonly #settings: WebhookSettings
  readonly #surroundings: Surroundings<Due>

  constructor(settings: WebhookSettings, surroundings: Surroundings<Due>) {
    this.#settings = settings
    this.#surroundings = surroundings
  }

  /** Sends due deliveries. Call it every few seconds. */
  async sweep(): Promise<void> {
    const { deliveries, clock } = this.#surroundings
    const due = await deliveries.due(clock.now(), AT_ONCE * 8)
    for (let first = 0; first < due.length; first += AT_ONCE) {
      await Promise.all(due.slice(first, first + AT_ONCE).map((each) => this.#deliver(each)))
    }
  }

  async #deliver(due: Due): Promise<void> {
    const { deliveries, clock, log } = this.#surroundings
    const began = clock.now()
    const attempt = await deliveries.claim(due, began, began + CLAIM_MS)
    if (attempt === undefined) return // another node claimed it
    const proposals = await deliveries.proposals(due)
    if (proposals.length === 0) return deliveries.end(due, clock.now())
    const problem = await this.#post(due, proposals)
    const now = clock.now()
    if (problem === undefined) return deliveries.end(due, now)
    // Not the URL or the response: both may contain secrets.
    const fields = { conversation: due.conversationId, host: new URL(this.#settings.url).host, attempt, problem }
    if (attempt >= MAX_ATTEMPTS) {
      log.error("webhook_dropped", fields)
      return deliveries.end(due, now)
    }
    log.warn("webhook_failed", fields)
    await deliveries.tryAgainAt(due, now + Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LONGEST_RETRY_MS))
  }

  /** Undefined on success, otherwise what went wrong. */
  async #post({ conversationId, position, user }: Due, proposals: readonly Proposal[]): Promise<string | undefined> {
    const { url, secret, timeoutMs = TIMEOUT_MS, fetch = globalThis.fetch } = this.#settings
    const body = JSON.stringify({
      type: "awaiting_confirmation",
      conversationId,
      user,
      proposals: proposals.map(({ id, tool, summary, action, expiresAt }) => ({
        id,
        tool,
        summary,
        action,
        expiresAt,
      })),
    })
    const ours = {
      "content-type": "application/json",
      "pawl-signature": sign(body, secret, Math.floor(machineTimeOf(this.#surroundings.clock) / 1000)),
      "pawl-delivery": `${conversationId}.${position}`, // the same for every attempt
    }
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const { address, headers: theirs } = withoutPassword(url)
      const headers = { ...ours, ...theirs }
      // A redirect would send a person's text to an address that the operator did not configure.
      const response = await fetch(address, { method: "POST", headers, body, redirect: "manual", signal })
      await response.body?.cancel()
      return response.ok ? undefined : `it answered ${response.status || "with a redirect"}`
    } catch (error) {
      const { name, cause } = error as { name: string; cause?: { code?: string; message?: string } }
      if (error instanceof AppError) return "it answered with a redirect" // thrown by the proxy-aware fetch
      if (signal.aborted) return `no answer within ${timeoutMs} ms`
      return cause?.code ?? (cause?.message === "bad port" ? "browsers and fetch refuse this port" : name)
    }
  }
}

/** `t=<seconds>,v1=<hex>`: HMAC-SHA-256 over the seconds, a dot and the body. */
export function sign(body: string, secret: string, seconds: number): string {
  return `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`
}

/** `fetch` refuses a URL with a password. */
function withoutPassword(url: string): { address: string; headers: Record<string, string> } {
  const address = new URL(url)
  const { username, password } = address
  address.username = address.password = ""
  if (username === "" && password === "") return { address: address.href, headers: {} }
  const both = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
  return { address: address.href, headers: { authorization: `Basic ${both.toString("base64")}` } }
}
