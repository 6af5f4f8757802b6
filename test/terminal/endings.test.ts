import { describe, expect, test } from "vitest"
import { fails, finishes, replies, says, thinks } from "../../core/models/scripted/script.ts"
import type { ScriptedReply } from "../../core/models/scripted/model.ts"
import { runSlashCommand } from "../../apps/terminal/session/slash-commands.ts"
import { anyDatabase } from "../support/databases.ts"
import { openSession, printed } from "./session.ts"

const THOUGHT = expect.stringMatching(/^· Thought .*\/reasoning shows it$/) as string

describe.each(anyDatabase)("pawl chat on $name", ({ create }) => {
  test.each<[string, ScriptedReply, string[]]>([
    ["was refused", replies(finishes("refused")), ["! The model's provider declined to answer."]],
    [
      "was refused in its middle",
      replies(says("Well,"), finishes("refused")),
      ["Well,", "! The model's provider declined to continue."],
    ],
    [
      "was cut by its length",
      replies(says("One, two,"), finishes("limit")),
      ["One, two,", "! The reply reached the output limit. Ask the model to continue. /continue does that."],
    ],
    [
      "reached its limit while it was thinking",
      replies(thinks("Hm"), finishes("limit")),
      [THOUGHT, "! The model reached its output limit before it wrote any text. Ask again, or for less."],
    ],
    ["was empty", replies(finishes("stop")), ["! The model sent an empty reply."]],
    ["held only thinking", replies(thinks("Hm"), finishes("stop")), [THOUGHT, "! The model sent an empty reply."]],
    [
      "ended and nobody knows why",
      replies(says("One."), finishes("unknown")),
      ["One.", "! The provider ended the reply here without a reason. It may be incomplete."],
    ],
    [
      "broke off",
      fails("overloaded", { after: "One, t" }),
      ["One, t", "! The reply was interrupted here.", expect.stringMatching(/^! This run failed\. .*overloaded/)],
    ],
  ])("says in one line that a reply %s, at once and after --continue", async (_, reply, lines) => {
    await using database = await create()
    await using place = await openSession(database.url, reply)
    const session = place.begin()
    await session.send("go", "queue")
    await expect.poll(() => printed(session).slice(1)).toEqual(lines)
    const later = place.begin()
    await later.enter(session.conversation!.id)
    expect(printed(later).slice(-lines.length)).toEqual(lines)
  })

  test("/continue has the model resume after the partial reply, and only if a reply was cut", async () => {
    await using database = await create()
    await using place = await openSession(database.url, replies(says("One, two,"), finishes("limit")), says("three."))
    const session = place.begin()
    await session.send("count", "queue")
    await expect.poll(() => printed(session).at(-1)).toContain("/continue does that.")
    const context = { session, write() {}, async paste() {}, quit() {} }
    await runSlashCommand("/continue", context)
    await expect.poll(() => printed(session).slice(-2)).toEqual(["> continue", "three."])
    expect(printed(session)).toContain("One, two,")
    await runSlashCommand("/continue", context)
    expect(printed(session).at(-1)).toContain("was not cut")
  })
})
