import { expect, it } from "vitest"
import { emptyConversation } from "../empty-conversation.ts"
import type { ConversationId, UserId } from "../../protocol/ids.ts"
import { withPersonContext } from "./person-context.ts"

it("has the same date for UTC, which is computed without Intl, as for an alias of UTC", () => {
  const hours = Array.from({ length: 1500 }, (_, index) => Date.UTC(2028, 0, 1) + index * 3_600_000) // a leap day is among them
  for (const at of hours) expect(contextAt("UTC", at)).toBe(contextAt("Etc/UCT", at).replace("Etc/UCT", "UTC"))
  expect(contextAt("UTC", Date.UTC(2028, 1, 29, 23, 59))).toContain("Today is Tuesday, 2028-02-29 for the person")
})

function contextAt(zone: string, at: number): string {
  const conversation = emptyConversation("cnv_1" as ConversationId, "usr_1" as UserId)
  conversation.at = at
  return withPersonContext("", conversation, zone)
}
