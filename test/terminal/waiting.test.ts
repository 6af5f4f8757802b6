import { describe, expect, test } from "vitest"
import { fails, hangs, says } from "../../core/models/scripted/script.ts"
import { runSlashCommand } from "../../apps/terminal/session/slash-commands.ts"
import { statusLine } from "../../apps/terminal/screen/status-line.ts"
import type { TerminalSession } from "../../apps/terminal/session/terminal-session.ts"
import { InputHistory } from "../../apps/terminal/input/history.ts"
import { Terminal } from "../../apps/terminal/screen/terminal.ts"
import { anyDatabase } from "../support/databases.ts"
import { drawn, openSession, printed } from "./session.ts"

/** The keyboard of a session. */
function atKeyboard(session: TerminalSession) {
  const terminal = new Terminal({ history: new InputHistory(), size: () => ({ columns: 200, rows: 50 }), quit() {} })
  terminal.open(session)
  const type = (text: string) => terminal.press({ type: "text", text })
  const escape = () => terminal.press({ type: "escape" })
  return { terminal, type, escape, editor: () => terminal.editor.text }
}

const said = (session: TerminalSession) => printed(session).filter((line) => line.startsWith("> "))

describe.each(anyDatabase)("a queued message, on $name", ({ create }) => {
  test("shows what it waits for; Esc moves the newest back into the editor, each once, and then stops the run", async () => {
    await using database = await create()
    await using place = await openSession(database.url, hangs("On it"), says("Never."))
    const session = place.begin()
    await session.send("work", "queue")
    await expect.poll(() => session.isBusy).toBe(true)
    await session.send("then this", "queue")
    await session.send("or that", "steer")
    await expect.poll(() => drawn(session)).toContain("queued: then this")
    expect(drawn(session)).toContain("next step: or that")
    expect(drawn(session).at(-1)).toContain("Esc takes it back, then Enter sends it now")
    const { type, escape, editor, terminal } = atKeyboard(session)
    type("a draft")
    escape()
    await expect.poll(editor).toBe("or that\na draft")
    // Twice in quick succession: one message is left.
    escape()
    await expect.poll(editor).toBe("then this\nor that\na draft")
    await expect.poll(() => session.queue).toEqual([])
    expect(session.isBusy).toBe(true)
    escape()
    await expect.poll(() => session.isBusy).toBe(false)
    expect(terminal.editor.text).toBe("then this\nor that\na draft")
    expect(said(session)).toEqual(["> work"])
  })

  test("is shown, and delays nothing, also if it was sent before the client knew of the run", async () => {
    await using database = await create()
    await using place = await openSession(database.url, hangs("On it"))
    const session = place.begin()
    await Promise.all([
      session.send("work", "queue"),
      session.send("or that", "steer"),
      session.send("then this", "queue"),
    ])
    await expect.poll(() => drawn(session)).toContain("queued: then this")
    expect(drawn(session)).toContain("next step: or that")
  })

  test("sent right after a run has ended starts the next run, whose messages the old run's end does not hold back", async () => {
    await using database = await create()
    await using place = await openSession(database.url, says("Done."), hangs("On it"))
    const session = place.begin()
    await session.send("work", "queue")
    await expect.poll(() => printed(session)).toContain("Done.")
    await expect.poll(() => session.isBusy).toBe(false)
    // The client has not yet learned that the run has ended.
    const conversation = session.conversation!
    conversation.transcript = { ...conversation.transcript, status: "running" }
    await Promise.all([session.send("next", "steer"), session.send("or that", "steer")])
    await expect.poll(() => drawn(session)).toContain("next step: or that")
  })

  test("that was claimed meanwhile is not put back", async () => {
    await using database = await create()
    await using place = await openSession(database.url, hangs("On it"), says("Answered."))
    const session = place.begin()
    await session.send("work", "queue")
    await expect.poll(() => session.isBusy).toBe(true)
    await session.send("then this", "queue")
    await expect.poll(() => session.queue).toHaveLength(1)
    const { escape, editor, terminal } = atKeyboard(session)
    // Another client has withdrawn it; this one does not know yet.
    const [queued] = session.queue
    await session.client.withdrawQueued({ params: { id: session.conversation!.id, messageId: queued!.id } })
    escape()
    await expect.poll(() => terminal.hint).toContain("The message was already sent.")
    expect(editor()).toBe("")
  })

  test("is put back once if the answer to its withdrawal was lost", async () => {
    await using database = await create()
    await using place = await openSession(database.url, hangs("On it"))
    const session = place.begin()
    await session.send("work", "queue")
    await expect.poll(() => session.isBusy).toBe(true)
    await session.send("then this", "queue")
    await expect.poll(() => session.queue).toHaveLength(1)
    const { escape, editor } = atKeyboard(session)
    let lost = 0
    place.line.through = async (request, next) => {
      const response = await next(request)
      if (request.method !== "DELETE" || lost++ > 0) return response
      throw new TypeError("fetch failed")
    }
    escape()
    await expect.poll(editor, { timeout: 60_000 }).toBe("then this")
    expect(lost).toBe(2)
  })

  test("is held, not steering, when its run has failed, and /send sends it", async () => {
    await using database = await create()
    await using place = await openSession(database.url, says("After all."))
    const { promise: failing, resolve: fail } = Promise.withResolvers<void>()
    const { end } = fails("refused")
    const { stream } = place.model
    place.model.stream = async function* () {
      yield { type: "text", text: "On it" }
      await failing
      place.model.stream = stream
      throw end.type === "fail" ? end.error : new Error("It has to fail.")
    }
    const session = place.begin()
    await session.send("work", "queue")
    await expect.poll(() => session.isBusy).toBe(true)
    await session.send("rather that", "steer")
    await expect.poll(() => drawn(session)).toContain("next step: rather that")
    fail()
    await expect.poll(() => drawn(session)).toContain("held: rather that")
    expect(drawn(session).join("\n")).not.toContain("steers:")
    expect(drawn(session).at(-1)).toContain("held because the last run failed; /send sends it now, Esc takes it back")
    // Also for a client that opens the conversation later.
    const later = place.begin()
    await later.enter(session.conversation!.id)
    await expect.poll(() => drawn(later)).toContain("held: rather that")
    await runSlashCommand("/send", { session, write() {}, async paste() {}, quit() {} })
    await expect.poll(() => printed(session)).toContain("After all.")
    await expect.poll(() => drawn(session)).toEqual([])
    expect(said(session)).toEqual(["> work", "> rather that"])
  })

  test("is held when its run was stopped", async () => {
    await using database = await create()
    await using place = await openSession(database.url, hangs("On it"))
    const session = place.begin()
    await session.send("work", "queue")
    await expect.poll(() => session.isBusy).toBe(true)
    await session.send("then this", "queue")
    await session.cancel()
    await expect.poll(() => drawn(session)).toContain("held: then this")
    expect(drawn(session).at(-1)).toContain("held because the last run was stopped; /send sends it now")
  })
})

