import { describe, expect, test } from "vitest"
import { type ClientOptions, createClient } from "../src/client/index.ts"
import { fails, finishes, replies, says, thinks } from "../src/models/script.ts"
import { scripted, type ScriptedReply } from "../src/models/scripted.ts"
import { runCommand } from "../src/terminal/commands.ts"
import { textOf } from "../src/terminal/line.ts"
import { Talk } from "../src/terminal/talk.ts"
import { databases } from "./databases.ts"
import { Face } from "./face.ts"

/** A terminal whose model answers with these. */
async function openTalk(url: string, ...script: readonly ScriptedReply[]) {
  const face = await Face.open({ url, model: scripted(...script), agent: {} })
  const ada = await face.store.people.ensure("ada", Date.now())
  const { token } = await face.store.people.createToken(ada, ["read", "chat", "approve"], Date.now())
  const fetch: ClientOptions["fetch"] = (input, init) => face.fetch(new Request(input, init))
  const client = createClient({ baseUrl: "http://localhost", token, fetch: fetch as typeof globalThis.fetch })
  const reached = {
    ...{ client, where: "", warnings: [], reflow: "breaks" as const, historyFile: "", begins: { agent: "test" } },
    newest: async () => undefined,
    entered() {},
    async close() {},
  }
  const open = () => new Talk(reached, { mode: "confirm" }, () => {})
  const talks: Talk[] = []
  const begin = () => talks[talks.push(open()) - 1] as Talk
  return {
    begin,
    async [Symbol.asyncDispose]() {
      for (const talk of talks) talk.conversation?.close()
      await face[Symbol.asyncDispose]()
    },
  }
}

const printed = (talk: Talk) => {
  talk.settle(200)
  return talk.scrollback.entries.flatMap(({ lines }) => lines.map(textOf)).filter((line) => line !== "")
}

describe.each(databases)("pawl chat on $name", ({ create }) => {
  test.each<[string, ScriptedReply, string[]]>([
    ["was refused", replies(finishes("refused")), ["! The model's provider declined to answer."]],
    [
      "was refused in its middle",
      replies(says("Well,"), finishes("refused")),
      ["Well,", "! The model's provider declined to go on."],
    ],
    [
      "was cut by its length",
      replies(says("One, two,"), finishes("limit")),
      ["One, two,", "! The model reached its limit here; ask it to go on. /continue does."],
    ],
    [
      "reached its limit while it was thinking",
      replies(thinks("Hm"), finishes("limit")),
      ["! The model reached its limit before it said a word; ask again, or for less."],
    ],
    ["was empty", replies(finishes("stop")), ["! The model ended its reply without a word."]],
    ["held only thinking", replies(thinks("Hm"), finishes("stop")), ["! The model ended its reply without a word."]],
    [
      "ended and nobody knows why",
      replies(says("One."), finishes("unknown")),
      ["One.", "! The provider ended the reply here and did not say why; it may not be all of it."],
    ],
    [
      "broke off",
      fails("overloaded", { after: "One, t" }),
      ["One, t", "! The reply broke off here.", expect.stringMatching(/^! This run failed\. .*overloaded/)],
    ],
  ])("says in a line that a reply %s, at once and when the conversation is taken up again", async (_, reply, lines) => {
    await using database = await create()
    await using place = await openTalk(database.url, reply)
    const talk = place.begin()
    await talk.say("go", "queue")
    await expect.poll(() => printed(talk).slice(1)).toEqual(lines)
    const later = place.begin()
    await later.enter(talk.conversation!.id)
    expect(printed(later).slice(-lines.length)).toEqual(lines)
  })

  test("/continue has the model go on after the half that stays, and only where a reply was cut", async () => {
    await using database = await create()
    await using place = await openTalk(database.url, replies(says("One, two,"), finishes("limit")), says("three."))
    const talk = place.begin()
    await talk.say("count", "queue")
    await expect.poll(() => printed(talk).at(-1)).toContain("/continue does.")
    const context = { talk, write() {}, quit() {} }
    await runCommand("/continue", context)
    await expect.poll(() => printed(talk).slice(-2)).toEqual(["> continue", "three."])
    expect(printed(talk)).toContain("One, two,")
    await runCommand("/continue", context)
    expect(printed(talk).at(-1)).toContain("was not cut")
  })
})
