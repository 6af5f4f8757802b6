import { useSyncExternalStore } from "react"
import { hasCode } from "../../../client/index.ts"
import { LoadProblem } from "../components/use-loaded.tsx"
import { MissingPage, TextPage } from "../shell/page-header.tsx"
import { sharedRun, useFollowedRun } from "./followed-run.ts"
import { RunView } from "./run-view.tsx"
import { describeRun } from "./describe-run.ts"
import { t } from "../strings/strings.ts"

/** A shared run: the secret is in the URL fragment, so another fragment is another run. */
export function SharedRunPage() {
  const secret = useSyncExternalStore(subscribe, () => location.hash.slice(1))
  return secret === "" ? <Gone /> : <Shared key={secret} secret={secret} />
}

function subscribe(listener: () => void): () => void {
  window.addEventListener("hashchange", listener)
  return () => window.removeEventListener("hashchange", listener)
}

const Gone = () => <MissingPage says={t("runs.linkGone")} />

function Shared({ secret }: { readonly secret: string }) {
  const { run, rows, problem, refresh } = useFollowedRun(() => sharedRun(secret))
  if (hasCode(problem, "not_found") || hasCode(problem, "bad_request")) return <Gone />
  return (
    <TextPage
      title={t("runs.sharedTitle")}
      under={run && <p className="truncate text-[13px] text-faint">{describeRun(run)}</p>}
      width="max-w-4xl"
    >
      <LoadProblem problem={problem} onRetry={refresh} />
      {run ? (
        <>
          <p className="mb-3 text-sm text-soft">{t("runs.sharedHint")}</p>
          <RunView run={run} rows={rows} />
        </>
      ) : (
        problem === undefined && <p className="pt-6 text-sm text-soft">{t("common.loading")}</p>
      )}
    </TextPage>
  )
}