describe.each(anyDatabase)("a server that is away, on $name", ({ create }) => {
  test("is shown as away, also during a run; a message sent meanwhile arrives once, though its answer was lost", async () => {
    await using database = await create()
    await using place = await openSession(database.url, hangs("On it"), says("Now."))
    const session = place.begin()
    await session.send("work", "queue")
    await expect.poll(() => session.isBusy).toBe(true)
    let posts = 0
    let isBack = false
    place.line.through = async (request, next) => {
      const isMessage = request.method === "POST" && request.url.endsWith("/messages")
      // The first message arrives, and its answer is lost; then no request gets through.
      if (isMessage && posts++ === 0) await next(request)
      if (!isBack) throw new TypeError("fetch failed")
      return next(request)
    }
    const sending = session.send("then this", "queue")
    await expect.poll(() => posts, { timeout: 60_000 }).toBeGreaterThan(5)
    expect(session.conversation?.sending).toEqual(["then this"])
    isBack = true
    await sending
    await expect.poll(() => session.queue.map(({ text }) => text)).toEqual(["then this"])
  }, 120_000)

  test("when the first messages are sent: they start one conversation when it is back", async () => {
    await using database = await create()
    await using place = await openSession(database.url, says("One."), says("Two."))
    const session = place.begin()
    let isBack = false
    place.line.through = async (request, next) => {
      if (!isBack) throw new TypeError("fetch failed")
      return next(request)
    }
    const sending = [session.send("first", "queue"), session.send("second", "queue")]
    await expect.poll(() => statusLine(session)[0]).toContain("server not reachable")
    expect(drawn(session)).toEqual(["sent when the server is back: first", "sent when the server is back: second"])
    isBack = true
    await Promise.all(sending)
    await expect.poll(() => printed(session), { timeout: 60_000 }).toContain("Two.")
    expect(said(session)).toEqual(["> first", "> second"])
    const { items } = await session.client.listConversations({ query: {} })
    expect(items).toHaveLength(1)
    expect(statusLine(session)[0]).not.toContain("no line")
  }, 120_000)
})

describe.each(anyDatabase)("/retry, on $name", ({ create }) => {
  test("sends the last message again, also after an answer, and not while one is being written", async () => {
    await using database = await create()
    await using place = await openSession(database.url, says("One."), says("Two."), hangs("Three"))
    const session = place.begin()
    const retry = () => runSlashCommand("/retry", { session, write() {}, async paste() {}, quit() {} })
    await retry()
    expect(printed(session)).toContain("! There is no message to send again.")
    await session.send("first", "queue")
    await expect.poll(() => printed(session)).toContain("One.")
    await expect.poll(() => session.isBusy).toBe(false)
    await retry()
    await expect.poll(() => printed(session)).toContain("Two.")
    await expect.poll(() => session.isBusy).toBe(false)
    expect(said(session)).toEqual(["> first", "> first"])
    await retry()
    await expect.poll(() => session.isBusy).toBe(true)
    await retry()
    expect(printed(session)).toContain("! A run is still active. Press Esc to stop it, then /retry.")
    expect(session.queue).toEqual([])
  })
})
