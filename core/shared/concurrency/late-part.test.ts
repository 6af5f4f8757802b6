import { expect, test } from "vitest"
import { latePart, loadLateParts } from "./late-part.ts"

test("a late part is loaded once, however many ask for it", async () => {
  let loads = 0
  const part = latePart(async () => ++loads)
  expect(await Promise.all([part(), part()])).toEqual([1, 1])
  expect(await part()).toBe(1)
})

test("one that nobody has asked for is loaded with all the others", async () => {
  let loads = 0
  latePart(async () => ++loads)
  expect(loads).toBe(0)
  await loadLateParts()
  await loadLateParts()
  expect(loads).toBe(1)
})

test("one that could not be loaded is tried again by the next who asks", async () => {
  let loads = 0
  const part = latePart(async () => {
    if (++loads === 1) throw new Error("not there")
    return loads
  })
  await expect(part()).rejects.toThrow("not there")
  expect(await part()).toBe(2)
})

test("one that cannot be loaded is told, and keeps none behind it from being loaded", async () => {
  let isThere = false
  let loads = 0
  const missing = latePart(async () => {
    if (!isThere) throw new Error("not there")
  })
  latePart(async () => ++loads)
  await expect(loadLateParts()).rejects.toThrow("not there")
  expect(loads).toBe(1)
  isThere = true
  await missing()
  await loadLateParts()
})
