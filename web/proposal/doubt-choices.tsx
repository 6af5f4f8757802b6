import type { Proposal } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { client } from "../state/client.ts"
import { useDecide } from "./decide.ts"

const CHOICES = [
  { choice: "done", name: "It was done", look: "plain" },
  { choice: "retry", name: "Do it again", look: "plain" },
  { choice: "abandon", name: "Leave it", look: "quiet" },
] as const

/** It began, and nobody can say whether it was done. Only the person can look. */
export function DoubtChoices({ proposal }: { readonly proposal: Proposal }) {
  const params = { id: proposal.id }
  const [isSent, send] = useDecide(proposal)
  return (
    <footer className="space-y-3 border-t border-line bg-warn-soft px-4 py-3 text-sm text-warn [border-radius:0_0_1rem_1rem]">
      <p>
        This was begun and broke off, and nobody here can tell whether it happened. Look for yourself, then say: was it
        done, shall it be tried again (it may then be there twice), or left as it is?
      </p>
      <div className="flex flex-wrap gap-2">
        {CHOICES.map(({ choice, name, look }) => (
          <Button
            key={choice}
            look={look}
            disabled={isSent}
            onClick={() => send(() => client.resolveProposal({ params, body: { choice } }))}
          >
            {name}
          </Button>
        ))}
      </div>
    </footer>
  )
}
