import type { Proposal } from "../../src/protocol/index.ts"
import { Link } from "../parts/link.tsx"
import { Plain } from "../parts/plain.tsx"
import { ProposalCard } from "../proposal/proposal-card.tsx"
import { UNTITLED } from "../shell/conversation-entry.tsx"
import { Trouble } from "../parts/trouble.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { feed } from "../state/feed.ts"
import { useStore } from "../state/store.ts"
import { refresh, useWaiting } from "./waiting.ts"

/** Everything that waits for the person, across all conversations, to be decided where it is shown. */
export function InboxPage() {
  const { proposals, isKnown, problem } = useWaiting()
  const { conversations } = useStore(feed).list
  const titles = new Map(conversations.map(({ id, title }) => [id as string, title]))
  const groups = Map.groupBy(proposals, ({ conversationId }) => conversationId as string)
  return (
    <>
      <PageHeader title="Inbox" />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto w-full max-w-3xl px-3 pb-8 md:px-6">
          <Trouble problem={problem} onRetry={refresh} />
          {isKnown && proposals.length === 0 && (
            <div className="pt-[20vh] text-center">
              <h2 className="mb-2 font-serif text-2xl">Nothing waits for you</h2>
              <p className="text-soft">Changes that an assistant wants to make are shown here before they are made.</p>
            </div>
          )}
          {[...groups].map(([conversationId, own]) => (
            <section key={conversationId} aria-label="Waiting in a conversation" className="mb-6">
              <p className="truncate text-[13px] text-faint">
                In{" "}
                <Link to={`/c/${conversationId}`} className="text-accent underline underline-offset-2">
                  <Plain text={titles.get(conversationId) ?? UNTITLED} />
                </Link>
              </p>
              {own.map((proposal) => (
                <ProposalCard key={proposal.id} item={toItem(proposal)} call={undefined} />
              ))}
            </section>
          ))}
        </div>
      </div>
    </>
  )
}

const toItem = (proposal: Proposal) =>
  ({ type: "proposal", key: proposal.id, proposal, decidedBy: null, reason: null }) as const
