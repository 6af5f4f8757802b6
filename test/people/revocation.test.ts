import { describe, expect, test } from "vitest"
import type { Model } from "../../core/engine/model.ts"
import { calls, hangs, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import type { Caller } from "../../core/server/auth/credentials.ts"
import { Revocation } from "../../core/server/auth/revocation.ts"
import { Browser } from "../support/server/browser.ts"
import { anyDatabase, databases } from "../support/databases.ts"
import { Face, type FaceOptions, type Visitor } from "../support/server/face.ts"
import { TurnedClock } from "../support/loop/world.ts"

/** A revocation takes effect within 5 s; this leaves a second for the work itself. */
const SOON = 4000

/** A stream of this person, as a route would open it. */
async function streamOf(face: Face, who: Pick<Visitor, "get">) {
  const { credential, user, scopes } = (await who.get("/api/auth/me")).body
  const closed = Promise.withResolvers<"closed">()
  let times = 0
  const expiresAt = credential.expiresAt === null ? {} : { expiresAt: Date.parse(credential.expiresAt) }
  const caller: Caller = { person: user, scopes: new Set(scopes), credential: { ...credential, ...expiresAt } }
  const letGo = face.revocation.register(caller, () => (times++, closed.resolve("closed")))
  return { credential: credential.id as string, closed: closed.promise, letGo, times: () => times }
}

const stateOf = async (face: Face, id: string) => (await face.store.journal.load(id as ConversationId, true)).run

/** Starts a conversation with a message to which the model does not finish its reply. */
async function startRun(face: Face, who: Pick<Visitor, "post">): Promise<{ id: string; answer: Promise<unknown> }> {
  const { id } = (await who.post("/api/conversations", {})).body
  const begun = speaks(face, id)
  const answer = who.post(`/api/conversations/${id}/messages`, { text: "Tell me a story." })
  await begun
  return { id, answer }
}

/** Resolves when the model sends the next text, or this one. */
function speaks(face: Face, id: string, words = ""): Promise<void> {
  return new Promise((resolve) => {
    const stop = face.pawl.ports.bus.subscribe(id as ConversationId, (live) => {
      if (live.type !== "text_delta" || !live.text.includes(words)) return
      stop()
      resolve()
    })
  })
}

describe.each(anyDatabase)("revocation on $name", ({ create }) => {
  const open = async (more: Partial<FaceOptions> = {}) => {
    const clock = new TurnedClock()
    const url = more.url ?? (await create()).url
    return {
      url,
      clock,
      face: await Face.open({ watching: true, clock, model: scripted(hangs("Once"), hangs("Twice")), ...more, url }),
    }
  }

  test("closes the streams of the token at once, and no others", async () => {
    const { face } = await open()
    await using _ = face
    const [mine, other] = [await face.as("ada"), await face.as("ada")]
    const streams = await Promise.all([mine, mine, other, await face.as("bob")].map((who) => streamOf(face, who)))
    const gone = await streamOf(face, mine)
    gone.letGo()
    expect((await other.ask("DELETE", `/api/tokens/${streams[0]!.credential}`)).status).toBe(204)
    expect(streams.map(({ times }) => times())).toEqual([1, 1, 0, 0])
    await face.revocation.check()
    expect([...streams, gone].map(({ times }) => times())).toEqual([1, 1, 0, 0, 0])
  })

  test("a stream that fails to close does not keep the others open", async () => {
    const { face } = await open()
    await using _ = face
    const ada = await face.as("ada")
    const { credential } = (await ada.get("/api/auth/me")).body
    const caller = { person: { id: "user_1" as never, name: "ada" }, scopes: new Set<never>(), credential }
    face.revocation.register(caller, () => {
      throw new Error("socket is gone")
    })
    const stream = await streamOf(face, ada)
    await (await face.as("ada")).ask("DELETE", `/api/tokens/${credential.id}`)
    expect(stream.times()).toBe(1)
    expect(face.logged).toMatchObject([{ event: "close_failed" }])
  })

  test("by another process closes streams and stops runs here within 5 s", async () => {
    const { face, clock, url } = await open()
    await using _ = face
    await using elsewhere = await Face.open({ url, clock, model: scripted() })
    const ada = await face.as("ada")
    const stream = await streamOf(face, ada)
    const bystander = await streamOf(face, await face.as("ada"))
    const { id, answer } = await startRun(face, ada)
    await (await elsewhere.as("ada")).ask("DELETE", `/api/tokens/${stream.credential}`)
    await clock.turn(SOON)
    expect(await stream.closed).toBe("closed")
    expect(await answer).toMatchObject({ status: 200, body: { run: { status: "cancelled" } } })
    expect(await stateOf(face, id)).toMatchObject({ status: "cancelled" })
    expect(bystander.times()).toBe(0)
  })

  test.each(["token", "session"])("of a %s cancels only the run it has working", async (kind) => {
    const { face } = await open()
    await using _ = face
    const ada = kind === "token" ? await face.as("ada") : await Browser.of(face, "ada")
    const other = await Browser.of(face, "ada")
    const own = (await ada.get("/api/auth/me")).body.credential.id
    const revoked = await startRun(face, ada)
    const kept = await startRun(face, other)
    const path = kind === "token" ? "/api/tokens" : "/api/auth/sessions"
    expect((await other.ask("DELETE", `${path}/${own}`)).status).toBe(204)
    expect(await revoked.answer).toMatchObject({ body: { run: { status: "cancelled" } } })
    await face.revocation.check()
    expect(await stateOf(face, kept.id)).toMatchObject({ status: "running" })
    await other.post(`/api/conversations/${kept.id}/cancel`)
  })

  test("stops a run that was taken over from an earlier process", async () => {
    const { face: first, url, clock } = await open()
    const ada = await first.as("ada")
    const { user, credential } = (await ada.get("/api/auth/me")).body
    const { id, answer } = await startRun(first, ada)
    await first[Symbol.asyncDispose]()
    await answer
    const { face } = await open({ url, clock })
    await using _ = face
    await face.store.people.revokeToken(user, credential.id, clock.now())
    const again = speaks(face, id)
    await face.pawl.runtime.recover()
    await again
    await clock.turn(SOON)
    await face.pawl.runtime.rest(id as ConversationId)
    expect(await stateOf(face, id)).toMatchObject({ status: "cancelled" })
  })

  test("holds what the token has queued, and stops it if it starts later", async () => {
    const { face } = await open({ model: scripted(hangs("Once"), says("Fine."), hangs("Twice")) })
    await using _ = face
    const [ada, other] = [await face.as("ada"), await face.as("ada")]
    const { credential } = (await ada.get("/api/auth/me")).body
    const { id, answer } = await startRun(face, other)
    expect((await ada.say(id, "And then?")).status).toBe(202)
    await other.ask("DELETE", `/api/tokens/${credential.id}`)
    await other.post(`/api/conversations/${id}/cancel`)
    await answer
    const queued = speaks(face, id, "Twice")
    expect((await other.say(id, "Go on.")).body.run.status).toBe("completed")
    // The queue moves on to the message whose credential has been revoked.
    await queued
    expect(await stateOf(face, id)).toMatchObject({ status: "running", credential: credential.id })
    await face.revocation.check()
    await face.pawl.runtime.rest(id as ConversationId)
    expect(await stateOf(face, id)).toMatchObject({ status: "cancelled", credential: credential.id })
  })

  test("signing out closes the streams and lets the run continue; so does the expiry of a session", async () => {
    let time = Date.UTC(2026, 0, 1)
    const { face } = await open({ clock: { now: () => time, alarm: () => () => {} } })
    await using _ = face
    const [out, late] = [await Browser.of(face, "ada"), await Browser.of(face, "ada")]
    const streams = await Promise.all([out, late].map((who) => streamOf(face, who)))
    const runs = [await startRun(face, out), await startRun(face, late)]
    await out.post("/api/auth/sign-out")
    expect(streams.map(({ times }) => times())).toEqual([1, 0])
    time += 31 * 24 * 60 * 60 * 1000
    await face.revocation.check()
    expect(streams.map(({ times }) => times())).toEqual([1, 1])
    const ada = await face.as("ada")
    for (const { id, answer } of runs) {
      expect(await stateOf(face, id)).toMatchObject({ status: "running" })
      await ada.post(`/api/conversations/${id}/cancel`)
      await answer
    }
  })

  test("the credential that decides takes over the run, which no longer stops with the token that started it", async () => {
    const milk = calls("create_task", { title: "Buy milk" })
    const { face } = await open({ model: scripted(milk, hangs("Done")) })
    await using _ = face
    const [began, decides] = [await face.as("ada"), await face.as("ada")]
    const ids = await Promise.all(
      [began, decides].map(async (who) => (await who.get("/api/auth/me")).body.credential.id),
    )
    const id = await began.begin()
    const { proposals } = (await began.say(id, "milk")).body
    await decides.ask("DELETE", `/api/tokens/${ids[0]}`)
    const goesOn = speaks(face, id)
    expect((await decides.post(`/api/agent/proposals/${proposals[0].id}/commit`)).body.status).toBe("applied")
    await goesOn
    await face.revocation.check()
    expect(await stateOf(face, id)).toMatchObject({ status: "running", credential: ids[1] })
    await (await face.as("ada")).ask("DELETE", `/api/tokens/${ids[1]}`)
    await face.pawl.runtime.rest(id as ConversationId)
    expect(await stateOf(face, id)).toMatchObject({ status: "cancelled" })
  })

  test("a cancel that names a credential ignores the run of another", async () => {
    const told = Promise.withResolvers<void>()
    const model: Model = {
      ...{ name: "slow", provider: "slow", contextTokens: 1000 },
      async *stream() {
        yield { type: "text", text: "Once" }
        await told.promise
        yield { type: "text", text: " upon a time." }
        yield { type: "finish", finish: "stop", usage: { inputTokens: 1, outputTokens: 1 } }
      },
    }
    const { face } = await open({ model })
    await using _ = face
    const { id, answer } = await startRun(face, await face.as("ada"))
    const { user } = await face.store.journal.load(id as ConversationId)
    const cancel = { type: "cancel", by: user, credential: "tok_another" } as const
    await face.pawl.runtime.submit(id as ConversationId, cancel)
    await face.pawl.ports.journal.readInbox(id as ConversationId) // the check caused by the cancel has finished too
    told.resolve()
    expect(await answer).toMatchObject({ body: { run: { status: "completed" } } })
  })

  test("queries the store once for all that is in use, and not at all if nothing is", async () => {
    const { face } = await open()
    await using _ = face
    const { credentials } = face.store
    const asked: number[] = []
    const counting = Object.assign(Object.create(credentials), {
      lapsed: (ids: readonly string[], now: number) => (asked.push(ids.length), credentials.lapsed(ids, now)),
    })
    const revocation = new Revocation({ ...face.server, credentials: counting, devices: { check: async () => {} } })
    await revocation.check()
    expect(asked).toEqual([])
    const [person, scopes] = [{ id: "user_1" as never, name: "ada" }, new Set<never>()]
    for (let n = 0; n < 1500; n++) {
      revocation.register({ person, scopes, credential: { type: "token", id: `tok_${n % 1100}` } }, () => {})
    }
    await revocation.check()
    expect(asked).toEqual([1100])
    await revocation.check() // tokens that do not exist count as expired: closed, and no longer in use
    expect(asked).toEqual([1100])
  })

  test("a store that fails is queried again", async () => {
    const { face, clock } = await open()
    await using _ = face
    const { credentials } = face.store
    let asked = 0
    const failing = Object.assign(Object.create(credentials), {
      lapsed: () =>
        asked++ === 0 ? Promise.reject(new Error("gone away")) : Promise.resolve(new Map([["tok_1", "over"]])),
    })
    using revocation = new Revocation({
      ...face.server,
      credentials: failing,
      devices: { check: async () => {} },
    }).start()
    const closed = new Promise<void>((close) => {
      const credential = { type: "token", id: "tok_1" } as const
      revocation.register({ person: { id: "user_1" as never, name: "a" }, scopes: new Set(), credential }, close)
    })
    await clock.turn(2000)
    await clock.turn(2000)
    await closed
    expect(face.logged).toMatchObject([{ event: "revocation_poll_failed" }])
  })
})

test("the stream of a JWT closes when it expires, and not before", async () => {
  let time = 1000
  const clock = { now: () => time, alarm: () => () => {} }
  await using face = await Face.open({ url: (await databases[0]!.create()).url, model: scripted(), clock })
  let closed = 0
  const credential = { type: "jwt", id: "jwt_x", expiresAt: 5000 } as const
  face.revocation.register(
    { person: { id: "user_1" as never, name: "a" }, scopes: new Set(), credential },
    () => closed++,
  )
  time = 4999
  await face.revocation.check()
  expect(closed).toBe(0)
  time = 5000
  await face.revocation.check()
  expect(closed).toBe(1)
})
