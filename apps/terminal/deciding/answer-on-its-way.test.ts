import { expect, test } from "vitest"
import { unreachable } from "../../../client/client-error.ts"
import type { Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { AnswerOnItsWay } from "./decision.ts"

const proposal = (id: string) => ({ id, status: "in_doubt" }) as Proposal

test("an answer that failed, or changed nothing, can be given again", async () => {
  const answer = new AnswerOnItsWay()
  const waiting = [proposal("prop_1")]
  await expect(answer.send({ waiting }, Promise.reject(new Error("The line is cut.")))).rejects.toThrow("cut")
  expect(answer.isTo(waiting)).toBe(false)
  const sent = answer.send({ waiting }, Promise.resolve(false))
  expect(answer.isTo([...waiting]), "while it is on its way").toBe(true)
  await sent
  expect(answer.isTo(waiting)).toBe(false)
})

test("one that has been taken holds until what waits is another, were it the same in doubt again", async () => {
  const answer = new AnswerOnItsWay()
  const one = proposal("prop_1")
  await answer.send({ waiting: [one] }, Promise.resolve(true))
  expect(answer.isTo([one])).toBe(true)
  expect(answer.isTo([{ ...one }])).toBe(false)
  expect(answer.isTo([one, proposal("prop_2")])).toBe(false)
})

test("one that ends late lets go of no other that was given since", async () => {
  const answer = new AnswerOnItsWay()
  const late = Promise.withResolvers<boolean>()
  const first = answer.send({ waiting: [proposal("prop_1")] }, late.promise)
  const since = [proposal("prop_2")]
  await answer.send({ waiting: since }, Promise.resolve(true))
  late.resolve(false)
  await first
  expect(answer.isTo(since)).toBe(true)
})

test("one whose answer was lost, as by a proxy that does not wait for the end of a run, has arrived where what waits is another", async () => {
  const answer = new AnswerOnItsWay()
  const lost = () => Promise.reject(unreachable("decideAll", "status 504 without a problem"))
  const [one, other] = [proposal("prop_1"), proposal("prop_2")]
  const talk = { waiting: [one, other] }
  await expect(answer.send(talk, lost()), "nothing shows that it has").rejects.toThrow("504")
  const decided = answer.send(talk, lost())
  talk.waiting = [other]
  await decided
  const refused = answer.send({ ...talk, waiting: [one] }, Promise.reject(new Error("No.")))
  await expect(refused).rejects.toThrow("No.")
})
