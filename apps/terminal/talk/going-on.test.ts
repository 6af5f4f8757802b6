import { expect, test } from "vitest"
import type { Client } from "../../../client/client.ts"
import type { TerminalServer } from "../terminal-server.ts"
import { runSlashCommand } from "./commands.ts"
import { Talk } from "./talk.ts"

/** A talk whose server is asked for conversations and answers when it is let. */
function talkOver() {
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
  const reached = { client, begins: {}, entered() {} } as unknown as TerminalServer
  const talk = new Talk(reached, { mode: "confirm" }, () => {})
  const answers = async (key: string, value?: unknown) => {
    await expect.poll(() => letGo.has(key)).toBe(true)
    letGo.get(key)!(value)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return { talk, answers, said, asked }
}

test("a conversation that is read late does not take the screen from the one that was gone to after it", async () => {
  const { talk, answers } = talkOver()
  const [slow, quick] = [talk.enter("slow"), talk.enter("quick")]
  await answers("quick")
  await quick
  await answers("slow")
  await slow
  expect(talk.conversation?.id).toBe("quick")
})

test("nor does it come back after /new", async () => {
  const { talk, answers } = talkOver()
  const entered = talk.enter("slow")
  talk.leave()
  await answers("slow")
  await entered
  expect(talk.conversation).toBeUndefined()
})

test("a branch that comes late puts nothing into the editor of another conversation", async () => {
  const { talk, answers } = talkOver()
  const first = talk.enter("first")
  await answers("first")
  await first
  const written: string[] = []
  const context = { talk, write: (text: string) => void written.push(text), paste: async () => {}, quit() {} }
  const forked = runSlashCommand("/fork", context)
  const other = new Promise((resolve) => setTimeout(resolve, 5)).then(() => talk.enter("other"))
  await answers("other")
  await other
  await answers("branch")
  await forked
  expect(talk.conversation?.id).toBe("other")
  expect(JSON.stringify(talk.scrollback.entries)).not.toContain("This is a branch")
})

test("words that begin a conversation are said in it, and those after /new in another one", async () => {
  const { talk, answers, said } = talkOver()
  const one = talk.say("one", "queue")
  talk.leave()
  const two = talk.say("two", "queue")
  await answers("new 2", "second")
  await answers("second")
  await two
  await answers("new 1", "first")
  await answers("first")
  await one
  expect(said).toEqual(["second: two", "first: one"])
  expect(talk.conversation?.id).toBe("second")
})
