import { expect, test } from "vitest"
import { newId } from "../../protocol/ids.ts"
import { accept } from "./accept.ts"
import { type Conversation } from "../conversation.ts"
import { emptyConversation } from "../empty-conversation.ts"
import type { RunSite } from "../input.ts"
import { stage } from "../replay/replay.ts"

const accepting = { now: 1, maxIterations: 5, timeZone: "UTC" }

function running(credential?: string) {
  const conversation = emptyConversation(newId("conv"), newId("user"))
  const by = credential === undefined ? {} : { credential }
  stage(conversation, [{ type: "run_started", runId: newId("run"), maxIterations: 5, ...by }], 1)
  return conversation
}

test.each<[credential: string | undefined, named: string | undefined, ends: boolean]>([
  ["tok_a", undefined, true],
  [undefined, undefined, true],
  ["tok_a", "tok_a", true],
  ["tok_a", "tok_b", false],
  [undefined, "tok_b", false],
])("a run that %j has set going is ended by a cancel for %j: %j", (credential, named, ends) => {
  const input = { type: "cancel", by: "user_1", ...(named === undefined ? {} : { credential: named }) } as const
  const events = accept(running(credential), input, accepting)
  expect(events.map((event) => event.type)).toEqual(ends ? ["run_ended"] : [])
})

test("a cancel of one run ends only that run, and does not hold the messages behind it", () => {
  const conversation = running()
  conversation.arrivals = 3
  const cancel = { type: "cancel", by: "user_1" } as const
  expect(accept(conversation, { ...cancel, run: newId("run") }, accepting)).toEqual([])
  const own = accept(conversation, { ...cancel, run: conversation.run!.id }, accepting)
  expect(own).toMatchObject([{ type: "run_ended", heldUpTo: 0 }])
  expect(accept(conversation, cancel, accepting)).toMatchObject([{ type: "run_ended", heldUpTo: 3 }])
})

test("a message that is sent again because its response was lost counts once", () => {
  const conversation = emptyConversation(newId("conv"), newId("user"))
  const words = { type: "message", id: newId("msg"), text: "hi", when: "queue" } as const
  stage(conversation, accept(conversation, words, accepting), 1)
  expect(accept(conversation, words, accepting)).toEqual([])
  expect(accept(conversation, { ...words, id: newId("msg") }, accepting)).not.toEqual([])
})

test("messages and resumes record the credential of their sender", () => {
  const conversation = emptyConversation(newId("conv"), newId("user"))
  const words = { type: "message", id: newId("msg"), text: "hi", when: "queue", credential: "tok_a" } as const
  expect(accept(conversation, words, accepting)[0]).toMatchObject({ type: "run_started", credential: "tok_a" })
  const cancelled = running("tok_a")
  stage(cancelled, [{ type: "run_ended", status: "cancelled" }], 2)
  const resumed = accept(cancelled, { type: "resume", by: "user_1", credential: "sess_b" }, accepting)
  expect(resumed).toMatchObject([{ type: "run_started", credential: "sess_b" }])
})

/** The types of the events that a message with a new location becomes, and that location. */
function moved(bound: Partial<Conversation>, place: RunSite, when: "queue" | "steer" = "queue") {
  const conversation = Object.assign(
    when === "steer" ? running() : emptyConversation(newId("conv"), newId("user")),
    bound,
  )
  const events = accept(conversation, { type: "message", id: newId("msg"), text: "hi", when, place }, accepting)
  return [events.map(({ type }) => type), events.find(({ type }) => type === "settings")]
}

test.each<[what: string, bound: Partial<Conversation>, place: RunSite]>([
  ["another device", { site: "device", deviceId: "phone" }, { deviceId: "laptop" }],
  ["a device with a name", { site: "device", deviceId: null }, { deviceId: "laptop" }],
  ["another database", { connectionId: newId("conn") }, { connectionId: newId("conn") }],
])("a message that names %s starts a run there; a run that it joins stays where it is", (_, bound, place) => {
  const settings = { type: "settings", ...place }
  expect(moved(bound, place)).toEqual([["settings", "run_started", "message"], settings])
  expect(moved(bound, place, "steer")).toEqual([["message"], undefined])
})

test.each<[what: string, bound: Partial<Conversation>]>([
  ["that is there already", { site: "device", deviceId: "laptop" }],
  ["that works on the server", { site: "server" }],
])("words from a device move no conversation %s", (_, bound) => {
  expect(moved(bound, { deviceId: "laptop" })).toEqual([["run_started", "message"], undefined])
})
