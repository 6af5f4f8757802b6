import { expect, test } from "vitest"
import type { AuditId } from "../../protocol/ids.ts"
import type { ActionClass } from "../../protocol/proposals/proposal.ts"
import { automaticApprover, isDenied } from "./policy.ts"
import { ADA, type Staged, staged } from "../staged.fixture.ts"

const asked = (mode: "read-only" | "confirm" | "auto") => staged().add({ type: "settings", mode }).asks("?")

/** A conversation with two grants for `write` with an action of this class. */
function granted(action: ActionClass, uses = 2): Staged {
  const story = asked("confirm").calls("write")
  story.add({ type: "awaiting_confirmation", proposals: [{ ...story.proposed(1), action }] })
  return story.grants(1, uses).starts(1).result(1)
}

const rules: [rule: string, conversation: Staged, action: ActionClass, approver: "policy" | "grant" | undefined][] = [
  ["confirm asks", asked("confirm"), "safe_create", undefined],
  ["auto does not", asked("auto"), "destructive_delete", "policy"],
  ["read-only never agrees", asked("read-only"), "safe_create", undefined],
  ["a grant agrees to what was shown", granted("safe_update"), "safe_update", "grant"],
  ["a grant agrees to something milder", granted("safe_update"), "safe_create", "grant"],
  ["a grant does not agree to something worse", granted("safe_update"), "destructive_update", undefined],
  ["a grant of changes deletes nothing", granted("destructive_update"), "destructive_delete", undefined],
  ["a grant of deletions deletes", granted("destructive_delete"), "destructive_delete", "grant"],
  [
    "a grant that is used up asks again",
    granted("safe_create", 1).calls("write").granted(2).result(2),
    "safe_create",
    undefined,
  ],
  [
    "a grant with something left does not",
    granted("safe_create").calls("write").granted(2).result(2),
    "safe_create",
    "grant",
  ],
  ["a grant that was taken back asks again", granted("safe_create").revokes(), "safe_create", undefined],
  ["one taken back for this tool too", granted("safe_create").revokes("write"), "safe_create", undefined],
  ["one taken back for another tool stays", granted("safe_create").revokes("other"), "safe_create", "grant"],
  [
    "read-only beats a grant",
    granted("safe_create").add({ type: "settings", mode: "read-only" }),
    "safe_create",
    undefined,
  ],
  ["an undo is asked about in auto", undoing(asked("auto")), "safe_create", undefined],
  ["an undo is asked about though it is granted", undoing(granted("safe_create")), "safe_create", undefined],
  ["the wall beats auto", wall(asked("auto")), "safe_create", undefined],
  ["the wall beats a grant", wall(granted("safe_create")), "safe_create", undefined],
]

test.each(rules)("%s", (_rule, { conversation }, action, approver) => {
  expect(automaticApprover(conversation, { tool: "write", action }, { forbidAuto: false })).toBe(approver)
})

test("nothing is granted after untrusted text and private data, also if the decision was queued", () => {
  const story = asked("confirm").calls("read", "write").brings(1, "both").proposes(2).grants(1, 5)
  expect([...story.conversation.grants]).toEqual([])
})

test("if the operator forbids auto mode, writes are not approved automatically in any mode", () => {
  const { conversation } = asked("auto")
  expect(
    automaticApprover(conversation, { tool: "write", action: "safe_create" }, { forbidAuto: true }),
  ).toBeUndefined()
})

test("a grant is for one tool", () => {
  const { conversation } = granted("safe_create")
  expect(
    automaticApprover(conversation, { tool: "other", action: "safe_create" }, { forbidAuto: false }),
  ).toBeUndefined()
})

test("read-only denies writes and nothing else", () => {
  const table = (["read-only", "confirm", "auto"] as const).flatMap((mode) =>
    (["read", "write"] as const).map((effect) => [mode, effect, isDenied({ mode }, { effect })]),
  )
  expect(table.filter(([, , denied]) => denied)).toEqual([["read-only", "write", true]])
})

function undoing(story: Staged): Staged {
  return story.ends("completed").add({
    ...{ type: "run_started", runId: `run_${ADA}` as never, maxIterations: 1 },
    undoes: "aud_1" as AuditId,
  })
}

function wall(story: Staged): Staged {
  story.conversation.hasSeen.outside = true
  story.conversation.hasSeen.private = true
  return story
}

test("a write that always needs a person is proposed in auto mode and despite a grant", () => {
  for (const { conversation } of [asked("auto"), granted("destructive_delete")]) {
    const about = { tool: "write", action: "safe_create" } as const
    expect(automaticApprover(conversation, { ...about, insists: true }, { forbidAuto: false })).toBeUndefined()
    expect(automaticApprover(conversation, about, { forbidAuto: false })).toBeDefined()
  }
})
