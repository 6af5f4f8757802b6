import { describe, expect, test } from "vitest"
import { finishes, replies, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { statusLine } from "../../apps/terminal/screen/status-line.ts"
import { runSlashCommand } from "../../apps/terminal/session/slash-commands.ts"
import { anyDatabase } from "../support/databases.ts"
import { named } from "../support/loop/several-models.ts"
import { printed, connectSessions } from "./session.ts"

const counted = (text: string, inputTokens: number) =>
  replies(says(text), finishes("stop", { inputTokens, outputTokens: 1000 }))

describe.each(anyDatabase)("the context size of a conversation, in the terminal on $name", ({ create }) => {
  test("the last line shows the context size, and /compact and /summary report what the conversation became", async () => {
    const summary = "## Goal\nA trip to **Rome**."
    const model = scripted(counted("One.", 20_000), counted("Two.", 59_000), counted(summary, 3000))
    await using database = await create()
    await using place = await connectSessions(database.url, model, { others: [named("other")] })
    const session = place.begin()
    const context = { session, write() {}, async paste() {}, quit() {} }
    const meter = () => statusLine(session).filter((part) => part.startsWith("context"))
    await runSlashCommand("/compact", context)
    expect(printed(session)).toEqual(["! There is nothing to summarize yet."])

    const answers = () => printed(session).filter((line) => /^(One|Two)\.$/.test(line)).length
    await session.send(`First? ${"x".repeat(4000)}`, "queue")
    await expect.poll(answers).toBe(1)
    expect(meter()).toEqual(["context 11% of 200k"])
    await session.send("Second?", "queue")
    await expect.poll(answers).toBe(2)
    await expect.poll(() => session.isBusy).toBe(false)
    expect(meter()).toEqual(["context 30% of 200k"])

    await runSlashCommand("/compact", context)
    expect(printed(session).at(-1)).toContain("The model receives 60k of 200k possible tokens.")
    await expect.poll(() => printed(session).at(-1)).toContain("/summary shows what the model sees instead.")
    await runSlashCommand("/summary", context)
    const told = printed(session).slice(-3)
    expect(told[0]).toContain("it replaces 2 messages, which frees about ")
    expect(told.slice(1)).toEqual(["## Goal", "A trip to Rome."])

    // Another model's context size is known from the list from which it was chosen.
    await runSlashCommand("/model other", context)
    await expect.poll(() => session.conversation?.transcript.model).toBe("other")
    expect(meter()).toEqual([expect.stringMatching(/^context \d+% of \d+k$/)])
  })
})
