import { describe, expect, test } from "vitest"
import { z } from "zod"
import { answer, defineTool } from "../../core/engine/definition/tool.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { runSlashCommand } from "../../apps/terminal/session/slash-commands.ts"
import type { TerminalSession } from "../../apps/terminal/session/terminal-session.ts"
import { anyDatabase } from "../support/databases.ts"
import { drawn, printed, connectSessions } from "./session.ts"

const question = {
  ...{ server: "inn", tool: "book", message: "For how many, \u001b[31mand when?" },
  fields: [
    { name: "people", label: "People", kind: "integer" as const, isRequired: true, most: 20 },
    { name: "day", label: "day", kind: "text" as const, isRequired: false },
  ],
}
const book = defineTool({
  ...{ name: "book", description: "For tests.", effect: "read", afterCrash: "run-again", input: z.looseObject({}) },
  async run(_, { lasting }) {
    const { outcome, content } = (await lasting?.ask?.(question)) ?? { outcome: "nobody" }
    return answer(`Was told ${outcome} ${JSON.stringify(content ?? {})}`)
  },
} as const)

const type = (session: TerminalSession, words: string) =>
  runSlashCommand(words, { session, write() {}, paste: async () => {}, quit() {} })

describe.each(anyDatabase)("a question from an MCP server, in a terminal on $name,", ({ create }) => {
  test("says who asks, until when and how to answer, and is answered or declined by a command", async () => {
    await using database = await create()
    const model = scripted(calls("book", {}), says("Booked."), calls("book", {}), says("Not booked."))
    await using place = await connectSessions(database.url, model, { tools: [book] })
    const session = place.begin()
    await session.send("Book.", "queue")
    await expect.poll(() => drawn(session).join("\n")).toMatch(/The MCP server "inn" asks this for its tool "book"/)
    const shown = drawn(session).join("\n")
    expect(shown).toMatch(/do not enter a password or a key/)
    expect(shown).toMatch(/people – People: integer; required/)
    expect(shown).toMatch(/Until \d\d:\d\d: write \/answer name=value; name=value\. \/decline refuses\./)
    expect(shown).not.toContain("\u001b")
    await type(session, "/answer people=many")
    expect(printed(session).at(-1)).toContain("people: must be a number")
    await type(session, "/answer people=4; day=Friday = late")
    await expect.poll(() => printed(session).join("\n")).toContain("Booked.")
    expect(JSON.stringify(model.received.at(-1)?.history)).toContain(
      'accept {\\"people\\":4,\\"day\\":\\"Friday = late\\"}',
    )
    expect(drawn(session).join("\n")).not.toContain("asks")

    await session.send("Book.", "queue")
    await expect.poll(() => drawn(session).join("\n")).toMatch(/asks/)
    await type(session, "/decline")
    await expect.poll(() => printed(session).join("\n")).toContain("Not booked.")
    expect(JSON.stringify(model.received.at(-1)?.history)).toContain("Was told decline")
    await type(session, "/answer people=4")
    expect(printed(session).at(-1)).toContain("There is no question to answer.")
  })
})
