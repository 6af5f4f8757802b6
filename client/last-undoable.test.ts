import { expect, test } from "vitest"
import type { AuditEntry } from "../core/protocol/proposals/proposal.ts"
import { lastUndoable } from "./last-undoable.ts"

const entry = (id: string, more: Partial<AuditEntry> = {}) =>
  ({
    id,
    conversationId: "conv_1",
    tool: "write_file",
    undoable: true,
    undoneBy: null,
    undoes: null,
    ...more,
  }) as AuditEntry
const command = entry("audit_2", { tool: "run_command", undoable: false, summary: "Run rm -rf src" })

test("the newest change that can be undone, with a warning if a command has run since", () => {
  const change = entry("audit_1")
  expect(lastUndoable([change], "conv_1")).toEqual({ entry: change, warning: undefined })
  const says = "Not undone: Run rm -rf src. /undo cannot restore what a command changes."
  expect(lastUndoable([command, change], "conv_1")).toEqual({ entry: change, warning: says })
  expect(lastUndoable([command], "conv_1")).toEqual({ entry: undefined, warning: says })
  expect(lastUndoable([change, command], "conv_1").warning).toBe(undefined)
  expect(lastUndoable([command, change], "conv_2")).toEqual({ entry: undefined, warning: undefined })
})
