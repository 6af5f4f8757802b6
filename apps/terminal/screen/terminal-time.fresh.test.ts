import { afterEach, expect, test, vi } from "vitest"
import type { Client } from "../../../client/client.ts"
import type { ConversationDetail } from "../../../core/protocol/answers.ts"
import type { Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { InputHistory } from "../input/history.ts"
import { lineText } from "../line.ts"
import { TerminalSession } from "../session/terminal-session.ts"
import { Terminal } from "./terminal.ts"

const room = { columns: 60, rows: 20 }

afterEach(() => void vi.useRealTimers())

test("the seconds left to decide are counted down on the screen without other events", async () => {
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
  const server = {
    ...{ client, where: "", warnings: [], reflow: "breaks" as const, historyFile: "", defaults: {} },
    newest: async () => undefined,
    entered() {},
    async close() {},
  }
  const terminal = new Terminal({ history: new InputHistory(), size: () => room, quit() {} })
  const session = new TerminalSession(server, { mode: "confirm" }, terminal.changed)
  await session.enter("conv_1")
  const drawn: string[] = []
  terminal.subscribe(() => {
    const question = terminal.frame(room).lines.map(lineText).join("\n")
    drawn.push(/\d s left|This expired/.exec(question)?.[0] ?? "")
  })
  terminal.open(session)
  for (let second = 0; second < 5; second++) await vi.advanceTimersByTimeAsync(1000)
  terminal.close()
  expect([...new Set(drawn)]).toEqual(["3 s left", "2 s left", "1 s left", "This expired"])
})
