import { expect, test } from "vitest"
import { inTurn } from "./conversation.ts"

/** A read whose responses the test controls. */
function played() {
  const answers: PromiseWithResolvers<void>[] = []
  const ask = inTurn(() => {
    const answer = Promise.withResolvers<void>()
    answers.push(answer)
    return answer.promise
  })
  return { answers, ask }
}

test("who asks while an answer is on its way shares the next one, which is asked for after it", async () => {
  const { answers, ask } = played()
  const first = ask()
  const others = [ask(), ask(), ask()]
  expect(answers).toHaveLength(1)
  answers[0]?.resolve()
  await first
  await expect.poll(() => answers.length).toBe(2)
  const late = ask()
  expect(answers).toHaveLength(2)
  answers[1]?.resolve()
  await Promise.all(others)
  await expect.poll(() => answers.length).toBe(3)
  answers[2]?.resolve()
  await late
  void ask()
  expect(answers).toHaveLength(4)
})

test("an answer that never came takes nothing from who asks after it", async () => {
  const { answers, ask } = played()
  const first = ask()
  const second = ask()
  answers[0]?.reject(new Error("away"))
  await expect(first).rejects.toThrow("away")
  await expect.poll(() => answers.length).toBe(2)
  answers[1]?.resolve()
  await second
})
