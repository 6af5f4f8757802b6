import { expect, test } from "vitest"
import { MAX_BYTES, readFromFrame, readToFrame } from "./messages.ts"

const nonce = "0123-4567-89ab"
const draw = { type: "draw", nonce, spec: { mark: "bar" }, dark: true, width: 600 }
const drawn = { type: "drawn", nonce, width: 600, height: 300, marks: 3 }

test("known messages are read, without unknown fields", () => {
  expect(readToFrame({ ...draw, more: 1 })).toEqual(draw)
  expect(readToFrame({ type: "save", nonce, format: "png", spec: 1 })).toEqual({ type: "save", nonce, format: "png" })
  expect(readFromFrame({ type: "ready", nonce: 1 })).toEqual({ type: "ready" })
  expect(readFromFrame({ ...drawn, html: "<b>" })).toEqual(drawn)
  expect(readFromFrame({ type: "failed", nonce, reason: "x".repeat(1000) })).toEqual({
    type: "failed",
    nonce,
    reason: "x".repeat(300),
  })
})

test.each<[unknown]>([
  [null],
  ["draw"],
  [[draw]],
  [{ ...draw, nonce: "short" }],
  [{ ...draw, nonce: { toString: () => nonce } }],
  [{ ...draw, spec: [] }],
  [{ ...draw, spec: "{}" }],
  [{ ...draw, dark: "yes" }],
  [{ ...draw, width: 1e9 }],
  [{ ...draw, width: Number.NaN }],
  [{ type: "save", nonce, format: "html" }],
  [{ type: "eval", nonce, code: "1" }],
])("the frame ignores %j", (message) => {
  expect(readToFrame(message)).toBeUndefined()
})

test.each<[unknown]>([
  [undefined],
  [{ ...drawn, marks: -1 }],
  [{ ...drawn, height: Infinity }],
  [{ ...drawn, nonce: undefined }],
  [{ type: "failed", nonce, reason: { html: "<b>" } }],
  [{ type: "saved", nonce, format: "svg", bytes: "<svg/>" }],
  [{ type: "saved", nonce, format: "exe", bytes: new ArrayBuffer(1) }],
  [{ type: "saved", nonce, format: "png", bytes: new ArrayBuffer(MAX_BYTES + 1) }],
])("the page ignores %j", (message) => {
  expect(readFromFrame(message)).toBeUndefined()
})
