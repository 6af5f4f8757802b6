import { expect, test } from "vitest"
import { z } from "zod"
import { type Agent, defineAgent } from "./definition/agent.ts"
import type { Input } from "./input.ts"
import { Grade } from "../protocol/conversation/stages.ts"
import { nextStep, type NextStep } from "./next-step.ts"
import { ADA, message, proposal, type Staged, staged } from "./staged.fixture.ts"
import { answer, defineTool } from "./definition/tool.ts"

const common = { description: "For tests.", input: z.object({}), run: () => answer("") }
const read = defineTool({ ...common, name: "read", effect: "read", afterCrash: "run-again" })
const write = defineTool({ ...common, name: "write", effect: "write", afterCrash: "in-doubt", inverse: false })
const fetchPage = defineTool({ ...read, name: "fetch", taint: "untrusted", egress: true })
const agent = defineAgent({ name: "test", description: "", instructions: "", tools: [read, write, fetchPage] })
const router = defineAgent({
  ...{ name: "test", description: "", instructions: "", tools: [read, write] },
  profiles: [{ name: "a", description: "", tools: ["read"] }],
  route: () => ({ profiles: ["a"], reason: "", scores: {}, by: "rules" }),
})
const Score = z.object({ score: z.number(), reason: z.string() })
const Grades = z.object({ grades: z.array(Grade), rewrite: z.string().nullable() })
const scholar = defineAgent({
  ...{ name: "test", description: "", instructions: "", tools: [read, write] },
  stages: {
    guardrail: { threshold: 75, instructions: "", answer: Score, decline: () => "No." },
    grading: { instructions: "", answer: Grades, enough: 1, rewrites: 2 },
  },
})
const limits = { runSeconds: 180, restarts: 3 }

const cancel: Input = { type: "cancel", by: ADA }
const revoke: Input = { type: "revoke", by: ADA }
const resume: Input = { type: "resume", by: ADA }
const late: Input = { type: "late_result", callId: "call_1" as never, status: "ok", text: "" }
const commit: Input = { type: "decide", proposalId: proposal(1), decision: "commit", by: ADA }

const finish: NextStep = { type: "finish" }
const takeInbox: NextStep = { type: "take-inbox" }
const recoverCalls: NextStep = { type: "recover-calls" }
const runTools: NextStep = { type: "run-tools" }
const propose: NextStep = { type: "propose" }
const awaitPerson: NextStep = { type: "pause", reason: "awaiting_confirmation" }
const awaitTruth: NextStep = { type: "pause", reason: "in_doubt" }
const judge: NextStep = { type: "guardrail" }
const grade: NextStep = { type: "grade" }
const route: NextStep = { type: "route" }
const ask: NextStep = { type: "ask-model", toolChoice: "auto" }
const askForWords: NextStep = { type: "ask-model", toolChoice: "none" }
const endUndo: NextStep = { type: "end-run", reason: "undo" }
const setAside: NextStep = { type: "give-up", reason: "set_aside" }
const timeIsUp: NextStep = { type: "give-up", reason: "run_timeout" }

const asked = () => staged().asks("Hello?")

const judged = () => asked().step("guardrail", { verdict: "in_scope", score: 90, threshold: 75, reason: "" })
const sources = (ids: string[]) => ({
  kind: "sources",
  sources: ids.map((id) => ({ id, title: id, passage: id })),
})
const found = (...ids: string[]) => judged().calls("read").shows(1, sources(ids))
const graded = (evidence: string, rewrite: string | null) =>
  found("a").step("grading", { evidence, rewrite, grades: [], kept: ["a"], dropped: [], rewrites: 0 })
const again = () =>
  graded("enough", null)
    .calls("read")
    .shows(2, sources(["a"]))
    .step("grading", { evidence: "enough", rewrite: null, grades: [], kept: ["a"], dropped: [], rewrites: 0 })

