import type { Transcript } from "../../src/client/index.ts"

const SAYS: Record<Transcript["status"], string> = {
  active: "The reply is complete.",
  running: "Pawl is at work.",
  awaiting_confirmation: "A change waits for your decision.",
  failed: "The run has failed.",
}

/** Says aloud how things stand. The text itself is not read out piece by piece: it is there when it is whole. */
export function Announcer({ transcript: { status, items } }: { readonly transcript: Transcript }) {
  return (
    <p role="status" className="sr-only">
      {items.length === 0 ? "" : SAYS[status]}
    </p>
  )
}
