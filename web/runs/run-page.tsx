import { useState } from "react"
import { hasCode } from "../../src/client/index.ts"
import type { Run } from "../../src/protocol/index.ts"
import { ExternalLink } from "../icons/arrows.ts"
import { Columns } from "../icons/things.ts"
import { Button } from "../parts/button.tsx"
import { explain } from "../parts/explain.ts"
import { Link } from "../parts/link.tsx"
import { Trouble } from "../parts/trouble.tsx"
import { MissingPage } from "../shell/missing-page.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { useFollowedRun } from "./followed-run.ts"
import { OtherRunDialog } from "./other-run-dialog.tsx"
import { ownRun } from "./own-run.ts"
import { RunView } from "./run-view.tsx"
import { headWords } from "./run-words.ts"
import { ShareDialog } from "./share-dialog.tsx"

/** What happened in a run of the person's own. */
export function RunPage({ id }: { readonly id: string }) {
  const { run, rows, problem, refresh } = useFollowedRun(() => ownRun(id))
  const [shown, setShown] = useState<"beside" | "share">()
  const close = () => setShown(undefined)
  if (hasCode(problem, "not_found")) return <MissingPage says={explain(problem)} />
  return (
    <>
      <PageHeader title="What happened in a run" under={run && <Head run={run} />}>
        {run && (
          <>
            <Button small onClick={() => setShown("beside")}>
              <Columns className="size-3.5" /> <span className="max-sm:sr-only">Beside another</span>
            </Button>
            <Button small onClick={() => setShown("share")}>
              <ExternalLink className="size-3.5" /> <span className="max-sm:sr-only">Share</span>
            </Button>
          </>
        )}
      </PageHeader>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto w-full max-w-4xl px-3 pb-10 md:px-6">
          <Trouble problem={problem} onRetry={refresh} />
          {run ? (
            <RunView run={run} rows={rows} id={id} conversationId={run.conversationId} />
          ) : (
            problem === undefined && <p className="pt-6 text-sm text-soft">Reading what was recorded …</p>
          )}
        </div>
      </div>
      {shown === "beside" && run && <OtherRunDialog run={run} onClose={close} />}
      {shown === "share" && <ShareDialog runId={id} onClose={close} />}
    </>
  )
}

const Head = ({ run }: { readonly run: Run }) => (
  <p className="truncate text-[13px] text-faint">
    <Link to={`/c/${run.conversationId}`} className="text-accent underline underline-offset-2">
      Its conversation
    </Link>
    {" · "}
    {headWords(run)}
  </p>
)
