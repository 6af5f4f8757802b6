import { expect, test } from "vitest"
import { unreachable } from "../../../client/client-error.ts"
import type { Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { DecisionInFlight } from "./decision.ts"

const proposal = (id: string) => ({ id, status: "in_doubt" }) as Proposal

test("a decision that failed or changed nothing can be made again", async () => {
  const answer = new DecisionInFlight()
  const waiting = [proposal("prop_1")]
  await expect(answer.send({ waiting }, Promise.reject(new Error("The line is cut.")))).rejects.toThrow("cut")
  expect(answer.isTo(waiting)).toBe(false)
  const sent = answer.send({ waiting }, Promise.resolve(false))
  expect(answer.isTo([...waiting]), "while it is on its way").toBe(true)
  await sent
  expect(answer.isTo(waiting)).toBe(false)
})

test("a decision in flight blocks the next until the waiting changes differ, even if the same change is in doubt again", async () => {
  const answer = new DecisionInFlight()
  const one = proposal("prop_1")
  await answer.send({ waiting: [one] }, Promise.resolve(true))
  expect(answer.isTo([one])).toBe(true)
  expect(answer.isTo([{ ...one }])).toBe(false)
  expect(answer.isTo([one, proposal("prop_2")])).toBe(false)
})

test("a decision that completes late does not unblock a newer one", async () => {
  const answer = new DecisionInFlight()
  const expired = Promise.withResolvers<boolean>()
  const first = answer.send({ waiting: [proposal("prop_1")] }, expired.promise)
  const since = [proposal("prop_2")]
  await answer.send({ waiting: since }, Promise.resolve(true))
  expired.resolve(false)
  await first
  expect(answer.isTo(since)).toBe(true)
})

test("a decision whose response was lost, as by a proxy timeout, has counted if the waiting changes differ", async () => {
  const answer = new DecisionInFlight()
  const lost = () => Promise.reject(unreachable("decideAll", "status 504 without a problem"))
  const [one, other] = [proposal("prop_1"), proposal("prop_2")]
  const session = { waiting: [one, other] }
  await expect(answer.send(session, lost()), "nothing shows that it has").rejects.toThrow("504")
  const decided = answer.send(session, lost())
  session.waiting = [other]
  await decided
  const refused = answer.send({ ...session, waiting: [one] }, Promise.reject(new Error("No.")))
  await expect(refused).rejects.toThrow("No.")
})
