import { expect, test } from "vitest"
import { lazyModule, loadLazyModules } from "./lazy-module.ts"

test("a lazy module is loaded once, however many callers it has", async () => {
  let loads = 0
  const part = lazyModule(async () => ++loads)
  expect(await Promise.all([part(), part()])).toEqual([1, 1])
  expect(await part()).toBe(1)
})

test("an unused one is loaded with all the others", async () => {
  let loads = 0
  lazyModule(async () => ++loads)
  expect(loads).toBe(0)
  await loadLazyModules()
  await loadLazyModules()
  expect(loads).toBe(1)
})

test("a failed load is tried again by the next caller", async () => {
  let loads = 0
  const part = lazyModule(async () => {
    if (++loads === 1) throw new Error("not there")
    return loads
  })
  await expect(part()).rejects.toThrow("not there")
  expect(await part()).toBe(2)
})

test("a failed load is thrown, and the others are still loaded", async () => {
  let isThere = false
  let loads = 0
  const missing = lazyModule(async () => {
    if (!isThere) throw new Error("not there")
  })
  lazyModule(async () => ++loads)
  await expect(loadLazyModules()).rejects.toThrow("not there")
  expect(loads).toBe(1)
  isThere = true
  await missing()
  await loadLazyModules()
})
