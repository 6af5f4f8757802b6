import { describe, expect, test } from "vitest"
import type { ClientOptions } from "../../client/index.ts"
import { createClient } from "../../client/index.ts"
import { runSlashCommand } from "../../apps/terminal/session/slash-commands.ts"
import { lineText } from "../../apps/terminal/line.ts"
import { TerminalSession } from "../../apps/terminal/session/terminal-session.ts"
import { answer } from "../../core/engine/definition/tool.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { write } from "../support/loop/tools.ts"
import { TurnedClock } from "../support/loop/world.ts"

const DAY_MS = 86_400_000

/** A change that waits, in a terminal whose clock is off by so many milliseconds. */
async function waitingIn(url: string, wrongBy: number) {
  await using stack = new AsyncDisposableStack()
  const clock = new TurnedClock()
  const done: unknown[] = []
  const change = write("change", ({ q }) => {
    done.push(q)
    return answer("done")
  })
  const model = scripted(calls(["change", { q: "a" }], ["change", { q: "b" }]), says("Well."))
  const face = stack.use(await Face.open({ url, model, tools: [change], clock }))
  const ada = await face.store.people.ensure("ada", clock.now())
  const { token } = await face.store.people.createToken(ada, ["read", "chat", "approve"], clock.now())
  const fetch: ClientOptions["fetch"] = (input, init) => face.fetch(new Request(input, init))
  const client = createClient({ baseUrl: "http://localhost", token, fetch: fetch as typeof globalThis.fetch })
  const server = {
    ...{ client, where: "", warnings: [], reflow: "breaks" as const, historyFile: "", defaults: { agent: "test" } },
    newest: async () => undefined,
    entered() {},
    async close() {},
  }
  const session = new TerminalSession(
    server,
    { mode: "confirm" },
    () => {},
    () => clock.now() + wrongBy,
  )
  stack.defer(() => session.conversation?.close())
  await session.send("go", "steer")
  await expect.poll(() => session.waiting.length).toBe(2)
  const answers = async (words: string) => {
    const decision = session.readDecision(words)
    if (decision.type === "message" || decision.type === "unclear" || decision.type === "edit") return decision.type
    return { [decision.type]: await session.decide(decision) }
  }
  const printed = () => session.scrollback.entries.flatMap(({ lines }) => lines.map(lineText)).join("\n")
  const kept = stack.move()
  return { clock, done, session, answers, printed, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

describe.each(anyDatabase)("on $name", ({ create }) => {
  test.each(["yes", "no"])(
    "a clock that is behind: %j to an expired change reports that and continues",
    async (words) => {
      await using database = await create()
      await using world = await waitingIn(database.url, -DAY_MS)
      await world.clock.advance(3_600_000)
      expect(world.session.question, "by the clock of this machine").toContain("yes")
      expect(await world.answers(words)).toEqual({ [words]: true })
      await expect.poll(() => world.session.waiting).toEqual([])
      expect(world.printed()).toContain("! Expired before your answer arrived: ")
      expect(world.done).toEqual([])
    },
  )

  test("a clock that is behind: if another change waits, only the answered one is known to have expired", async () => {
    await using database = await create()
    await using world = await waitingIn(database.url, -DAY_MS)
    await world.clock.advance(3_600_000)
    expect(await world.answers("yes 1"), "nothing has changed").toEqual({ yes: false })
    expect(world.session.question).toMatch(/all · 1 expired$/)
    expect(await world.answers("yes"), "and now all of them").toEqual({ yes: true })
    await expect.poll(() => world.session.waiting).toEqual([])
    expect(world.done).toEqual([])
  })

  test("a clock that is ahead: an unexpired change is asked about again, and its later expiry is noticed", async () => {
    await using database = await create()
    await using world = await waitingIn(database.url, DAY_MS)
    expect(world.session.question).toContain("Press Enter to continue without it")
    expect(await world.answers("")).toEqual({ "go-on": false })
    expect(world.printed()).toContain("This has not expired")
    expect(await world.answers("yes 1")).toEqual({ yes: true })
    await expect.poll(() => world.done).toEqual(["a"])
    await expect.poll(() => world.session.waiting.length).toBe(1)
    await world.clock.advance(3_600_000)
    expect(await world.answers("yes")).toEqual({ yes: true })
    expect(world.printed()).toContain("! Expired before your answer arrived: ")
    await expect.poll(() => world.session.waiting).toEqual([])
    expect(world.done).toEqual(["a"])
  })

  test("an expired change is proposed again by a word while it waits, and by /again when it is settled, also in another terminal", async () => {
    await using database = await create()
    await using world = await waitingIn(database.url, 0)
    const { session, clock } = world
    const waiting = () => session.waiting.map(({ id }) => id)
    const first = waiting()
    await clock.advance(3_600_000)
    expect(session.question).toContain('type "again" to propose it once more')
    expect(await world.answers("again")).toEqual({ again: true })
    await expect.poll(() => waiting().filter((id) => !first.includes(id))).toHaveLength(2)
    await clock.advance(3_600_000)
    expect(await world.answers("")).toEqual({ "go-on": true })
    await expect.poll(() => session.waiting).toEqual([])
    session.settle(100)
    expect(world.printed()).toContain("expired; /again proposes it again")
    // As a later reader sees it.
    const id = session.conversation!.id
    session.leave()
    await session.enter(id)
    session.settle(100)
    const context = { session, write() {}, async paste() {}, quit() {} }
    await runSlashCommand("/again 2", context)
    await expect.poll(() => session.waiting.map(({ arguments: given }) => given)).toEqual([{ q: "a" }])
    expect(await world.answers("yes")).toEqual({ yes: true })
    await expect.poll(() => world.done).toEqual(["a"])
    await runSlashCommand("/again 2", context)
    expect(world.printed()).toContain("There is no expired change in this conversation.")
  })
})
