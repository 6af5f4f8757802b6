import type { Key } from "ink"
import { expect, test } from "vitest"
import { toPresses } from "./keys.ts"

const press = (input: string, key: Partial<Key> = {}) => toPresses(input, key as Key)

test("Enter, Alt+Enter and a new line are three different keys", () => {
  expect(press("", { return: true })).toEqual([{ type: "enter" }])
  expect(press("", { return: true, meta: true })).toEqual([{ type: "queue" }])
  expect(press("\n")).toEqual([{ type: "newline" }])
  expect(press("", { return: true, shift: true }), "where a terminal can tell").toEqual([{ type: "newline" }])
})

test("a burst of input is read as the keys that were pressed", () => {
  expect(press("hello\r")).toEqual([{ type: "text", text: "hello" }, { type: "enter" }])
  expect(press("a\rb")).toEqual([{ type: "text", text: "a" }, { type: "newline" }, { type: "text", text: "b" }])
  expect(press("\x15x\x7f")).toEqual([
    { type: "delete-to-start" },
    { type: "text", text: "x" },
    { type: "delete-left" },
  ])
})

test("the release of a key is ignored", () => {
  expect(press("a", { eventType: "release" })).toEqual([])
})

const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"]
const CONTROLS: Record<string, string> = {
  ...{ a: "line-start", b: "left", c: "interrupt", d: "end-of-input", e: "line-end", f: "right", j: "newline" },
  ...{
    k: "delete-to-end",
    l: "redraw",
    n: "down",
    p: "up",
    u: "delete-to-start",
    v: "paste-image",
    w: "delete-word",
    z: "suspend",
  },
}

test.each([...LETTERS, ..."0123456789 \\]^_@[/"])(
  "Ctrl, Alt and the others with %s: a key that is documented, or none",
  (each) => {
    const type = CONTROLS[each]
    expect(press(each, { ctrl: true })).toEqual(type ? [{ type }] : [])
    const alt = { b: "word-left", f: "word-right" }[each]
    expect(press(each, { meta: true })).toEqual(alt ? [{ type: alt }] : [])
    for (const others of [{ ctrl: true, meta: true }, { super: true }, { hyper: true }, { super: true, ctrl: true }])
      expect(press(each, others), JSON.stringify(others)).toEqual([])
  },
)

test.each<Partial<Key>>([
  { upArrow: true },
  { downArrow: true },
  { pageUp: true },
  { pageDown: true },
  { home: true },
  { end: true },
  { return: true },
  { tab: true },
  { delete: true },
])("%j is another key with Ctrl, and none", (key) => {
  expect(press("", { ...key, ctrl: true })).toEqual([])
  expect(press("", { ...key, super: true })).toEqual([])
})

test("a key without a function does not change what Enter after it does", () => {
  expect(press("\x19\r")).toEqual([{ type: "enter" }])
  expect(press("\x19\x0fy")).toEqual([{ type: "text", text: "y" }])
})
