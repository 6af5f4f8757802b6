import { expect, test } from "vitest"
import { failure } from "../protocol/errors.ts"
import { inParallel } from "./run-tools.ts"

test("a failed step throws its first cause, not the consequences in concurrent calls", async () => {
  const cause = failure("store_unavailable", { problem: "the disk is full" })
  const echo = failure("lease_lost", { id: "conv_x" })
  const failing = inParallel([echo, cause, echo], (error) => Promise.reject(error))
  await expect(failing).rejects.toBe(cause)
})

test("a lost lease is thrown if there is no other cause", async () => {
  const echo = failure("lease_lost", { id: "conv_x" })
  await expect(inParallel([echo], (error) => Promise.reject(error))).rejects.toBe(echo)
})

test("no call is still running after a step has failed", async () => {
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
