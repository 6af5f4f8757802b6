import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import { NodeMessage, type NodeMessages } from "../../protocol/node-messages.ts"
import type { Log } from "../../shared/log.ts"
import type { Engine } from "../engine/engine.ts"
import type { ThisNode } from "./nodes.ts"

/** How often a node polls its mail: normally, and while messages are exchanged. */
const POLL_MS = { normal: 750, active: 100 }
/** How long polling stays fast after the last message in either direction, because messages follow each other. */
const ACTIVE_MS = 10_000
/** A device's frame fits into a message. */
const MAX_CHARACTERS = 4 * 1024 * 1024
/** The maximum that waits for one node: more would wait longer than any caller does. */
const MAX_WAITING = { messages: 2000, characters: 64 * 1024 * 1024 }
const AT_ONCE = 100

export interface MailOptions {
  readonly clock: Clock
  readonly log?: Log | undefined
}

type Listener = Parameters<NodeMessages["subscribe"]>[0]

/**
 * Messages between nodes that share only the database: a row each, which its recipient deletes. They wait only for a
 * live node, and are deleted with it.
 */
export class NodeMail implements NodeMessages {
  readonly #engine: Engine
  readonly #node: ThisNode
  readonly #options: MailOptions
  readonly #listeners = new Set<Listener>()
  #activeUntil = Number.NEGATIVE_INFINITY
  #stop: () => void = () => {}
  #polling: Promise<void> | undefined
  /** The last poll failed, which is logged once. */
  #failed = false

  constructor(engine: Engine, node: ThisNode, options: MailOptions) {
    this.#engine = engine
    this.#node = node
    this.#options = options
  }

  get self(): string {
    return this.#node.id
  }

  /** A message was exchanged recently, so an answer may come: only a node that sends heartbeats gets one. */
  get isActive(): boolean {
    return monotonicOf(this.#options.clock) < this.#activeUntil
  }

  async send(to: string, message: NodeMessage): Promise<boolean> {
    const body = JSON.stringify(message)
    if (body.length > MAX_CHARACTERS) return false
    this.#pollFast()
    const sql = `INSERT INTO node_mail (addressee, sender, size, body) SELECT id, ?, ?, ? FROM node WHERE id = ?
      AND (SELECT count(*) FROM node_mail WHERE addressee = ?) < ?
      AND (SELECT coalesce(sum(size), 0) FROM node_mail WHERE addressee = ?) < ?`
    const { messages, characters } = MAX_WAITING
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
    if (this.#listeners.size === 0 && !this.#polling) this.#wait()
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  /** Resolves when nothing is in flight. */
  async close(): Promise<void> {
    this.#listeners.clear()
    this.#stop()
    await this.#polling
  }

  #pollFast(): void {
    const { clock } = this.#options
    const wasActive = this.isActive
    this.#activeUntil = monotonicOf(clock) + ACTIVE_MS
    if (wasActive || this.#listeners.size === 0 || this.#polling) return
    this.#stop()
    this.#wait()
  }

  #wait(): void {
    const round = () => {
      this.#polling = this.#poll().finally(() => {
        this.#polling = undefined
        if (this.#listeners.size > 0) this.#wait()
      })
    }
    this.#stop = this.#options.clock.alarm(this.isActive ? POLL_MS.active : POLL_MS.normal, round, "background")
  }

  async #poll(): Promise<void> {
    try {
      while ((await this.#receive()) === AT_ONCE && this.#listeners.size > 0);
      this.#failed = false
    } catch (error) {
      if (!this.#failed) this.#options.log?.warn("node_message_not_read", { error })
      this.#failed = true
    }
  }

  /** Deleted before it is handled: if this process fails in between, the message is lost as if in transit. */
  async #receive(): Promise<number> {
    const waits = await this.#engine.query("SELECT 1 FROM node_mail WHERE addressee = ? LIMIT 1", [this.self])
    if (waits.length === 0) return 0
    const sql = `DELETE FROM node_mail WHERE number IN
      (SELECT number FROM node_mail WHERE addressee = ? ORDER BY number LIMIT ?) RETURNING number, sender, body`
    const operation = { type: "statements", statements: [{ sql, values: [this.self, AT_ONCE] }] } as const
    const outcome = await this.#engine.change(operation)
    const rows = (outcome.ok ? (outcome.rows[0] ?? []) : []) as unknown as MailRow[]
    if (rows.length > 0) this.#pollFast()
    for (const { sender, body } of rows.sort((a, b) => a.number - b.number)) this.#notify(sender, body)
    return rows.length
  }

  /**
   * A node of another version may send unknown messages. They, and errors of a listener, must not block the next
   * message.
   */
  #notify(sender: string, body: string): void {
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
