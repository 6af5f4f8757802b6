import { z } from "zod"
import { toResult } from "../../../dialects/mcp/result.ts"
import * as words from "../../../dialects/mcp/words.ts"
import { failure } from "../../../protocol/errors.ts"
import { type ConversationId, isId, type ProposalId } from "../../../protocol/ids.ts"
import { ProposalStatus } from "../../../protocol/proposals/proposal.ts"
import { ConversationQuery } from "../../../protocol/requests.ts"
import { conversationOf, proposalOf } from "../../conversation/find.ts"
import { defineMcpTool } from "./tool.ts"
import { lazily } from "../../../protocol/lazily.ts"

const Cursor = lazily(() => z.string().max(200).optional().describe("`next_cursor` of the page before"))
const limit = (most: number) => z.number().int().min(1).max(most).default(20).describe("How many at most")

export const listConversations = defineMcpTool({
  name: "list_conversations",
  title: "List conversations",
  description:
    "The person's conversations with agents, the newest first; with `search` those whose title has these words.",
  needs: "read",
  reads: true,
  input: lazily(() =>
    z.strictObject({
      search: ConversationQuery.shape.search.describe("Only those whose title has these words"),
      cursor: Cursor,
      limit: limit(100),
    }),
  ),
  async run({ search, cursor, limit: most }, { caller, ports }) {
    const { items, nextCursor } = await ports.conversations.list(caller.person.id, { search, cursor, limit: most })
    const lines = items.map(words.conversationLine)
    // A page of a search has looked at so many titles: where it found nothing, there may be more behind it.
    const more = nextCursor === null ? "" : " Older ones were not looked at: go on with next_cursor."
    const none = search === undefined ? "There are no conversations." : `No title has these words.${more}`
    return toResult(lines.join("\n") || none, {
      conversations: items.map(({ id, title, agent, status, updatedAt }) => ({ id, title, agent, status, updatedAt })),
      next_cursor: nextCursor,
    })
  },
})

export const readConversation = defineMcpTool({
  name: "read_conversation",
  title: "Read a conversation",
  description: "What was said in a conversation, oldest first: its newest messages, or those before one of them.",
  needs: "read",
  reads: true,
  input: lazily(() =>
    z.strictObject({
      conversation: z.string().max(100).describe("Its id, such as conv_…"),
      before: z.number().int().min(1).optional().describe("Only messages before this number"),
      limit: limit(100),
    }),
  ),
  async run({ conversation, before, limit: most }, { caller, ports }) {
    const found = await conversationOf(ports, caller.person.id, toConversationId(conversation))
    const { items } = await ports.conversations.messages(found.id, { before, limit: most })
    // The newest that fit: what was said last counts most.
    const told = words.firstThatFit(items.toReversed(), words.messageLine).toReversed()
    const open = await ports.proposals.open(found.id)
    const first = told[0]?.seq ?? 1
    const waits = open.length > 0 ? ["Waiting for the person's decision:", ...open.map(words.proposalLine)] : []
    return toResult([words.conversationLine(found), ...told.map(words.messageLine), ...waits].join("\n"), {
      ...{ id: found.id, agent: found.agent, status: found.status },
      messages: told.map(({ seq, role }) => ({ seq, role })),
      proposals: open.map(({ id }) => id),
      next_before: first > 1 ? first : null,
    })
  },
})

export const listProposals = defineMcpTool({
  name: "list_proposals",
  title: "List proposals",
  description: "Changes that agents have proposed: those that wait for the person, or those of another status.",
  needs: "read",
  reads: true,
  input: lazily(() => z.strictObject({ status: ProposalStatus.default("pending"), cursor: Cursor, limit: limit(100) })),
  async run({ status, cursor, limit: most }, { caller, ports, page }) {
    const { items, nextCursor } = await ports.proposals.list(caller.person.id, { status, cursor, limit: most })
    const where = status === "pending" && items.length > 0 ? [`The person decides at ${page}/inbox.`] : []
    return toResult([...items.map(words.proposalLine), ...where].join("\n") || `There are none (${status}).`, {
      proposals: items.map(({ id, summary, conversationId, expiresAt }) => ({
        id,
        summary,
        conversationId,
        expiresAt,
      })),
      next_cursor: nextCursor,
    })
  },
})

export const readProposal = defineMcpTool({
  name: "read_proposal",
  title: "Read a proposal",
  description: "One proposed change in full: what would be done, with before and after, and what has become of it.",
  needs: "read",
  reads: true,
  input: lazily(() => z.strictObject({ proposal: z.string().max(100).describe("Its id, such as prop_…") })),
  async run({ proposal }, { caller, ports, page }) {
    if (!isId("prop", proposal)) throw failure("not_found")
    const found = await proposalOf(ports, caller.person.id, proposal satisfies ProposalId)
    const where = found.status === "pending" ? `\nThe person decides at ${page}/c/${found.conversationId}.` : ""
    return toResult(words.proposalInFull(found) + where, { id: found.id, status: found.status, summary: found.summary })
  },
})

export function toConversationId(text: string): ConversationId {
  if (!isId("conv", text)) throw failure("not_found")
  return text
}
