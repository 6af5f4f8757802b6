import { describe, expect, test, vi } from "vitest"
import { answer } from "../../core/engine/definition/tool.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { listen } from "../../core/server/listen.ts"
import { databases } from "../support/databases.ts"
import { Face, type Reply, Visitor } from "../support/server/face.ts"
import { write } from "../support/loop/tools.ts"
import { sizes } from "../support/sizes.ts"

vi.setConfig({ testTimeout: 180_000 })

const PROPOSALS = sizes.racedProposals
const MOST_PROPOSALS = Math.max(PROPOSALS, 200)
const DECISIONS = 20
/** The number of conversations that race at a time: enough that their commits and reads mix. */
const AT_ONCE = 20

/** Requests one write, then is done. */
const asking = () =>
  scripted(always(({ history }) => (history.some(({ role }) => role === "tool") ? says("Done.") : calls("pay"))))

describe.each(databases)("on $name", ({ create }) => {
  test(`of ${DECISIONS} racing decisions on each of ${PROPOSALS} proposals one is a 200, the rest are a 409 with the outcome`, async () => {
    await using database = await create()
    const effects = new Map<string, number>()
    const pay = write("pay", (_input, { callId }) => {
      effects.set(callId, (effects.get(callId) ?? 0) + 1)
      return answer("Paid.")
    })
    await using face = await Face.open({ url: database.url, model: asking(), tools: [pay] })
    const { token } = await face.store.people.createToken(
      await face.store.people.ensure("ada", Date.now()),
      ["read", "chat", "approve"],
      Date.now(),
    )
    const listening = await listen((request, env) => face.fetch(request, env), { host: "127.0.0.1", port: 0 })
    const ada = new Visitor(fetch, token, listening.url)
    const won = { commit: 0, reject: 0 }

    async function race(n: number): Promise<void> {
      const paused = await ada.say(await ada.begin({ agent: "test" }), "Pay.")
      const [{ id, callId }] = paused.body.proposals
      const asked = Array.from({ length: DECISIONS }, (_, turn) => ((turn + n) % 2 === 0 ? "commit" : "reject"))
      const replies = await Promise.all(asked.map((what) => ada.post(`/api/agent/proposals/${id}/${what}`)))
      const winners = replies.flatMap(({ status }, turn) => (status === 200 ? [turn] : []))
      expect(winners, said(replies)).toHaveLength(1)
      const what = asked[winners[0]!] as "commit" | "reject"
      won[what]++
      const end = what === "commit" ? "applied" : "rejected"
      expect(replies[winners[0]!]?.body).toMatchObject({ id, status: end })
      const losers = replies.filter(({ status }) => status === 409)
      expect(losers, said(replies)).toHaveLength(DECISIONS - 1)
      // A loser may get its answer before the winner's write has ended, but never another outcome.
      const known = what === "commit" ? /^(applying|applied)$/ : /^rejected$/
      for (const { type, body } of losers) {
        expect([type, body.code]).toEqual(["application/problem+json", "proposal_decided"])
        expect(body.proposal).toMatchObject({ id, callId, status: expect.stringMatching(known) })
      }
      expect((await ada.get(`/api/agent/proposals/${id}`)).body.status).toBe(end)
      expect(effects.get(callId) ?? 0, "the target's counter").toBe(what === "commit" ? 1 : 0)
    }

    // Rejecting is less work, and may win each time on a busy machine: more race until both kinds have won.
    const isOneSided = () => Math.min(won.commit, won.reject) === 0
    let raced = 0
    for (; raced < PROPOSALS || (isOneSided() && raced < MOST_PROPOSALS); raced += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => race(raced + n)))
    }
    expect(won.commit + won.reject).toBe(raced)
    expect(isOneSided(), "both kinds have won, or nothing was raced").toBe(false)
    expect([...effects.values()].filter((times) => times !== 1)).toEqual([])
    expect(effects.size).toBe(won.commit)
    expect(face.logged).toEqual([])
    await listening.close(0)
  })
})

const said = (replies: readonly Reply[]) =>
  replies.map(({ status, text }) => `${status} ${text.slice(0, 200)}`).join("\n")
