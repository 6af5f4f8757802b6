import { expect, test } from "vitest"
import type { Client } from "../../../client/client.ts"
import type { ConversationDetail } from "../../../core/protocol/answers.ts"
import { type CommandContext, runSlashCommand } from "./slash-commands.ts"
import { lineText } from "../line.ts"
import { TerminalSession } from "./terminal-session.ts"

const LONG = `${"word ".repeat(30)}THE END`
const told = (id: string, role: string) => ({ id, seq: 1, role, content: LONG.slice(0, 50), toolCalls: null })
const beginning = { truncated: true, length: LONG.length }

async function open(more: object) {
  const messages = [
    { ...told("msg_1", "user"), ...more },
    { ...told("msg_2", "assistant"), seq: 2, finish: "stop", ...more },
  ]
  const detail = { id: "conv_1", position: 1, mode: "confirm", status: "active", messages, proposals: [] }
  const client = {
    listProposals: async () => ({ items: [], nextCursor: null }),
    readConversation: async () => detail as unknown as ConversationDetail,
    readMessage: async ({ params }: { params: { messageId: string } }) => ({
      ...told(params.messageId, params.messageId === "msg_1" ? "user" : "assistant"),
      content: LONG,
    }),
    forkConversation: async () => ({ id: "conv_2" }),
    listQueue: async () => ({ items: [] }),
    async *events() {
      await new Promise(() => {})
    },
  } as unknown as Client
  const server = {
    client,
    where: "",
    warnings: [],
    reflow: "breaks" as const,
    historyFile: "",
    defaults: {},
    newest: async () => undefined,
    entered() {},
    async close() {},
  }
  const session = new TerminalSession(server, { mode: "confirm" }, () => {})
  await session.enter("conv_1")
  const written: string[] = []
  const context: CommandContext = { session, write: (text) => void written.push(text), async paste() {}, quit() {} }
  const screen = () => session.scrollback.entries.flatMap(({ lines }) => lines.map(lineText)).join("\n")
  return { context, screen, written }
}

test("a long message is shown in part with its length, and /all shows it completely", async () => {
  const { context, screen } = await open(beginning)
  context.session.scrollback.printFinal(context.session.conversation!.transcript, 200)
  expect(screen().match(/… 107 more characters; \/all shows them/g)).toHaveLength(2)
  expect(screen()).not.toContain("THE END")
  await runSlashCommand("/all", context)
  expect(screen()).toContain("THE END")
  await runSlashCommand("/all", context) // the user's message, and nothing after it
  await runSlashCommand("/all", context)
  expect(screen()).toContain("! All messages are shown in full.")
})

test("a message that returns to the input line is complete", async () => {
  const { context, written } = await open(beginning)
  for (const none of ["/fork 0", "/fork 3", "/fork all", "/fork -1"]) await runSlashCommand(none, context)
  expect(written, "what is none of them is not the first").toEqual([])
  await runSlashCommand("/fork 1", context)
  expect(written).toEqual([LONG])
})

test("a complete message has no hint below it", async () => {
  const { context, screen } = await open({})
  context.session.scrollback.printFinal(context.session.conversation!.transcript, 200)
  expect(screen()).not.toContain("more character")
})
