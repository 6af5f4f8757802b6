import { Button } from "../parts/button.tsx"
import { explain } from "../parts/explain.ts"
import { useTryAgain } from "../state/when-back.ts"
import { IssuerButton } from "./issuer-button.tsx"
import { Mark } from "./mark.tsx"

interface DoorProps {
  readonly error?: unknown
  readonly onRetry?: () => void
  /** `half`: the cookie is there, and what this page has kept beside it is not. */
  readonly why?: "half" | undefined
}

/** For whoever is not signed in: how to come in. */
export function Door({ error, onRetry, why }: DoorProps) {
  useTryAgain(error, () => onRetry?.())
  return (
    <main className="grid min-h-full place-items-center p-6">
      <div className="w-full max-w-md">
        <Mark className="mb-6 size-11" />
        <h1 className="mb-3 font-serif text-3xl tracking-tight">
          {onRetry ? "Pawl cannot be reached" : "Sign in to Pawl"}
        </h1>
        {onRetry ? (
          <>
            <p className="mb-5 text-soft">{explain(error)} The page comes by itself when the server is back.</p>
            <Button look="main" onClick={onRetry}>
              Try now
            </Button>
          </>
        ) : (
          <div className="space-y-3 text-soft">
            {why === "half" && (
              <p role="status" className="text-ink">
                This browser was signed in, but what this page had stored for it is gone: it was cleared, or it is from
                an earlier version. Please sign in again; nothing else is lost.
              </p>
            )}
            <IssuerButton />
            <p>There are no passwords here. You come in with a link that works once, for fifteen minutes.</p>
            <p>
              Whoever started the server finds one where it was started. For a new one, or for somebody else, run this
              beside the server and open what it prints:
            </p>
            <pre className="overflow-x-auto rounded-xl border border-line bg-surface px-4 py-3 font-mono text-sm text-ink">
              npx pawl invite --user NAME
            </pre>
          </div>
        )}
      </div>
    </main>
  )
}
