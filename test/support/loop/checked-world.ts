import { expect } from "vitest"
import { type Conversation, conversationStatus, runStatus } from "../../../core/engine/conversation.ts"
import type { MessageInput } from "../../../core/engine/input.ts"
import type { Live } from "../../../core/engine/ports.ts"
import { fromSnapshot, toSnapshot } from "../../../core/engine/replay/snapshot.ts"
import { replay, replayOn } from "../../../core/engine/replay/replay.ts"
import type { EventOf, EventType, JournalEvent } from "../../../core/protocol/events.ts"
import { type ConversationId, newId } from "../../../core/protocol/ids.ts"
import type { Mode } from "../../../core/protocol/schema.ts"
import { spanFaultsIn } from "../telemetry/span-faults.ts"
import { message, openWorld, type World, type WorldOptions } from "./world.ts"

/**
 * A world that checks its invariants when it closes: its journals have no gap, every tool call has one result, every
 * run has one end, spans form a tree that does not change after it was exported, memory equals the disk, and the loop
 * logged no unexpected problem (a test that expects one removes it from `problems`).
 */
export async function openChecked(options: WorldOptions): Promise<World> {
  const world = await openWorld(options)
  const close = world[Symbol.asyncDispose].bind(world)
  return Object.assign(world, {
    async [Symbol.asyncDispose]() {
      try {
        await expectSound(world)
      } finally {
        await close()
      }
    },
  })
}

export async function expectSound(world: World): Promise<void> {
  expect(world.problems).toEqual([])
  const rows = await world.store.engine.query<{ id: ConversationId; status: string }>(
    "SELECT id, status FROM conversations",
    [],
  )
  for (const { id, status } of rows) {
    if (world.pawl.runtime.isWorking(id)) continue
    const events = await world.events(id)
    expectWhole(events)
    expect(spanFaultsIn(events)).toEqual([])
    const inMemory = await world.store.journal.load(id)
    // If another node has continued the conversation, memory may lag behind the journal but must not contradict it.
    expect(comparable(inMemory)).toEqual(comparable(replay(id, inMemory.user, events.slice(0, inMemory.position))))
    const onDisk = replay(id, inMemory.user, events)
    // The store loads a snapshot and the events after it, which must give the same state.
    world.store.journal.drop(id)
    expect(comparable(await world.store.journal.load(id))).toEqual(comparable(onDisk))
    expectKept(onDisk, events)
    expect(status).toBe(conversationStatus(onDisk))
    await expectMirrored(world, onDisk)
  }
}

/** A snapshot from the end of a previous run must lead to the same state. */
function expectKept(onDisk: Conversation, events: readonly JournalEvent[]): void {
  const { id, user } = onDisk
  for (const { position } of of(events, "run_ended")) {
    const text = toSnapshot(replay(id, user, events.slice(0, position)))
    const fold = text === undefined ? undefined : fromSnapshot({ id, user }, position, text)
    if (fold) expect(comparable(replayOn(fold, events.slice(position)))).toEqual(comparable(onDisk))
    else expect(onDisk.hasUnknownEvents).toBe(true)
  }
}

function expectWhole(events: readonly JournalEvent[]): void {
  expect(events.map(({ position }) => position)).toEqual(events.map((_, index) => index + 1))
  const numbers = events.flatMap((event) => (event.type === "message" || event.type === "tool_end" ? [event.seq] : []))
  const open = of(events, "run_started").length - of(events, "run_ended").length
  if (open === 0) expect([...numbers].sort((a, b) => a - b)).toEqual(numbers.map((_, index) => index + 1))
  expect([0, 1]).toContain(open)
  const ends = of(events, "tool_end")
  for (const reply of of(events, "message")) {
    const calls = reply.parts.flatMap((part) => (part.type === "call" ? [part.id] : []))
    const results = ends.filter(({ callId }) => calls.includes(callId)).sort((a, b) => a.seq - b.seq)
    const answered = results.map(({ callId }) => callId)
    expect(answered).toEqual(calls.filter((id) => answered.includes(id)))
    if (open === 0) expect(answered).toEqual(calls)
  }
}

async function expectMirrored({ store }: World, conversation: Conversation): Promise<void> {
  const { run, proposals } = conversation
  if (!run) return
  // Each applied change has one row in the audit log, and nothing else has one.
  const done = "SELECT id AS proposal FROM proposals WHERE status = 'applied' AND conversation_id = ?"
  const audited = "SELECT proposal_id AS proposal FROM audit WHERE conversation_id = ?"
  const [applied, rows] = await Promise.all(
    [done, audited].map((sql) => store.engine.query<{ proposal: string }>(sql, [conversation.id])),
  )
  const names = (found: readonly { proposal: string }[] = []) => found.map(({ proposal }) => proposal).sort()
  expect(names(rows)).toEqual(names(applied))
  const runs = await store.engine.query<{ status: string }>("SELECT status FROM runs WHERE id = ?", [run.id])
  expect(runs).toEqual([{ status: runStatus(conversation) }])
  for (const [id, { status }] of proposals) {
    expect(await store.engine.query("SELECT status FROM proposals WHERE id = ?", [id])).toEqual([{ status }])
  }
}

function comparable({ inbox: _, arrivals: __, ...rest }: Conversation) {
  return rest
}

export function of<Type extends EventType>(events: readonly JournalEvent[], type: Type): EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type)
}

/** The texts of all replies, one entry each. */
export async function repliesOf(world: World, id: ConversationId): Promise<string[]> {
  const said = of(await world.events(id), "message").filter(({ role }) => role === "assistant")
  return said.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join(""))
}

/** The results of all calls, in call order. */
export async function resultsOf(world: World, id: ConversationId): Promise<EventOf<"tool_end">[]> {
  return of(await world.events(id), "tool_end").sort((a, b) => a.seq - b.seq)
}

/** Starts a conversation and resolves as soon as a client that watches from the start sees a matching transcript. */
export async function beginUntil(
  world: World,
  text: string,
  fits: (live: Live) => boolean,
  { mode, ...more }: Partial<MessageInput> & { readonly mode?: Mode } = {},
): Promise<ConversationId> {
  const id = newId("conv")
  const seen = world.seen(id, fits)
  await world.pawl.runtime.begin(
    { id, user: world.user, agent: "test", ...(mode ? { mode } : {}) },
    message(text, more),
  )
  await seen
  return id
}

export const showsText = (live: Live): boolean => live.type === "text_delta"

/** Whether rows of this type became durable. */
export const records =
  (type: EventType) =>
  (live: Live): boolean =>
    live.type === "events" && live.events.some((event) => event.type === type)

/** Resolves when the conversation's writer is notified of new input. */
export function woken({ pawl }: World, id: ConversationId): Promise<void> {
  return new Promise((resolve) => {
    const stop = pawl.ports.bus.onWake((conversation) => {
      if (conversation !== id) return
      stop()
      resolve()
    })
  })
}
