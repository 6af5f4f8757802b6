import { useSyncExternalStore } from "react"
import { hasCode } from "../../src/client/index.ts"
import { Trouble } from "../parts/trouble.tsx"
import { MissingPage } from "../shell/missing-page.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { useFollowedRun } from "./followed-run.ts"
import { RunView } from "./run-view.tsx"
import { headWords } from "./run-words.ts"
import { sharedRun } from "./shared-run.ts"

/** A run that somebody has shared: the secret stands behind the #, and another one there is another run. */
export function SharedRunPage() {
  const secret = useSyncExternalStore(subscribe, () => location.hash.slice(1))
  return secret === "" ? <Gone /> : <Shared key={secret} secret={secret} />
}

function subscribe(listener: () => void): () => void {
  window.addEventListener("hashchange", listener)
  return () => window.removeEventListener("hashchange", listener)
}

const Gone = () => (
  <MissingPage says="There is nothing here. Its owner may have taken the link back, or it has expired." />
)

function Shared({ secret }: { readonly secret: string }) {
  const { run, rows, problem, refresh } = useFollowedRun(() => sharedRun(secret))
  if (hasCode(problem, "not_found") || hasCode(problem, "bad_request")) return <Gone />
  return (
    <>
      <PageHeader
        title="A run that was shared with you"
        under={run && <p className="truncate text-[13px] text-faint">{headWords(run)}</p>}
      />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto w-full max-w-4xl px-3 pb-10 md:px-6">
          <Trouble problem={problem} onRetry={refresh} />
          {run ? (
            <>
              <p className="mb-3 text-sm text-soft">
                Somebody on this server has shared this run. You see this run only, and it is only to be looked at.
              </p>
              <RunView run={run} rows={rows} />
            </>
          ) : (
            problem === undefined && <p className="pt-6 text-sm text-soft">Reading what was recorded …</p>
          )}
        </div>
      </div>
    </>
  )
}