const rules: [rule: string, conversation: Staged, step: NextStep, agent?: Agent][] = [
  // Idle
  ["a conversation without a run rests", staged(), finish],
  ["a finished run rests", asked().answers("Hello."), finish],
  ["words that wait start a run", staged().waiting(message("Hi")), takeInbox],
  ["words queued behind a finished run are taken", asked().answers("Hello.").waiting(message("More")), takeInbox],
  ["words queued behind a cancelled run are held", asked().ends("cancelled").waiting(message("More")), finish],
  ["words queued behind a failed run are held", asked().ends("failed").waiting(message("More")), finish],
  ["a resume is taken though words are held", asked().ends("cancelled").waiting(message("More"), resume), takeInbox],
  ["a late result is taken though no run works", asked().ends("cancelled").waiting(late), takeInbox],

  // The model's turn
  ["words of a person lead to a model call", asked(), ask],
  ["results of all calls lead to a model call", asked().calls("read").result(1), ask],
  ["an error is a result like any other", asked().calls("read").result(1, "error"), ask],
  ["a rejected write is a result like any other", asked().calls("write").proposes(1).result(1, "rejected"), ask],
  ["a dead attempt is asked again", asked().restarts(), ask],
  ["below the limit tools may be called", staged().asks("?", 2).calls("read").result(1), ask],
  ["at the limit the model must answer", staged().asks("?", 1).calls("read").result(1), askForWords],
  ["a resumed run starts counting anew", staged().asks("?", 1).calls("read").result(1).ends("failed").run(1), ask],

  // Calls
  ["a read runs", asked().calls("read"), runTools],
  ["a call of a tool that does not exist is answered like a read", asked().calls("nonsense"), runTools],
  ["a write is proposed", asked().calls("write"), propose],
  ["reads come before proposals", asked().calls("write", "read"), runTools],
  ["writes are proposed when the reads are over", asked().calls("write", "read").result(2), propose],
  ["all writes that are new are proposed before anyone is asked", asked().calls("write", "write"), propose],
  ["an approved write runs", asked().calls("write").proposes(1).decides(1, "commit"), runTools],
  ["an edited write is proposed anew", asked().calls("write").proposes(1).decides(1, "edit"), propose],
  ["a call that was started by a dead writer is looked into", asked().calls("read").starts(1), recoverCalls],

  // Waiting for a person
  ["an open proposal pauses the run", asked().calls("write").proposes(1), awaitPerson],
  ["results beside an open proposal do not wake it", asked().calls("read", "write").result(1).proposes(2), awaitPerson],
  ["one decision of two runs its write", asked().calls("write", "write").proposes(1, 2).decides(2, "commit"), runTools],
  [
    "the run goes on only when the last proposal is settled",
    asked().calls("write", "write").proposes(1, 2).decides(2, "commit").starts(2).result(2),
    awaitPerson,
  ],
  ["a write in doubt pauses the run", asked().calls("write").proposes(1).decides(1, "commit").doubts(1), awaitTruth],
  [
    "doubt outweighs an open proposal",
    asked().calls("write", "write").proposes(1, 2).decides(2, "commit").starts(2).doubts(2),
    awaitTruth,
  ],
  ["a paused run has all the time of the world", asked().calls("write").proposes(1).wait(1e9), awaitPerson],

  // Input while a run is working
  ["a cancel comes before the model", asked().waiting(cancel), takeInbox],
  ["a cancel comes before the tools", asked().calls("read").waiting(cancel), takeInbox],
  ["a cancel comes before an approved write", approved().waiting(cancel), takeInbox],
  ["a cancel waits until it is known what a dead writer did", approved().starts(1).waiting(cancel), recoverCalls],
  ["a decision wakes a paused run", asked().calls("write").proposes(1).waiting(commit), takeInbox],
  ["queued words wait while a run works", asked().waiting(message("More")), ask],
  ["queued words wait while a run is paused", asked().calls("write").proposes(1).waiting(message("More")), awaitPerson],
  ["steering words enter before the next model call", asked().waiting(message("No!", "steer")), takeInbox],
  ["steering words wait for results", asked().calls("read").waiting(message("No!", "steer")), runTools],
  [
    "steering words do not enter between a proposal and its decision",
    asked().calls("write").proposes(1).waiting(message("No!", "steer")),
    awaitPerson,
  ],

  // Grants
  ["a write that a grant agrees to runs", asked().calls("write").granted(1), runTools],
  [
    "a grant that is taken back asks about what has not begun",
    asked().calls("write").granted(1).revokes(),
    awaitPerson,
  ],
  ["what a grant has begun goes on", asked().calls("write").granted(1).starts(1).revokes(), recoverCalls],
  ["taking back comes before a write that was granted", asked().calls("write").granted(1).waiting(revoke), takeInbox],

  // Untrusted and private data
  ["a read that reaches out runs by itself", asked().calls("fetch"), runTools],
  ["words from outside alone do not gate it", asked().calls("read").brings(1, "outside").calls("fetch"), runTools],
  ["nor does private data alone", asked().calls("read").brings(1, "private").calls("fetch"), runTools],
  ["where both have met it is proposed", walled().calls("fetch"), propose],
  ["however they came", asked().calls("read").brings(1, "both").calls("fetch"), propose],
  ["also in a later run", walled().answers("x").asks("?").calls("fetch"), propose],
  ["a read that stays inside runs all the same", walled().calls("read"), runTools],
  ["reads that stay inside come first", walled().calls("fetch", "read"), runTools],
  ["one that reaches out waits for its decision", walled().calls("fetch").proposes(3), awaitPerson],
  ["and runs when it is agreed to", walled().calls("fetch").proposes(3).decides(1, "commit"), runTools],

  // Undo
  ["an undo is proposed like any write", undoing(), propose],
  ["an undo waits for its decision", undoing().proposes(1), awaitPerson],
  ["an undo that was agreed to runs", undoing().proposes(1).decides(1, "commit"), runTools],
  ["an undo that is done ends without the model", undoing().proposes(1).result(1), endUndo],
  ["an undo that was rejected ends without the model", undoing().proposes(1).result(1, "rejected"), endUndo],
  ["an undo whose tool is gone ends without the model", undoing("nonsense").result(1, "error"), endUndo],
  ["an undo in doubt waits for a person", undoing().proposes(1).decides(1, "commit").doubts(1), awaitTruth],
  ["an undo that is done ends well though its time is up", undoing().proposes(1).wait(180_000).result(1), endUndo],
  ["an undo whose time is up before it was proposed is given up", lateUndo(), timeIsUp],
  ["steering words do not enter an undo", undoing().result(1).waiting(message("No!", "steer")), endUndo],
  ["a cancel reaches an undo", undoing().proposes(1).waiting(cancel), takeInbox],

  // Limits
  ["a step that broke off too often is set aside", asked().restarts().restarts().restarts(), setAside],
  ["one that handed over in good order is not", asked().restarts("handover").restarts("handover").restarts(), ask],
  ["one that stood beside others is not either", asked().dies("shared").dies("shared").dies("shared"), ask],
  ["until it is found out alone", asked().dies("shared").dies("shared").restarts(), setAside],
  ["waiting beside others counts nothing", asked().dies("none").dies("none").dies("none").restarts(), ask],
  ["a provider that breaks off is no death", asked().restarts("provider").restarts("provider").restarts(), ask],
  ["progress starts the count anew", asked().restarts().restarts().calls("read").result(1).restarts(), ask],
  [
    "that a tool has asked the model something is none: it is asked again after each crash",
    asked().calls("read").restarts().step("asked_model", {}).restarts().step("asked_model", {}).restarts(),
    setAside,
  ],
  ["being set aside comes before another try", approved().starts(1).restarts().restarts().restarts(), setAside],
  ["a run whose time is up is ended", asked().calls("read").wait(180_000).result(1), timeIsUp],
  ["a clock that was set by an hour is no work", asked().calls("read").wait(3_600_000).result(1), ask],
  ["a run whose time is up begins no read", asked().wait(180_000).calls("read"), timeIsUp],
  ["a run whose time is up asks nobody", asked().wait(180_000).calls("write"), timeIsUp],
  ["a run whose time is up waits for the decisions it has asked for", timeUp(), awaitPerson],
  ["a run whose time is up does what a person has decided", timeUp().decides(1, "commit"), runTools],
  ["a run whose time is up proposes what a person has edited", timeUp().decides(1, "edit"), propose],
  ["a moment before it goes on", asked().calls("read").wait(179_999).result(1), ask],

  // Choosing tools (an agent without a router asks the model at once, as in all rows above)
  ["words are looked at before the model is asked", asked(), route, router],
  ["a decision that is on record is not made again", asked().routed("a"), ask, router],
  ["also not after a crash", asked().routed("a").restarts(), ask, router],
  ["a crash before it is on record leaves it to be made", asked().restarts(), route, router],
  ["results want no decision", asked().routed("a").calls("read").result(1), ask, router],
  ["words that were let in do", asked().routed("a").calls("read").result(1).words("And?"), route, router],
  ["calls come before it", asked().calls("read").words("And?"), runTools, router],
  ["input comes before it", asked().waiting(cancel), takeInbox, router],
  ["a new run does", asked().routed("a").answers("Hello.").asks("And?"), route, router],
  ["a resumed run goes by what was decided", asked().routed("a").ends("failed").run(), ask, router],
  ["or decides, where nobody had", asked().ends("cancelled").run(), route, router],
  ["a run of before there were decisions goes on without", asked().calls("read").result(1), ask, router],
  ["an undo wants none", undoing(), propose, router],
  // Stages (an agent without stages asks the model at once, as in all rows above)
  ["words are judged before anything", asked(), judge, scholar],
  ["once", judged(), ask, scholar],
  ["also when the run was cancelled before, and goes on", asked().ends("cancelled").run(), judge, scholar],
  ["so are words that were let in", judged().calls("read").result(1).words("And?"), judge, scholar],
  ["the next question is", judged().answers("Hello.").asks("And?"), judge, scholar],
  ["what was found is graded before the model is asked", found("a"), grade, scholar],
  ["a search that found nothing too", found(), grade, scholar],
  ["a result that is no search is not", judged().calls("read").result(1), ask, scholar],
  ["what was graded is not graded again", graded("enough", null), ask, scholar],
  ["thin evidence may be searched for again", graded("thin", "other words"), ask, scholar],
  ["until it may not", graded("thin", null), askForWords, scholar],
  ["passages nobody could grade are no reason to stop", graded("ungraded", null), ask, scholar],
  ["the same passages again are", again(), askForWords, scholar],
  ["cancel comes before a verdict", asked().waiting(cancel), takeInbox, scholar],

  ["a run whose time is up decides nothing", asked().wait(180_000).words("And?"), timeIsUp, router],

  // Journals of a newer version
  ["a journal this build cannot read is left alone", foreign(asked()), finish],
  ["also when input waits", foreign(asked()).waiting(cancel), finish],
]

test.each(rules)("%s", (_rule, { conversation }, step, by = agent) => {
  expect(nextStep(conversation, by, limits)).toEqual(step)
})

function approved(): Staged {
  return asked().calls("write").proposes(1).decides(1, "commit")
}

function walled(): Staged {
  return asked().calls("read", "read").brings(1, "outside").brings(2, "private")
}

function undoing(tool = "write"): Staged {
  return staged().undoes().words("Undo: Write.").calls(tool)
}

function lateUndo(): Staged {
  return staged().undoes().wait(180_000).words("Undo: Write.").calls("write")
}

function timeUp(): Staged {
  return asked().calls("write").wait(180_000).proposes(1)
}

function foreign(conversation: Staged): Staged {
  conversation.conversation.hasUnknownEvents = true
  return conversation
}
