import type { ReactNode } from "react"
import type { SharedRunView } from "../../../core/protocol/index.ts"
import { Button, Link } from "../components/button.tsx"
import { attempt } from "../components/explain.ts"
import { ItemList } from "../components/section.tsx"
import { useLoaded } from "../components/use-loaded.tsx"
import { client } from "../state/client.ts"
import { readPages } from "../../../client/index.ts"
import { t } from "../strings/strings.ts"
import { time } from "../strings/format.ts"

/** The person's valid links to runs. */
export const useSharedRuns = () => useLoaded(() => readPages((query) => client.listSharedRuns({ query })))

interface SharedRunListProps {
  readonly value: readonly SharedRunView[] | undefined
  readonly trouble: ReactNode
  readonly reload: () => Promise<void>
  /** Only those to this run. */
  readonly runId?: string
}

/** Links to runs, each with a button to revoke it. */
export function SharedRunList({ value, trouble, reload, runId }: SharedRunListProps) {
  const shown = value?.filter((shared) => runId === undefined || shared.runId === runId) ?? []
  const revoke = async (id: string) => {
    await attempt(() => client.revokeSharedRun({ params: { id } }))
    await reload()
  }
  return (
    <>
      {trouble}
      {shown.length > 0 && (
        <div className="mb-4">
          <ItemList>
            {shown.map(({ id, runId: run, createdAt, expiresAt }) => (
              <li key={id} className="flex items-center gap-3 px-3.5 py-2">
                <span className="min-w-0 flex-1 text-[13px]">
                  {runId === undefined && (
                    <Link to={`/runs/${run}`} className="mr-1 text-accent underline underline-offset-2">
                      {t("runs.aRun")}
                    </Link>
                  )}
                  {expiresAt === null
                    ? t("runs.sharedForever", { time: time(createdAt) })
                    : t("runs.sharedUntil", { time: time(createdAt), until: time(expiresAt) })}
                </span>
                <Button small onClick={() => void revoke(id)}>
                  {t("proposal.revoke")}
                </Button>
              </li>
            ))}
          </ItemList>
        </div>
      )}
    </>
  )
}
