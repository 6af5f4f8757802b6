import { z } from "zod"
import type { AgUiResume } from "../../protocol/dialects/ag-ui.ts"
import { failure } from "../../protocol/errors.ts"
import { isId, type ProposalId } from "../../protocol/ids.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import { JsonObject } from "../../protocol/schema.ts"
import { lazily } from "../../protocol/lazily.ts"

/** What a person answers to something that waits. */
export type InterruptAnswer =
  | { readonly type: "approve" }
  | { readonly type: "reject"; readonly reason?: string | undefined }
  | { readonly type: "edit"; readonly edited: JsonObject }
  | { readonly type: "resolve"; readonly choice: "retry" | "done" | "abandon" }

const reason = { type: "string", description: "Why not." }
const editedArgs = { type: "object", description: "Other arguments, which are proposed in the place of these." }

/** What may be answered to a proposal, and to a write of which nobody knows whether it was done. */
const TO_PROPOSAL = {
  type: "object",
  properties: { approved: { type: "boolean" }, reason, editedArgs },
  required: ["approved"],
}
const TO_DOUBT = {
  type: "object",
  properties: { choice: { type: "string", enum: ["retry", "done", "abandon"] } },
  required: ["choice"],
}

/** A proposal as AG-UI has an agent ask. Its id is ours: whoever decides it first, by whichever door, decides it. */
export function toInterrupt(proposal: Proposal, isDoubtful: boolean): object {
  const { id, callId, summary, expiresAt } = proposal
  const about = { id, message: summary, toolCallId: callId, metadata: { proposal } }
  if (isDoubtful) return { ...about, reason: "pawl:in_doubt", responseSchema: TO_DOUBT }
  return { ...about, reason: "tool_call", responseSchema: TO_PROPOSAL, expiresAt }
}

const Payload = lazily(() =>
  z.union([
    z.object({ choice: z.enum(["retry", "done", "abandon"]) }),
    z.object({ approved: z.boolean(), reason: z.string().max(2000).nullish(), editedArgs: JsonObject.nullish() }),
  ]),
)

/** What an entry says about a proposal. One that is cancelled is not agreed to. */
export function decisionIn({ status, payload }: AgUiResume, field: string, isDoubtful: boolean): InterruptAnswer {
  if (status === "cancelled") return isDoubtful ? { type: "resolve", choice: "abandon" } : { type: "reject" }
  const { data } = Payload.safeParse(payload)
  if (!data)
    throw problem(`${field}.payload: send {approved: true}, {approved: false, reason} or {approved, editedArgs}`)
  if ("choice" in data) return { type: "resolve", choice: data.choice }
  if (isDoubtful) throw problem(`${field}.payload: it is not known whether this was done; send {choice}`)
  if (!data.approved) return { type: "reject", reason: data.reason ?? undefined }
  return data.editedArgs ? { type: "edit", edited: data.editedArgs } : { type: "approve" }
}

/** The proposal that an entry is about. Throws `not_found` for what can be none. */
export function proposalIdOf({ interruptId }: AgUiResume): ProposalId {
  if (!isId("prop", interruptId)) throw failure("not_found")
  return interruptId
}

const problem = (text: string) => failure("bad_request", { problem: `${text}.` })
