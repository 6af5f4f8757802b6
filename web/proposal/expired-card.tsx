import { RotateCcw } from "../icons/arrows.ts"
import { Clock } from "../icons/signs.ts"
import { useRef } from "react"
import type { Proposal } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { Plain } from "../parts/plain.tsx"
import { client } from "../state/client.ts"
import { useDecide } from "./decide.ts"
import { useSeen } from "./expired.ts"
import { Shown } from "./shown.tsx"

/** Nobody decided in time: what it was, and the one click that proposes it again. */
export function ExpiredCard({ proposal }: { readonly proposal: Proposal }) {
  const [isSent, send] = useDecide(proposal)
  const element = useRef<HTMLElement>(null)
  useSeen(proposal, element)
  const heading = `proposal-${proposal.id}`
  return (
    <section ref={element} aria-labelledby={heading} className="my-3 rounded-2xl border border-line bg-surface">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3">
        <div className="min-w-0 flex-1 basis-60">
          <p className="flex items-center gap-1.5 text-xs font-semibold text-soft">
            <Clock className="size-3.5" aria-hidden="true" /> Expired
          </p>
          <h2 id={heading} className="font-medium [overflow-wrap:anywhere]">
            <Plain text={proposal.title ?? proposal.summary} />
          </h2>
          <p className="text-[13px] text-soft">Nobody decided in time, and nothing was done.</p>
        </div>
        <Button disabled={isSent} onClick={() => send(() => client.proposeAgain({ params: { id: proposal.id } }))}>
          <RotateCcw className="size-3.5" /> Propose again
        </Button>
      </div>
      <details className="border-t border-line px-4 py-2.5 text-[13px]">
        <summary className="w-fit rounded text-faint hover:text-ink">What it would have done</summary>
        <div className="mt-2 space-y-4">
          <Shown proposal={proposal} />
        </div>
      </details>
    </section>
  )
}
