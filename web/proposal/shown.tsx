import type { Proposal } from "../../src/protocol/index.ts"
import { Arguments, Sent } from "./arguments.tsx"
import { Changes } from "../changes/changes.tsx"

/** What a proposal changes, once: what is sent follows in full for whoever opens it. */
export function Shown({ proposal }: { readonly proposal: Proposal }) {
  return (
    <>
      {proposal.diff && <Changes diff={proposal.diff} />}
      <Sent proposal={proposal} />
      <Arguments tool={proposal.tool} given={proposal.arguments} />
    </>
  )
}
