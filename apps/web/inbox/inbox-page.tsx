import type { Proposal } from "../../../core/protocol/index.ts"
import { Link } from "../components/button.tsx"
import { Plain } from "../components/plain.tsx"
import { useDismissed } from "../proposal/expiry.ts"
import { ProposalCard } from "../proposal/proposal-card.tsx"
import { LoadProblem } from "../components/use-loaded.tsx"
import { EmptyPage, TextPage } from "../shell/page-header.tsx"
import { feed } from "../state/feed.ts"
import { useStore } from "../state/store.ts"
import { refresh, useWaiting } from "./waiting-proposals.tsx"
import { rich, t } from "../strings/strings.ts"

/** Everything that waits for the person, across all conversations, to be decided in place. */
export function InboxPage() {
  const { proposals: all, isKnown, problem } = useWaiting()
  const isDismissed = useDismissed()
  const proposals = all.filter((each) => !isDismissed(each))
  const { conversations } = useStore(feed).list
  const titles = new Map(conversations.map(({ id, title }) => [id as string, title]))
  const groups = Map.groupBy(proposals, ({ conversationId }) => conversationId as string)
  return (
    <TextPage title={t("inbox.title")}>
      <LoadProblem problem={problem} onRetry={refresh} />
      {isKnown && proposals.length === 0 && <EmptyPage title={t("inbox.empty")} hint={t("inbox.emptyHint")} />}
      {[...groups].map(([conversationId, own]) => (
        // No landmark: several conversations can have one title, and landmarks need names of their own.
        <div key={conversationId} role="group" aria-labelledby={`waits-${conversationId}`} className="mb-6">
          <p id={`waits-${conversationId}`} className="truncate text-[13px] text-faint">
            {rich("inbox.inConversation", {
              title: <Plain text={titles.get(conversationId) ?? t("common.untitled")} />,
              link: (title) => (
                <Link to={`/c/${conversationId}`} className="text-accent underline underline-offset-2">
                  {title}
                </Link>
              ),
            })}
          </p>
          {own.map((proposal) => (
            <ProposalCard key={proposal.id} item={toItem(proposal)} call={undefined} />
          ))}
        </div>
      ))}
    </TextPage>
  )
}

const toItem = (proposal: Proposal) =>
  ({ type: "proposal", key: proposal.id, proposal, decidedBy: null, reason: null }) as const
