import { useState } from "react"
import { hasCode } from "../../../client/index.ts"
import type { Run } from "../../../core/protocol/index.ts"
import { Columns, ExternalLink } from "../components/icons.tsx"
import { Button, CopyButton, Link } from "../components/button.tsx"
import { Dialog } from "../components/dialog.tsx"
import { explain } from "../components/explain.ts"
import { Form, Labelled, Select, SubmitButton } from "../components/form.tsx"
import { LoadProblem, useLoaded } from "../components/use-loaded.tsx"
import { MissingPage, TextPage } from "../shell/page-header.tsx"
import { base, client } from "../state/client.ts"
import { navigate } from "../state/router.ts"
import { t } from "../strings/strings.ts"
import { describeRun } from "./describe-run.ts"
import { ownRun, useFollowedRun } from "./followed-run.ts"
import { RunView } from "./run-view.tsx"
import { SharedRunList, useSharedRuns } from "./shared-run-list.tsx"

/** The page of one of the person's runs. */
export function RunPage({ id }: { readonly id: string }) {
  const { run, rows, problem, refresh } = useFollowedRun(() => ownRun(id))
  const [shown, setShown] = useState<"beside" | "share">()
  const close = () => setShown(undefined)
  if (hasCode(problem, "not_found")) return <MissingPage says={explain(problem)} />
  return (
    <TextPage
      title={t("runs.run")}
      under={run && <Head run={run} />}
      width="max-w-4xl"
      actions={
        run && (
          <>
            <Button small onClick={() => setShown("beside")}>
              <Columns className="size-3.5" /> <span className="max-sm:sr-only">{t("runs.compare")}</span>
            </Button>
            <Button small onClick={() => setShown("share")}>
              <ExternalLink className="size-3.5" /> <span className="max-sm:sr-only">{t("runs.share")}</span>
            </Button>
          </>
        )
      }
    >
      <LoadProblem problem={problem} onRetry={refresh} />
      {run ? (
        <RunView run={run} rows={rows} id={id} conversationId={run.conversationId} />
      ) : (
        problem === undefined && <p className="pt-6 text-sm text-soft">{t("common.loading")}</p>
      )}
      {shown === "beside" && run && <OtherRunDialog run={run} onClose={close} />}
      {shown === "share" && <ShareDialog runId={id} onClose={close} />}
    </TextPage>
  )
}

const Head = ({ run }: { readonly run: Run }) => (
  <p className="truncate text-[13px] text-faint">
    <Link to={`/c/${run.conversationId}`} className="text-accent underline underline-offset-2">
      {t("runs.conversation")}
    </Link>
    {" · "}
    {describeRun(run)}
  </p>
)

const NEWEST = 20

interface OtherRunDialogProps {
  readonly run: Run
  readonly onClose: () => void
}

/** Selects the run to compare with: of the same conversation, or by id. */
function OtherRunDialog({ run, onClose }: OtherRunDialogProps) {
  const { value, trouble } = useLoaded(() =>
    client.listRuns({ params: { id: run.conversationId }, query: { limit: NEWEST } }),
  )
  const [named, setNamed] = useState("")
  const others = value?.items.filter(({ id }) => id !== run.id)
  return (
    <Dialog title={t("runs.compareTitle")} onClose={onClose}>
      {trouble}
      {others?.length === 0 && <p className="mb-4 text-sm text-soft">{t("runs.noOtherRun")}</p>}
      {others && others.length > 0 && (
        <ul aria-label={t("runs.runsOfConversation")} className="-mx-2 mb-4 max-h-60 overflow-y-auto">
          {others.map((other) => (
            <li key={other.id}>
              <Link
                to={`/runs/${run.id}/beside/${other.id}`}
                className="block truncate rounded-lg px-2 py-1.5 text-sm hover:bg-sunken"
              >
                {describeRun(other)}
              </Link>
            </li>
          ))}
        </ul>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          navigate(`/runs/${run.id}/beside/${encodeURIComponent(named.trim())}`)
        }}
      >
        <Labelled label={t("runs.otherById")} className="mb-4">
          <input
            value={named}
            autoComplete="off"
            placeholder="run_…"
            onChange={(event) => setNamed(event.target.value)}
            className="field font-mono text-sm"
          />
        </Labelled>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("common.cancel")}</Button>
          <Button look="main" type="submit" disabled={!named.trim().startsWith("run_")}>
            {t("runs.compare")}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Lifetimes of a link in days; without one it is valid until revoked. */
const DAYS = [1, 7, 30, 365] as const
const FOREVER = ""

interface ShareDialogProps {
  readonly runId: string
  readonly onClose: () => void
}

/** Creates a link to a run, explains what it shows, and lists the links created before. */
function ShareDialog({ runId, onClose }: ShareDialogProps) {
  const [days, setDays] = useState("7")
  const [link, setLink] = useState<string>()
  const shared = useSharedRuns()
  const make = async () => {
    const body = { days: days === FOREVER ? null : Number(days) }
    const { path } = await client.shareRun({ params: { id: runId }, body })
    setLink(location.origin + base + path)
    await shared.reload()
  }
  return (
    <Dialog title={t("runs.shareTitle")} onClose={onClose}>
      <div className="mb-4 space-y-2 text-sm text-soft">
        <p>{t("runs.shareShows")}</p>
        <p>{t("runs.shareHides")}</p>
      </div>
      {link === undefined ? (
        <Form className="mb-4 flex flex-wrap items-end gap-3" onSubmit={make}>
          <Labelled label={t("runs.expiresAfter")} field="days" className="min-w-40 flex-1">
            <Select
              value={days}
              choices={[
                ...DAYS.map((count) => [String(count), t("runs.days", { count })] as const),
                [FOREVER, t("runs.untilRevoked")],
              ]}
              onChoose={setDays}
            />
          </Labelled>
          <SubmitButton look="main">{t("runs.createLink")}</SubmitButton>
        </Form>
      ) : (
        <div role="status" className="mb-4 rounded-xl bg-good-soft px-4 py-3 text-sm">
          <p className="mb-2 text-good">{t("runs.linkOnce")}</p>
          <div className="flex items-center gap-2">
            <code className="min-w-0 flex-1 font-mono text-[13px] [overflow-wrap:anywhere]">{link}</code>
            <CopyButton label={t("runs.copyLink")} read={() => link} />
          </div>
        </div>
      )}
      <SharedRunList {...shared} runId={runId} />
      <div className="flex justify-end">
        <Button onClick={onClose}>{t("common.close")}</Button>
      </div>
    </Dialog>
  )
}
