import type { JoinedTool } from "../../engine/definition/joined-tools.ts"
import type { McpPins, PinnedFacts, PinnedMcpTool } from "../../engine/mcp.ts"
import { failure, hasCode } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { McpToolRule } from "../../protocol/mcp-servers.ts"
import { withTimeLimit } from "../../shared/concurrency/time-limit.ts"
import type { Log } from "../../shared/log.ts"
import { own } from "../../shared/text/json.ts"
import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import type { McpConnection } from "./connection/connection.ts"
import { hashOf, type McpServer, toolNames } from "./definition/server.ts"

/** Whether a model may see the tool: approved, and unchanged since. */
export const isAgreed = ({ agreed, seen }: PinnedMcpTool): boolean => agreed?.hash === seen.hash

/** The rule for a tool: the person's, by name, for the whole server, or `ask`. */
export const ruleOf = ({ rules }: McpServer, { tool, rule }: Pick<PinnedMcpTool, "tool" | "rule">): McpToolRule =>
  rule ?? own(rules, tool) ?? own(rules, "*") ?? "ask"

/** Whether it may run again after a crash: both its server and a person must say so. */
export const mayRunAgain = ({ idempotent }: McpServer, { tool, seen, again }: PinnedMcpTool): boolean =>
  seen.facts.claims.idempotent === true && (again || idempotent.includes(tool))

/** The available tools of a server, as the journal records them. */
export function offeredTools(server: McpServer, pinned: readonly PinnedMcpTool[]): JoinedTool[] {
  // Names are assigned over all tools, so that they stay the same when another tool is switched off.
  const names = toolNames(
    server.name,
    pinned.map(({ tool }) => tool),
  )
  return pinned.flatMap((pin) => {
    const rule = ruleOf(server, pin)
    if (!pin.agreed || !isAgreed(pin) || rule === "off") return []
    const name = names.get(pin.tool) as string
    return [toJoined(server, { ...pin.agreed, rule, name, again: rule === "read" || mayRunAgain(server, pin) })]
  })
}

interface Offered extends PinnedFacts {
  readonly name: string
  readonly rule: "read" | "ask"
  readonly again: boolean
}

function toJoined(server: McpServer, { name: called, hash, facts, rule, again }: Offered): JoinedTool {
  const { tool, description, inputSchema, claims } = facts
  const { key, name, isPublic, timeoutSeconds, taskSeconds } = server
  return {
    name: called,
    description: `[${tool}, a tool of the MCP server "${name}". That server says of it:] ${description || "nothing"}`,
    inputSchema,
    effect: rule === "read" ? "read" : "write",
    afterCrash: again ? "run-again" : "in-doubt",
    brings: isPublic ? "outside" : "both",
    timeoutSeconds,
    ...(claims.task ? { taskSeconds } : {}),
    server: key,
    tool,
    hash,
  }
}

/** A run waits for this, so it is shorter than the limit for all servers. */
const LIST_SECONDS = 8
/** How long runs skip a server that failed. */
const PAUSE_MS = 30_000
/** A stopped program ends within a second and then reports its state. */
const GRACE_MS = 2000
const MAX_RESTING = 1000

/**
 * Lists servers without pinned tools for runs: each for a few seconds, and not again soon after a failure. Otherwise a
 * hanging server would delay every run.
 */
export class FirstListing {
  readonly #clock: Clock
  /** Failed servers, with the time. */
  readonly #resting = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Undefined if it failed recently and is not asked. */
  async look<T>(key: string, signal: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const failedAt = this.#resting.get(key)
    if (failedAt !== undefined && monotonicOf(this.#clock) - failedAt < PAUSE_MS) return undefined
    const bounds = { clock: this.#clock, seconds: LIST_SECONDS, signal, graceMs: GRACE_MS }
    const ended = await withTimeLimit(bounds, (inner) => ask(inner()))
    if (ended.type === "timed_out" || ended.type === "stopped") ended.rest.catch(() => {}) // no longer needed
    signal.throwIfAborted()
    this.#resting.delete(key)
    if (ended.type === "returned") return ended.value
    this.#rest(key)
    if (ended.type === "threw" && (ended.told === undefined || hasCode(ended.error, "mcp_server_failed")))
      throw ended.error
    throw failure("mcp_server_failed", { problem: `it did not say within ${LIST_SECONDS} seconds what it offers` })
  }

  #rest(key: string): void {
    this.#resting.set(key, monotonicOf(this.#clock))
    const [oldest] = this.#resting.keys()
    if (this.#resting.size > MAX_RESTING && oldest !== undefined) this.#resting.delete(oldest)
  }
}

/** Most frequent re-reading of one server's list. */
const EVERY_MS = 5000

/** A connection whose server reported a changed list. */
interface ChangedList {
  readonly server: McpServer
  readonly user: UserId
  readonly connection: McpConnection
}

/**
 * Reads a server's tools when it reports a change, so that people see it before a call. Does not keep the connection open.
 */
export class ListRefresh {
  readonly #ports: { readonly pins: McpPins; readonly clock: Clock; readonly log: Log }
  /** Servers that were read recently, with their last report since. */
  readonly #resting = new Map<string, ChangedList | undefined>()

  constructor(ports: { readonly pins: McpPins; readonly clock: Clock; readonly log: Log }) {
    this.#ports = ports
  }

  changed(change: ChangedList): void {
    const { key } = change.server
    change.connection.forgetList()
    if (this.#resting.has(key)) return void this.#resting.set(key, change)
    this.#resting.set(key, undefined)
    this.#ports.clock.alarm(EVERY_MS, () => this.#rested(key), "background")
    void this.#ask(change)
  }

  #rested(key: string): void {
    const again = this.#resting.get(key)
    this.#resting.delete(key)
    if (again) this.changed(again)
  }

  async #ask({ server, user, connection }: ChangedList): Promise<void> {
    const { pins, log } = this.#ports
    try {
      // A server without pinned tools is approved on first use.
      if (connection.isClosed || (await pins.read(server.key)).length === 0) return
      const tools = await connection.tools(new AbortController().signal)
      const seen = [...tools.values()].map((facts) => ({ hash: hashOf(facts), facts }))
      await pins.see(server.key, server.isPersons ? user : null, seen)
    } catch (error) {
      log.warn("mcp_server_failed", { server: server.name, error })
    }
  }
}
