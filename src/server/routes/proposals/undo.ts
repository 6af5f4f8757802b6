import type { Context, Hono } from "hono"
import type { UndoInput } from "../../../agent/input.ts"
import { AppError, failure, hasCode } from "../../../protocol/errors.ts"
import type { JournalEvent } from "../../../protocol/events.ts"
import { newId, type ProposalId } from "../../../protocol/ids.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { doneBy, userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { conversationOf, findAudit } from "../../conversation/find.ts"
import type { ConversationPorts } from "../../conversation/ports.ts"
import { proposedIn } from "../../conversation/decide-proposal.ts"
import { serveRoute } from "../../request/serve-route.ts"
import { waitForEvent } from "../../conversation/wait-for-event.ts"

/** Taking back what was done: proposes the inverse, which a person then decides like any other write. */
export function undoRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  serveRoute(app, routes.undoWrite, async (c) => {
    const { runtime, proposals } = ports
    const { id, conversationId, inverse, summary, undoneBy } = await findAudit(c, ports)
    if (!inverse) throw failure("not_undoable", { id, problem: "its tool says that nothing takes this back." })
    if (undoneBy) throw await conflict(c, ports, failure("already_undone", { id, by: undoneBy, status: "applied" }))
    const callId = newId("call", userOf(c), ports.clock.now())
    const seen = watchProposal(callId)
    const { position } = await conversationOf(ports, userOf(c), conversationId)
    using watching = waitForEvent(ports, { id: conversationId, position }, seen.happens)
    const input: UndoInput = { type: "undo", auditId: id, summary, callId, inverse, ...doneBy(c) }
    await runtime.submit(conversationId, input).catch(async (error: unknown) => {
      throw hasCode(error, "already_undone") ? await conflict(c, ports, error as AppError) : error
    })
    await watching.over()
    const made = seen.proposal && (await proposals.find(userOf(c), seen.proposal))
    if (!made) throw failure("not_undoable", { id, problem: seen.problem })
    return made
  })
}

/** Waits until the call is proposed, or has ended without: its target is gone, or its tool is. */
function watchProposal(callId: UndoInput["callId"]) {
  const seen = {
    proposal: undefined as ProposalId | undefined,
    problem: "it could not be proposed.",
    happens(event: JournalEvent): boolean {
      seen.proposal ??= proposedIn(event).find((proposed) => proposed.callId === callId)?.id
      const ended = event.type === "tool_end" && event.callId === callId
      if (ended) seen.problem = event.text
      return seen.proposal !== undefined || ended
    },
  }
  return seen
}

/** A second caller is told which proposal was first, and its status. */
async function conflict(c: Context<Env>, { proposals }: ConversationPorts, error: AppError): Promise<AppError> {
  const proposal = await proposals.find(userOf(c), error.details.by as ProposalId)
  return new AppError(error.code, error.message, { ...error.details, proposal })
}
