import { useProgramWords } from "./composer/program-note.tsx"
import { useExpired } from "../proposal/expired.ts"
import type { Unwritten } from "../state/use-unwritten.ts"

const SAYS: Record<Unwritten["status"], string> = {
  active: "The reply is complete.",
  running: "Pawl is at work.",
  awaiting_confirmation: "A change waits for your decision.",
  failed: "The run has failed.",
}

/** Says aloud how things stand. The text itself is not read out piece by piece: it is there when it is whole. */
export function Announcer({ transcript }: { readonly transcript: Unwritten }) {
  const { status, items, isSummingUp } = transcript
  const program = useProgramWords(transcript)
  const open = items.flatMap((item) => {
    return item.type === "proposal" && item.proposal.status === "pending" ? [item.proposal] : []
  })
  const expired = useExpired(open)
  const isOver = status === "awaiting_confirmation" && open.length > 0 && open.every(({ id }) => expired.has(id))
  const stands = status === "running" && isSummingUp ? "What was said is being summed up." : SAYS[status]
  const waits = open.length === 0 && program !== undefined ? program : stands
  const says = isOver ? "What waited for your decision has expired. It can be proposed again." : waits
  return (
    <p role="status" className="sr-only">
      {items.length === 0 ? "" : says}
    </p>
  )
}
