import { expect, test } from "vitest"
import type { Line } from "../line.ts"
import { conversationsCommand } from "./conversation-commands.ts"
import type { TerminalSession } from "./terminal-session.ts"

/** A session on a server with these titles, newest first. The first pages of a search are empty. */
function createSession(titles: string[], emptyPages = 0) {
  const printed: string[] = []
  const entered: string[] = []
  const listConversations = async ({ query }: { query: { search?: string; cursor?: string } }) => {
    const { search = "", cursor = "0" } = query
    if (Number(cursor) < emptyPages) return { items: [], nextCursor: String(Number(cursor) + 1) }
    const found = titles.filter((title) => title.includes(search))
    const toItem = (title: string) => ({
      id: `conv_${title}`,
      title,
      status: "active",
      updatedAt: new Date().toISOString(),
    })
    return { items: found.map(toItem), nextCursor: null }
  }
  const session = {
    client: { listConversations },
    server: {},
    print: (...lines: Line[]) => void printed.push(...lines.map((line) => line.map(({ text }) => text).join(""))),
    enter: async (id: string) => void entered.push(id),
  } as unknown as TerminalSession
  const type = async (words: string) => {
    printed.length = 0
    await conversationsCommand({ session }, words)
    return printed.map((line) => line.replace(/ · \d\d:\d\d.*$/, ""))
  }
  return { type, entered }
}

const HOW = "/conversations N opens one. /conversations WORDS searches the titles."

test("a text lists the conversations with a matching title, and a number then opens one of them", async () => {
  const titles = ["taxes", "garden", "taxes again"]
  const { type, entered } = createSession(titles)
  expect(await type("taxes")).toEqual(["", " 1  taxes", " 2  taxes again", HOW])
  titles.unshift("taxes since")
  expect(await type("2")).toEqual([])
  expect(entered).toEqual(["conv_taxes again"])
  expect(await type("")).toEqual(["", " 1  taxes since", " 2  taxes", " 3  garden", " 4  taxes again", HOW])
  await type("1")
  expect(entered.at(-1)).toBe("conv_taxes since")
})

test("a number without a list opens one of the newest; one that is too high lists them", async () => {
  const { type, entered } = createSession(["taxes", "garden"])
  await type("2")
  expect(entered).toEqual(["conv_garden"])
  expect(await type("7")).toEqual(["", " 1  taxes", " 2  garden", HOW])
  expect(await type("roof")).toEqual(["", 'No title contains "roof".'])
  expect(await createSession([]).type("")).toEqual(["", "There are no conversations yet."])
})

test("a search continues after pages without a match", async () => {
  const { type } = createSession(["taxes"], 2)
  expect(await type("tax")).toEqual(["", " 1  taxes", HOW])
})
