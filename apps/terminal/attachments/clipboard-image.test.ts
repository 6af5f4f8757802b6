import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { readClipboardImage } from "./clipboard-image.ts"

/** A clipboard program that runs this script. */
function program(script: string, types?: readonly string[]) {
  const place = join(mkdtempSync(join(tmpdir(), inject("testRun"), "clipboard-")), "paste")
  writeFileSync(place, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return { program: place, ...(types ? { types } : {}), read: (type: string) => ["read", type] }
}
const LISTED = ["list"]
const missing = { program: "/nowhere/paste", read: () => [] }

test("the first program that works reads the image, in the type that it offers", async () => {
  const broken = program("exit 1", LISTED)
  const good = program('[ "$1" = list ] && printf "TARGETS\\ntext/plain\\nimage/jpeg\\n" || printf "$2"', LISTED)
  expect(await readClipboardImage([missing, broken, good])).toEqual({
    bytes: Buffer.from("image/jpeg"),
    type: "image/jpeg",
  })
  const mac = { ...program("printf '«data PNGf8950»'"), decode: () => Buffer.from([0x89, 0x50]) }
  expect(await readClipboardImage([missing, mac])).toEqual({ bytes: Buffer.from([0x89, 0x50]), type: "image/png" })
})

test("without an image, a program or a clipboard the message says what to do", async () => {
  const problemOf = async (...programs: Parameters<typeof readClipboardImage>[0][]) => {
    const image = await readClipboardImage(programs[0])
    return "problem" in image ? image.problem : "an image"
  }
  expect(await problemOf([program('[ "$1" = list ] && echo text/plain', LISTED)])).toMatch("There is no image")
  expect(await problemOf([program('[ "$1" = list ] && echo image/png', LISTED)])).toMatch("cannot be read")
  expect(await problemOf([program('[ "$1" = list ] && echo image/png || true', LISTED)])).toMatch("There is no image")
  expect(await problemOf([missing])).toMatch(/needs \/nowhere\/paste\. Install one.*@path/)
  expect(await problemOf([program("exit 1")])).toMatch(/over SSH.*@path/)
})

test("an image larger than the limit is not read", async () => {
  const huge = program('[ "$1" = list ] && echo image/png || head -c 60000000 /dev/zero', LISTED)
  expect(await readClipboardImage([huge])).toEqual({ problem: "The image in the clipboard is larger than 25 MB." })
})
