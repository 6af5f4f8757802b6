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

/** Whether a model may be shown it: as somebody has agreed to it, and as it still is. */
export const isAgreed = ({ agreed, seen }: PinnedMcpTool): boolean => agreed?.hash === seen.hash

/** What is decided about a tool: by its person, by name, for all of its server; and otherwise a person is asked. */
export const ruleOf = ({ rules }: McpServer, { tool, rule }: Pick<PinnedMcpTool, "tool" | "rule">): McpToolRule =>
  rule ?? own(rules, tool) ?? own(rules, "*") ?? "ask"

/** Whether it may run again after a crash. Both have to say so: its server, which knows, and somebody who answers for it. */
export const mayRunAgain = ({ idempotent }: McpServer, { tool, seen, again }: PinnedMcpTool): boolean =>
  seen.facts.claims.idempotent === true && (again || idempotent.includes(tool))

/** The tools of a server that a model may be shown, as they stand in a journal. */
export function offeredTools(server: McpServer, pinned: readonly PinnedMcpTool[]): JoinedTool[] {
  // Of all that it has, whatever is decided about them: a name stays when another tool is switched off.
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

/** A run waits for it, and the tools of all other servers with it: less than the run waits for all of them. */
const LOOK_SECONDS = 8
/** For so long runs do without one that has failed. */
const REST_MS = 30_000
/** A program that is stopped is ended within a second, and then says how far it was. */
const GRACE_MS = 2000
const MAX_RESTING = 1000

/**
 * Looks at servers of which nothing is known yet, for runs: each for a few seconds, and not at once again where it has
 * failed. Otherwise one that hangs would hold up every run, and take the tools of all others from it.
 */
export class FirstLooks {
  readonly #clock: Clock
  /** Those that have failed, and since when. */
  readonly #resting = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Undefined where it has failed a moment ago, and is not asked. */
  async look<T>(key: string, signal: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const failedAt = this.#resting.get(key)
    if (failedAt !== undefined && monotonicOf(this.#clock) - failedAt < REST_MS) return undefined
    const bounds = { clock: this.#clock, seconds: LOOK_SECONDS, signal, graceMs: GRACE_MS }
    const ended = await withTimeLimit(bounds, (inner) => ask(inner()))
    if (ended.type === "timed_out" || ended.type === "stopped") ended.rest.catch(() => {}) // it is no longer needed
    signal.throwIfAborted()
    this.#resting.delete(key)
    if (ended.type === "returned") return ended.value
    this.#rest(key)
    if (ended.type === "threw" && (ended.told === undefined || hasCode(ended.error, "mcp_server_failed")))
      throw ended.error
    throw failure("mcp_server_failed", { problem: `it did not say within ${LOOK_SECONDS} seconds what it offers` })
  }

  #rest(key: string): void {
    this.#resting.set(key, monotonicOf(this.#clock))
    const [oldest] = this.#resting.keys()
    if (this.#resting.size > MAX_RESTING && oldest !== undefined) this.#resting.delete(oldest)
  }
}

/** How often one server is asked because it says that its list is another one, however often it says so. */
const EVERY_MS = 5000

/** The connection over which a server has said so, and whose that is. */
interface ChangedList {
  readonly server: McpServer
  readonly user: UserId
  readonly connection: McpConnection
}

/**
 * Asks a server for its tools as soon as it says that they have changed, so that whoever looks sees it before anything is
 * called. It does not keep a connection open: that is for those who use it.
 */
export class ListRefresh {
  readonly #ports: { readonly pins: McpPins; readonly clock: Clock; readonly log: Log }
  /** Servers that were asked a moment ago, each with what it has said since. */
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
      // Nothing is known of one that nobody has used yet, or that is gone: its list is agreed to when somebody uses it.
      if (connection.isClosed || (await pins.read(server.key)).length === 0) return
      const tools = await connection.tools(new AbortController().signal)
      const seen = [...tools.values()].map((facts) => ({ hash: hashOf(facts), facts }))
      await pins.see(server.key, server.isPersons ? user : null, seen)
    } catch (error) {
      log.warn("mcp_server_failed", { server: server.name, error })
    }
  }
}
