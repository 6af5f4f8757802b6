import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import { NodeMessage, type NodeMessages } from "../../protocol/node-messages.ts"
import type { Log } from "../../shared/log.ts"
import type { Engine } from "../engine/engine.ts"
import type { ThisNode } from "./nodes.ts"

/** How often a process looks for what others have said to it, and how often while something is being talked about. */
const LOOK_MS = { usual: 750, brisk: 100 }
/** For so long after the last word, in either direction, the next is looked for briskly: one follows another. */
const BRISK_MS = 10_000
/** A frame of a device fits into a message, with room to spare. */
const MOST_CHARACTERS = 4 * 1024 * 1024
/** What may wait for one process: more would only wait longer than anybody does for an answer. */
const MOST_WAITING = { messages: 2000, characters: 64 * 1024 * 1024 }
const AT_ONCE = 100

export interface MailOptions {
  readonly clock: Clock
  readonly log?: Log | undefined
}

type Listener = Parameters<NodeMessages["subscribe"]>[0]

/**
 * Messages between processes that share nothing but the database: a row for each, which its addressee takes away. They
 * wait only for a process that is alive, and go with it.
 */
export class NodeMail implements NodeMessages {
  readonly #engine: Engine
  readonly #node: ThisNode
  readonly #options: MailOptions
  readonly #listeners = new Set<Listener>()
  #briskUntil = Number.NEGATIVE_INFINITY
  #stop: () => void = () => {}
  #looking: Promise<void> | undefined
  /** The last look failed, which is said once and not with every look. */
  #failed = false

  constructor(engine: Engine, node: ThisNode, options: MailOptions) {
    this.#engine = engine
    this.#node = node
    this.#options = options
  }

  get self(): string {
    return this.#node.id
  }

  /** Something was said a moment ago, so an answer may come: only a process that gives signs of life gets one. */
  get isBrisk(): boolean {
    return monotonicOf(this.#options.clock) < this.#briskUntil
  }

  async send(to: string, message: NodeMessage): Promise<boolean> {
    const body = JSON.stringify(message)
    if (body.length > MOST_CHARACTERS) return false
    this.#hurry()
    const sql = `INSERT INTO node_mail (addressee, sender, size, body) SELECT id, ?, ?, ? FROM node WHERE id = ?
      AND (SELECT count(*) FROM node_mail WHERE addressee = ?) < ?
      AND (SELECT coalesce(sum(size), 0) FROM node_mail WHERE addressee = ?) < ?`
    const { messages, characters } = MOST_WAITING
    const values = [this.self, body.length, body, to, to, messages, to, characters]
    try {
      await this.#node.alive()
      return (await this.#engine.change({ type: "statements", statements: [{ sql, values, mustChange: true }] })).ok
    } catch (error) {
      this.#options.log?.warn("node_message_not_sent", { error })
      return true // the database has not said that it was not written
    }
  }

  subscribe(listener: Listener): () => void {
    if (this.#listeners.size === 0 && !this.#looking) this.#wait()
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  /** Resolves when nothing of it is under way. */
  async close(): Promise<void> {
    this.#listeners.clear()
    this.#stop()
    await this.#looking
  }

  #hurry(): void {
    const { clock } = this.#options
    const wasBrisk = this.isBrisk
    this.#briskUntil = monotonicOf(clock) + BRISK_MS
    if (wasBrisk || this.#listeners.size === 0 || this.#looking) return
    this.#stop()
    this.#wait()
  }

  #wait(): void {
    const round = () => {
      this.#looking = this.#look().finally(() => {
        this.#looking = undefined
        if (this.#listeners.size > 0) this.#wait()
      })
    }
    this.#stop = this.#options.clock.alarm(this.isBrisk ? LOOK_MS.brisk : LOOK_MS.usual, round, "background")
  }

  async #look(): Promise<void> {
    try {
      while ((await this.#take()) === AT_ONCE && this.#listeners.size > 0);
      this.#failed = false
    } catch (error) {
      if (!this.#failed) this.#options.log?.warn("node_message_not_read", { error })
      this.#failed = true
    }
  }

  /** Taken away before it is heard: what is lost with this process in between was lost on its way. */
  async #take(): Promise<number> {
    const waits = await this.#engine.query("SELECT 1 FROM node_mail WHERE addressee = ? LIMIT 1", [this.self])
    if (waits.length === 0) return 0
    const sql = `DELETE FROM node_mail WHERE number IN
      (SELECT number FROM node_mail WHERE addressee = ? ORDER BY number LIMIT ?) RETURNING number, sender, body`
    const taking = { type: "statements", statements: [{ sql, values: [this.self, AT_ONCE] }] } as const
    const outcome = await this.#engine.change(taking)
    const rows = (outcome.ok ? (outcome.rows[0] ?? []) : []) as unknown as MailRow[]
    if (rows.length > 0) this.#hurry()
    for (const { sender, body } of rows.sort((a, b) => a.number - b.number)) this.#tell(sender, body)
    return rows.length
  }

  /** What cannot be read is of a node of another version; it, and whoever fails over a message, keeps nobody from the next. */
  #tell(sender: string, body: string): void {
    try {
      const message = NodeMessage.parse(JSON.parse(body))
      for (const listener of this.#listeners) listener(message, sender)
    } catch (error) {
      this.#options.log?.warn("node_message_not_understood", { sender, error })
    }
  }
}

interface MailRow {
  readonly number: number
  readonly sender: string
  readonly body: string
}
