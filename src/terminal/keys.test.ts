import type { Key } from "ink"
import { expect, test } from "vitest"
import { toPresses } from "./keys.ts"

const press = (input: string, key: Partial<Key> = {}) => toPresses(input, key as Key)

test("Enter, Alt+Enter and a new line are three things", () => {
  expect(press("", { return: true })).toEqual([{ type: "enter" }])
  expect(press("", { return: true, meta: true })).toEqual([{ type: "queue" }])
  expect(press("\n")).toEqual([{ type: "newline" }])
  expect(press("", { return: true, shift: true }), "where a terminal can tell").toEqual([{ type: "newline" }])
})

test("what comes in one burst is what was typed", () => {
  expect(press("hello\r")).toEqual([{ type: "text", text: "hello" }, { type: "enter" }])
  expect(press("a\rb")).toEqual([{ type: "text", text: "a" }, { type: "newline" }, { type: "text", text: "b" }])
  expect(press("\x15x\x7f")).toEqual([
    { type: "delete-to-start" },
    { type: "text", text: "x" },
    { type: "delete-left" },
  ])
})

test("a key that is let go was pressed before", () => {
  expect(press("a", { eventType: "release" })).toEqual([])
})
