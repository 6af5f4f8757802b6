import { expect, test } from "vitest"
import type { Item } from "../../../../client/index.ts"
import { leftUnanswered } from "./last-run.tsx"

const said = (role: "user" | "assistant", finish?: string) => ({ type: "message", message: { role, finish } }) as Item
const notice = (name: string) => ({ type: "notice", notice: name, detail: null }) as Item
const [question, answer, half] = [said("user"), said("assistant", "stop"), said("assistant", "cancelled")]

test.each<[sentence: string, items: Item[], left: string | undefined]>([
  ["a summary after a failure", [question, notice("failed"), notice("compacted")], "failed"],
  ["a summary after a stop", [question, half, notice("cancelled"), notice("compacted")], "cancelled"],
  ["one that was not made", [question, notice("failed"), notice("not_compacted")], "failed"],
  ["a summary after an answer", [question, answer, notice("compacted")], undefined],
  ["one that was stopped, and then made", [question, answer, notice("cancelled"), notice("compacted")], undefined],
  ["an answer after the summary", [question, notice("failed"), notice("compacted"), answer], undefined],
  ["no summary", [question, notice("failed")], undefined],
  ["nothing", [], undefined],
])("%s leaves unanswered what failed or was stopped", (_, items, left) => {
  expect(leftUnanswered(items)?.status).toBe(left)
})

test("why it failed is known after a summary too", () => {
  const failed = { type: "notice", notice: "failed", detail: "context_overflow: Too long: by far." } as Item
  expect(leftUnanswered([question, failed, notice("compacted")])).toEqual({
    status: "failed",
    code: "context_overflow",
    message: "Too long: by far.",
  })
})
