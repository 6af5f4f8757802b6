import { describe, expect, test } from "vitest"
import type { AssistantTurn, CallResult, HistoryMessage, ModelRequest, ToolTurn } from "../../engine/model.ts"
import type { CallId } from "../../protocol/ids.ts"
import type { CallPart, Part, ReasoningPart } from "../../protocol/conversation/message.ts"
import { checkRequest } from "./check-request.ts"
import { countWork } from "../../../test/support/worked.ts"

const tool = { name: "t", description: "d", inputSchema: { type: "object" } }
const user: HistoryMessage = { role: "user", text: "Hello" }
const said: HistoryMessage = { role: "assistant", parts: [{ type: "text", text: "Hi" }] }
const call = (id: string): CallPart => ({ type: "call", id: id as CallId, name: "t", input: {} })
const calls = (...ids: string[]): AssistantTurn => ({ role: "assistant", parts: ids.map(call) })
const result = (id: string): CallResult => ({ callId: id as CallId, name: "t", status: "ok", text: "" })
const results = (...ids: string[]): ToolTurn => ({ role: "tool", results: ids.map(result) })
const thought: ReasoningPart = { type: "reasoning", text: "hm", model: "m" }
const reply = (...parts: Part[]): AssistantTurn => ({ role: "assistant", parts })
const request = (history: HistoryMessage[], tools = [tool]): ModelRequest => ({
  system: "",
  history,
  tools,
  toolChoice: "auto",
})

test.each<[what: string, history: HistoryMessage[]]>([
  ["words", [user]],
  ["an answered question and the next", [user, said, user]],
  ["two messages of a person in a row", [user, user]],
  ["calls with their results", [user, calls("a", "b"), results("a", "b")]],
  ["several rounds", [user, calls("a"), results("a"), calls("b"), results("b"), said, user]],
])("a history of %s is sound", (_, history) => {
  expect(() => checkRequest(request(history))).not.toThrow()
})

test.each<[what: string, history: HistoryMessage[], reason: string]>([
  ["nothing", [], "no messages"],
  [
    "a call without its result",
    [user, calls("a"), user],
    "message 2: a user turn stands where the results of a (t) belong",
  ],
  ["calls before the results of others", [user, calls("a"), calls("b"), results("b")], "message 2"],
  ["a result too few", [user, calls("a", "b"), results("a")], "1 result(s) for 2 call(s)"],
  ["a result too many", [user, calls("a"), results("a", "b")], "2 result(s) for 1 call(s)"],
  ["results in another order", [user, calls("a", "b"), results("b", "a")], "place 0 belongs to a (t)"],
  ["results without calls", [user, results("a")], "without calls"],
  ["results that come late", [user, calls("a"), results("a"), results("a")], "message 3: results without calls"],
  [
    "an id used twice",
    [user, calls("a"), results("a"), calls("a"), results("a")],
    "message 3: the call id a (t) is used twice",
  ],
  ["an id used twice in one reply", [user, calls("a", "a"), results("a", "a")], "used twice"],
  ["an empty place", [user, calls("a"), { role: "tool", results: new Array<CallResult>(1) }], "is empty"],
  [
    "a result of another tool",
    [user, calls("a"), { role: "tool", results: [{ ...result("a"), name: "u" }] }],
    "its result says u",
  ],
  ["a reply at its end", [user, said], "the last message is the model's own"],
  ["calls at its end", [user, calls("a")], "the last message is the model's own"],
  ["a reply at its beginning", [said, user], "opens with a turn of the assistant"],
  ["no words", [{ role: "user", text: "" }], "words of the person are empty"],
  ["blank words", [{ role: "user", text: " \n" }], "words of the person are empty"],
  ["an empty reply", [user, reply(), user], "message 1: the reply is empty"],
  ["a reply of thinking alone", [user, reply(thought), user], "message 1: the reply ends with thinking"],
  ["thinking after the words", [user, reply({ type: "text", text: "Hi" }, thought), user], "ends with thinking"],
  ["a blank text", [user, reply(thought, { type: "text", text: " \n" }), user], "a text of the reply is blank"],
  [
    "arguments that are a list",
    [user, { role: "assistant", parts: [{ ...call("a"), input: [1] as unknown as CallPart["input"] }] }, results("a")],
    "not an object: [1]",
  ],
  [
    "a call without a name",
    [user, { role: "assistant", parts: [{ ...call("a"), name: "" }] }, results("a")],
    "no tool name",
  ],
])("a history with %s is refused with the reason", (_, history, reason) => {
  expect(() => checkRequest(request(history))).toThrow(reason)
})

test("reasoning of another model is refused", () => {
  const history = [user, reply(thought, call("a")), results("a")]
  expect(() => checkRequest(request(history), "m")).not.toThrow()
  expect(() => checkRequest(request(history), "other")).toThrow("message 1: thinking of m is shown to other")
})

test("a history with calls needs declared tools", () => {
  expect(() => checkRequest(request([user, calls("a"), results("a")], []))).toThrow("no tools are declared")
  expect(() => checkRequest(request([user, said, user], []))).not.toThrow()
})

describe("a history that grew since it was checked", () => {
  test("is refused for what is new in it", () => {
    const history: HistoryMessage[] = [user]
    checkRequest(request(history))
    history.push(calls("a"), results("a"))
    checkRequest(request(history))
    history.push(calls("a"), results("a"))
    expect(() => checkRequest(request(history))).toThrow("used twice")
    expect(() => checkRequest(request(history))).toThrow("used twice")
  })

  test("takes no longer to check the longer it is", () => {
    const history: HistoryMessage[] = [user]
    const grow = (count: number) => {
      for (let turn = 0; turn < count; turn++) {
        const id = `call_${history.length}`
        history.push(calls(id), results(id))
      }
    }
    grow(100_000)
    checkRequest(request(history))
    const worked = countWork()
    for (let turn = 0; turn < 1000; turn++) {
      grow(1)
      checkRequest(request(history))
    }
    // Read from its start each time, a thousand checks of 200,000 messages would take many seconds.
    expect(worked()).toBeLessThan(2000)
  })
})
