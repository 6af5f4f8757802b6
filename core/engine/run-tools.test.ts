import { expect, test } from "vitest"
import { failure } from "../protocol/errors.ts"
import { inParallel } from "./run-tools.ts"

test("what made a step fail is told, not its echo in the calls beside it", async () => {
  const cause = failure("store_unavailable", { problem: "the disk is full" })
  const echo = failure("lease_lost", { id: "conv_x" })
  const failing = inParallel([echo, cause, echo], (error) => Promise.reject(error))
  await expect(failing).rejects.toBe(cause)
})

test("a lease that is gone is told when there is nothing else to tell", async () => {
  const echo = failure("lease_lost", { id: "conv_x" })
  await expect(inParallel([echo], (error) => Promise.reject(error))).rejects.toBe(echo)
})

test("nothing goes on behind the back of a step that failed", async () => {
  const open = Promise.withResolvers<void>()
  let over = false
  const failing = inParallel(["fails", "goes on"], async (item) => {
    if (item === "fails") throw new Error("no")
    await open.promise
    over = true
  })
  open.resolve()
  await expect(failing).rejects.toThrow("no")
  expect(over).toBe(true)
})
