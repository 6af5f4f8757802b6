import { expect, test } from "vitest"
import { kindOfFile } from "./file-kind.ts"

const FRAME = [0xff, 0xc0, 0, 11, 8, 0, 2, 0, 3, 1, 1, 0x11, 0]

/** A JPEG with this many fill bytes before its frame. */
const jpeg = (fills: number) => Buffer.from([0xff, 0xd8, ...Array<number>(fills).fill(0xff), ...FRAME, 0xff, 0xd9])

const svg = (length: number) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${"<s".repeat(length / 2)}<path d="M0 0"/></svg>`)

test("an SVG is searched for scripts only if that is fast, because other requests wait", () => {
  expect(kindOfFile(svg(1000), { name: "a.svg", type: "" })).toEqual({ type: "image/svg+xml" })
  expect(() => kindOfFile(svg(1_000_000), { name: "a.svg", type: "" })).toThrow(/more than a million .* send it as PNG/)
})

test("a JPEG may have a few padding bytes, and is not scanned if it has nothing else", () => {
  expect(kindOfFile(jpeg(20), { name: "a.jpg", type: "" })).toEqual({ type: "image/jpeg", width: 3, height: 2 })
  expect(() => kindOfFile(jpeg(2000), { name: "a.jpg", type: "" })).toThrow("begins like a JPEG and is none")
})

test("a GIF is as large as its largest frame, whatever its logical screen", () => {
  const gif = (frame: readonly number[]) =>
    Buffer.from([...Buffer.from("GIF89a"), 1, 0, 1, 0, 0, 0, 0, 0x2c, ...frame, 0, 2, 1, 0x44, 0, 0x3b])
  const claimed = { name: "a.gif", type: "" }
  expect(kindOfFile(gif([0, 0, 0, 0, 1, 0, 1, 0]), claimed)).toEqual({ type: "image/gif", width: 1, height: 1 })
  expect(kindOfFile(gif([2, 0, 0, 0, 5, 0, 4, 0]), claimed)).toMatchObject({ width: 7, height: 4 })
  expect(() => kindOfFile(gif([0, 0, 0, 0, 0, 0x7f, 0, 0x7f]), claimed)).toThrow("32512 × 32512 pixels")
})
