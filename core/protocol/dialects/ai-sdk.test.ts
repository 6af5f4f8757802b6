import { expect, test } from "vitest"
import { UiChatRequest, UiPart } from "./ai-sdk.ts"

const chat = (more: object) => ({ id: "a", messages: [{ id: "m", role: "user", parts: [{ type: "text" }] }], ...more })
const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${at}`, {}]))

test("a part is checked without copying its fields, because a long chat has a hundred thousand", () => {
  const part = { type: "text", text: "Hi.", ...named(3) }
  expect(UiPart.parse(part)).toBe(part)
  expect(
    [{}, null, "text", { type: 1 }, { type: "x".repeat(201) }].filter((each) => UiPart.safeParse(each).success),
  ).toEqual([])
})

test("a page's tools are counted before their names are read", () => {
  expect(UiChatRequest.safeParse(chat({ tools: named(64) })).success).toBe(true)
  const { error } = UiChatRequest.safeParse(chat({ tools: named(65) }))
  expect(error?.issues).toMatchObject([
    { path: ["tools"], message: "there are 65 names, and at most 64 are taken at once" },
  ])
})
