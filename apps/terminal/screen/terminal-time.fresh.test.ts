import { afterEach, expect, test, vi } from "vitest"
import type { Client } from "../../../client/client.ts"
import type { ConversationDetail } from "../../../core/protocol/answers.ts"
import type { Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { InputHistory } from "../input/history.ts"
import { lineText } from "../line.ts"
import { Talk } from "../talk/talk.ts"
import { Terminal } from "./terminal.ts"

const room = { columns: 60, rows: 20 }

afterEach(() => void vi.useRealTimers())

test("the seconds that are left to decide are counted on the screen, and so is their end, though nothing else happens", async () => {
  vi.useFakeTimers()
  const expiresAt = new Date(Date.now() + 3000).toISOString()
  const proposal = {
    ...{ id: "prop_1", callId: "call_1", tool: "write_file", action: "safe_create", summary: "Create it" },
    ...{ arguments: {}, diff: null, undoable: true, hash: "h", status: "pending", expiresAt },
  } as unknown as Proposal
  const detail = { id: "conv_1", position: 1, mode: "confirm", status: "active", messages: [], proposals: [proposal] }
  const client = {
    readConversation: async () => detail as unknown as ConversationDetail,
    async *events() {
      await new Promise(() => {})
    },
  } as unknown as Client
  const reached = {
    ...{ client, where: "", warnings: [], reflow: "breaks" as const, historyFile: "", begins: {} },
    newest: async () => undefined,
    entered() {},
    async close() {},
  }
  const terminal = new Terminal({ history: new InputHistory(), size: () => room, quit() {} })
  const talk = new Talk(reached, { mode: "confirm" }, terminal.changed)
  await talk.enter("conv_1")
  const drawn: string[] = []
  terminal.subscribe(() => {
    const question = terminal.frame(room).lines.map(lineText).join("\n")
    drawn.push(/\d s left|This expired/.exec(question)?.[0] ?? "")
  })
  terminal.open(talk)
  for (let second = 0; second < 5; second++) await vi.advanceTimersByTimeAsync(1000)
  terminal.close()
  expect([...new Set(drawn)]).toEqual(["3 s left", "2 s left", "1 s left", "This expired"])
})
