import { expect, test } from "vitest"
import type { ConversationId } from "../../core/protocol/ids.ts"
import type { CallOutcome } from "../../core/protocol/socket.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { connect, Machine } from "../support/server/device.ts"
import { openServer } from "../support/server/socket.ts"

const NOTE = { path: "note.txt", content: "hello" }
const SHOWN = { summary: "Create note.txt", action: "safe_create" } as const

const ANSWERS: readonly [answer: CallOutcome, status: string, text: string | undefined][] = [
  [{ row: { text: "Wrote it.", data: { bytes: 5 } } }, "applied", "Wrote it."],
  [{ row: { text: "Wrote it." } }, "applied", "Wrote it."],
  [{ row: { text: "No.", data: { status: "error", change: 1 } } }, "failed", "No."],
  [{ row: { done: true } }, "in_doubt", undefined],
  [{ ok: true }, "in_doubt", undefined],
]

test("a write on a third-party device counts as done, whatever data it returns; without text it is in doubt, never failed", async () => {
  const [database] = anyDatabase
  const model = scripted(
    ...ANSWERS.flatMap(([, status]) => [calls("write_file", NOTE), ...(status === "in_doubt" ? [] : [says("Done.")])]),
  )
  await using server = await openServer({ database: database!, model })
  const [token, ada] = [await server.tokenFor("ada"), await server.visitor("ada")]
  let answer: CallOutcome = {}
  using _device = await connect(new Machine(), {
    ...{ url: server.url, token, deviceId: "laptop", offers: ["files"] },
    deals: ({ action }) => (action === "preview_change" ? { row: { text: "", data: SHOWN } } : answer),
  })
  for (const [given, status, text] of ANSWERS) {
    answer = given
    const id = (await ada.begin({ agent: "files", deviceId: "laptop", mode: "auto" })) as ConversationId
    await ada.say(id, "write it")
    const { items } = (await ada.get("/api/agent/proposals")).body
    const proposal = items.find((each: { conversationId: string }) => each.conversationId === id)
    const { messages } = (await ada.get(`/api/conversations/${id}`)).body
    const told = messages.find(({ role }: { role: string }) => role === "tool")?.content
    expect([proposal.status, told], JSON.stringify(given)).toEqual([status, text])
  }
})

test.each([
  ["says nothing of a sandbox", {}, {}, true],
  ["says that the person has to be asked", { insists: true }, {}, true],
  ["says that its sandbox holds", { insists: false }, {}, false],
  ["says so of one with the network", { insists: false }, { network: true }, true],
  ["says so of one that may change .git", { insists: false }, { changes_protected: true }, true],
  ["says so of one outside of it", { insists: false }, { outside_sandbox: true }, true],
] as const)("in auto a command on a device that %s", async (...[, said, flags, isAsked]) => {
  const [database] = anyDatabase
  const model = scripted(calls("run_command", { command: "npm test", ...flags }), says("Done."))
  await using server = await openServer({ database: database!, model })
  const [token, ada] = [await server.tokenFor("ada"), await server.visitor("ada")]
  const preview = { summary: "Run: npm test", action: "destructive_update", ...said }
  using _device = await connect(new Machine(), {
    ...{ url: server.url, token, deviceId: "laptop", offers: ["files"] },
    deals: ({ action }) => ({ row: action === "preview_change" ? { text: "", data: preview } : { text: "Ran." } }),
  })
  const id = (await ada.begin({ agent: "files", deviceId: "laptop", mode: "auto" })) as ConversationId
  await ada.say(id, "test it")
  const { items } = (await ada.get("/api/agent/proposals")).body
  const found = items.find((each: { conversationId: string }) => each.conversationId === id)
  expect([found.status, found.insists ?? false]).toEqual(isAsked ? ["pending", true] : ["applied", false])
})
