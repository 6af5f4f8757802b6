import * as words from "./text.ts"
import { z } from "zod"
import { toResult, defineMcpTool } from "./tool.ts"
import { conversationOf, PassageSearch, proposalOf, searchNotice } from "../../core/adapter.ts"
import {
  type ConversationId,
  ConversationQuery,
  failure,
  isId,
  MIN_NOTE_SCORE,
  type ProposalId,
  ProposalStatus,
} from "../../core/protocol/index.ts"

const Cursor = z.string().max(200).optional().describe("`next_cursor` of the page before")
const limit = (most: number) => z.number().int().min(1).max(most).default(20).describe("How many at most")

export const listConversations = defineMcpTool({
  name: "list_conversations",
  title: "List conversations",
  description:
    "The person's conversations with agents, the newest first; with `search` those whose title has these words.",
  needs: "read",
  reads: true,
  input: z.strictObject({
    search: ConversationQuery.shape.search.describe("Only those whose title has these words"),
    cursor: Cursor,
    limit: limit(100),
  }),
  async run({ search, cursor, limit: most }, { caller, ports }) {
    const { items, nextCursor } = await ports.conversations.list(caller.person.id, { search, cursor, limit: most })
    const lines = items.map(words.conversationLine)
    // A page of a search covers a number of titles: an empty page may be followed by matches.
    const more = nextCursor === null ? "" : " Older ones were not searched: continue with next_cursor."
    const none = search === undefined ? "There are no conversations." : `No title has these words.${more}`
    return toResult(lines.join("\n") || none, {
      conversations: items.map(({ id, title, agent, status, updatedAt }) => ({ id, title, agent, status, updatedAt })),
      next_cursor: nextCursor,
    })
  },
})

export const readTranscript = defineMcpTool({
  name: "read_conversation",
  title: "Read a conversation",
  description: "The messages of a conversation, oldest first: the newest, or those before one of them.",
  needs: "read",
  reads: true,
  input: z.strictObject({
    conversation: z.string().max(100).describe("Its id, such as conv_…"),
    before: z.number().int().min(1).optional().describe("Only messages before this number"),
    limit: limit(100),
  }),
  async run({ conversation, before, limit: most }, { caller, ports }) {
    const found = await conversationOf(ports, caller.person.id, toConversationId(conversation))
    const { items } = await ports.conversations.messages(found.id, { before, limit: most })
    // The newest messages that fit.
    const shownLines = words.firstThatFit(items.toReversed(), words.messageLine).toReversed()
    const open = await ports.proposals.open(found.id)
    const first = shownLines[0]?.seq ?? 1
    const waits = open.length > 0 ? ["Waiting for the person's decision:", ...open.map(words.proposalLine)] : []
    return toResult([words.conversationLine(found), ...shownLines.map(words.messageLine), ...waits].join("\n"), {
      ...{ id: found.id, agent: found.agent, status: found.status },
      messages: shownLines.map(({ seq, role }) => ({ seq, role })),
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
  input: z.strictObject({ status: ProposalStatus.default("pending"), cursor: Cursor, limit: limit(100) }),
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
  input: z.strictObject({ proposal: z.string().max(100).describe("Its id, such as prop_…") }),
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

const Query = z.string().trim().min(1).max(2000).describe("What it should be about, in any words")

export const searchNotesTool = defineMcpTool({
  name: "search_notes",
  title: "Search notes",
  description: "The person's notes on this server by meaning, best first.",
  needs: "read",
  reads: true,
  input: z.strictObject({ query: Query, limit: z.number().int().min(1).max(20).default(5) }),
  async run({ query, limit }, { caller, ports, signal }) {
    const { embedder, workspaces } = ports
    const workspace = workspaces.of(caller.person.id)
    const [numbers] = await embedder.embed([query], signal)
    const near = await workspace.nearest({ embedder: embedder.name, numbers: [...numbers!] }, { limit })
    const notes = await Promise.all(
      near.filter(({ score }) => score >= MIN_NOTE_SCORE).map(({ id }) => workspace.get("notes", id)),
    )
    const found = notes.flatMap((note) => (note ? [note] : []))
    const toText = ({ id, title, content }: (typeof found)[number]) =>
      `${id}: ${words.toShortLine(title)}\n${words.toShortLine(content)}`
    const { waiting = 0 } = (await workspace.indexing?.()) ?? {}
    const unfinished = waiting > 0 ? [`${waiting} note(s) are still being indexed; ask again in a while.`] : []
    return toResult([...found.map(toText), ...unfinished].join("\n") || "No notes found.", {
      notes: found.map(({ id, title, content }) => ({ id, title, content: content.slice(0, 4000) })),
    })
  },
})

export const searchLibraryTool = defineMcpTool({
  name: "search_library",
  title: "Search the library",
  description: "Passages of the person's documents, by words and by meaning, best first.",
  needs: "read",
  reads: true,
  input: z.strictObject({
    query: Query,
    from: PassageSearch.shape.from.describe("Only documents from this date on, such as 2024 or 2024-05"),
    to: PassageSearch.shape.to.describe("Only documents up to this date"),
    limit: z.number().int().min(1).max(50).default(10),
  }),
  async run(search, { caller, ports, signal }) {
    const found = await ports.library.search(caller.person.id, search, signal)
    const shownLines = words.firstThatFit(found.items, words.passageLine)
    const notice = searchNotice(found) ?? []
    return toResult([...shownLines.map(words.passageLine)].concat(notice).join("\n\n") || "Nothing found.", {
      passages: shownLines.map(({ id, documentId, title, source }) => ({ id, documentId, title, source })),
    })
  },
})
