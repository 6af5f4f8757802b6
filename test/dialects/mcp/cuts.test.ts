import { expect, test } from "vitest"
import { scripted } from "../../../core/models/scripted/model.ts"
import { calls, replies, says } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { CutAnswers, cutsOf } from "../cut-answers.ts"
import { Face } from "../../support/server/face.ts"

const ANSWER = "Four 🌍 of them, and a few more."
const MODERN = "2026-07-28"

/** Returns the answer in a received stream, if it is complete. */
function answerIn(text: string): string | undefined {
  const whole = text.split("\n\n").slice(0, -1)
  const events = whole.flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? [])
  return events.map((data) => JSON.parse(data)).find(({ result }) => result)?.result.structuredContent.answer
}

// Without the official client, which waits for its own timeout when a stream ends early.
test.each([
  ["2025", {}, {}],
  [
    "2026",
    { "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "ask_agent" },
    {
      "io.modelcontextprotocol/protocolVersion": MODERN,
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  ],
])(
  "an answer of %s cut after any byte is never taken for a complete one, and can be repeated with its key",
  async (age, more, meta) => {
    const model = scripted(replies(says("Let me look."), calls("unknown_tool")), says(ANSWER, { chunks: 3 }))
    await using face = await Face.open({ url: (await anyDatabase[0]!.create()).url, model })
    const person = await face.store.people.ensure("ada", Date.now())
    const { token } = await face.store.people.createToken(person, ["read", "chat"], Date.now())
    const cut = new CutAnswers((url, init) => face.fetch(new Request(url, init)))
    const params = {
      ...{ name: "ask_agent", arguments: { message: "How many?", agent: "test", key: `cut-${age}` } },
      _meta: { progressToken: 1, ...meta },
    }
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })
    const headers = {
      ...{ authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...{ accept: "application/json, text/event-stream", ...more },
    }
    const told = async () => {
      let text = ""
      try {
        const { body: bytes } = await cut.fetch("http://localhost/mcp", { method: "POST", headers, body })
        for await (const chunk of bytes!) text += Buffer.from(chunk).toString()
      } catch {} // cut off: what has come has come
      return text
    }
    const whole = await told()
    expect(answerIn(whole)).toContain(ANSWER)
    const cuts = cutsOf(whole)
    expect(cuts.length).toBeGreaterThan(10)
    // The last byte ends the last event: an answer that lacks only that byte is complete.
    const end = Buffer.from(whole).lastIndexOf("\n\n") + 2
    for (cut.after of cuts) {
      expect(answerIn(await told()) !== undefined, `cut after ${cut.after}`).toBe(cut.after >= end)
      cut.after = Number.POSITIVE_INFINITY
      expect(answerIn(await told())).toBe(answerIn(whole))
    }
    expect(model.received).toHaveLength(2)
  },
)
