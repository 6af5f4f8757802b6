import { expect, test } from "vitest"
import type { Line } from "../line.ts"
import { conversationsCommand } from "./conversation-commands.ts"
import type { Talk } from "./talk.ts"

/** A talk whose server has these titles, newest first, finds by the letters of a title, and says nothing on its first pages. */
function talkWith(titles: string[], emptyPages = 0) {
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
  const talk = {
    client: { listConversations },
    reached: {},
    print: (...lines: Line[]) => void printed.push(...lines.map((line) => line.map(({ text }) => text).join(""))),
    enter: async (id: string) => void entered.push(id),
  } as unknown as Talk
  const type = async (words: string) => {
    printed.length = 0
    await conversationsCommand({ talk }, words)
    return printed.map((line) => line.replace(/ · \d\d:\d\d.*$/, ""))
  }
  return { type, entered }
}

const HOW = "/conversations N opens one. /conversations WORDS searches the titles."

test("words list the conversations with such a title, and a number then goes to one of these", async () => {
  const titles = ["taxes", "garden", "taxes again"]
  const { type, entered } = talkWith(titles)
  expect(await type("taxes")).toEqual(["", " 1  taxes", " 2  taxes again", HOW])
  titles.unshift("taxes since")
  expect(await type("2")).toEqual([])
  expect(entered).toEqual(["conv_taxes again"])
  expect(await type("")).toEqual(["", " 1  taxes since", " 2  taxes", " 3  garden", " 4  taxes again", HOW])
  await type("1")
  expect(entered.at(-1)).toBe("conv_taxes since")
})

test("a number that nothing was shown for is one of the newest; one that is too high shows what there is", async () => {
  const { type, entered } = talkWith(["taxes", "garden"])
  await type("2")
  expect(entered).toEqual(["conv_garden"])
  expect(await type("7")).toEqual(["", " 1  taxes", " 2  garden", HOW])
  expect(await type("roof")).toEqual(["", 'No title contains "roof".'])
  expect(await talkWith([]).type("")).toEqual(["", "There are no conversations yet."])
})

test("a search goes on where a page has looked at many titles and found nothing", async () => {
  const { type } = talkWith(["taxes"], 2)
  expect(await type("tax")).toEqual(["", " 1  taxes", HOW])
})
