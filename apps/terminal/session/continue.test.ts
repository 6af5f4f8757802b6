import { expect, test } from "vitest"
import type { Client } from "../../../client/client.ts"
import type { TerminalServer } from "../terminal-server.ts"
import { runSlashCommand } from "./slash-commands.ts"
import { TerminalSession } from "./terminal-session.ts"

/** A session whose server responds when the test says so. */
function createSession() {
  const letGo = new Map<string, (answer: unknown) => void>()
  const asked: string[] = []
  const said: string[] = []
  const wait = (key: string) => {
    asked.push(key)
    return new Promise((resolve) => letGo.set(key, resolve))
  }
  const detail = (id: string) => ({ id, title: id, messages: [], proposals: [], cursor: "0.0", status: "active" })
  let made = 0
  const client = {
    readConversation: async ({ params: { id } }: { params: { id: string } }) => {
      await wait(id)
      return { ...detail(id), mode: "confirm", agent: "assistant", model: null, queue: [], settings: {} }
    },
    createConversation: async () => ({ id: (await wait(`new ${++made}`)) as string }),
    forkConversation: async () => ({ id: "branch" }),
    listQueue: async () => ({ items: [] }),
    async *events(_id: string, { signal }: { signal: AbortSignal }) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
    },
    async *run(id: string, text: string) {
      said.push(`${id}: ${text}`)
      yield {}
    },
  } as unknown as Client
  const server = { client, defaults: {}, entered() {} } as unknown as TerminalServer
  const session = new TerminalSession(server, { mode: "confirm" }, () => {})
  const answers = async (key: string, value?: unknown) => {
    await expect.poll(() => letGo.has(key)).toBe(true)
    letGo.get(key)!(value)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return { session, answers, said, asked }
}

test("a conversation that is read late does not replace the one opened after it", async () => {
  const { session, answers } = createSession()
  const [slow, quick] = [session.enter("slow"), session.enter("quick")]
  await answers("quick")
  await quick
  await answers("slow")
  await slow
  expect(session.conversation?.id).toBe("quick")
})

test("it does not appear after /new either", async () => {
  const { session, answers } = createSession()
  const entered = session.enter("slow")
  session.leave()
  await answers("slow")
  await entered
  expect(session.conversation).toBeUndefined()
})

test("a branch that arrives late puts no text into the input line of another conversation", async () => {
  const { session, answers } = createSession()
  const first = session.enter("first")
  await answers("first")
  await first
  const written: string[] = []
  const context = { session, write: (text: string) => void written.push(text), paste: async () => {}, quit() {} }
  const forked = runSlashCommand("/fork", context)
  const other = new Promise((resolve) => setTimeout(resolve, 5)).then(() => session.enter("other"))
  await answers("other")
  await other
  await answers("branch")
  await forked
  expect(session.conversation?.id).toBe("other")
  expect(JSON.stringify(session.scrollback.entries)).not.toContain("This is a branch")
})

test("messages that create a conversation belong to it, and those after /new to another one", async () => {
  const { session, answers, said } = createSession()
  const one = session.send("one", "queue")
  session.leave()
  const two = session.send("two", "queue")
  await answers("new 2", "second")
  await answers("second")
  await two
  await answers("new 1", "first")
  await answers("first")
  await one
  expect(said).toEqual(["second: two", "first: one"])
  expect(session.conversation?.id).toBe("second")
})
