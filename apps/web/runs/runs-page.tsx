import { hasCode } from "../../../client/index.ts"
import { Link } from "../components/button.tsx"
import { explain } from "../components/explain.ts"
import { Plain } from "../components/plain.tsx"
import { LoadProblem } from "../components/use-loaded.tsx"
import { usePages } from "../components/use-pages.tsx"
import { EmptyPage, MissingPage, TextPage } from "../shell/page-header.tsx"
import { client } from "../state/client.ts"
import { describeRun, describeUsage } from "./describe-run.ts"
import { t } from "../strings/strings.ts"

/** The runs of a conversation, newest first, each with a link to its timeline. */
export function RunsPage({ id }: { readonly id: string }) {
  const { items, problem, reload, more } = usePages(
    (query) => client.listRuns({ params: { id }, query }),
    ({ type, data }) => type === "conversation" && (data as { id?: string } | undefined)?.id === id,
  )
  if (hasCode(problem, "not_found")) return <MissingPage says={explain(problem)} />
  return (
    <TextPage
      title={t("runs.runs")}
      under={
        <Link to={`/c/${id}`} className="text-[13px] text-accent underline underline-offset-2">
          {t("runs.conversation")}
        </Link>
      }
    >
      <LoadProblem problem={problem} onRetry={reload} />
      {items === undefined && problem === undefined && <p className="pt-6 text-sm text-soft">{t("common.loading")}</p>}
      {items?.length === 0 && <EmptyPage title={t("runs.noRuns")} hint={t("runs.noRunsHint")} />}
      <ul aria-label={t("runs.runs")}>
        {items?.map((run) => (
          <li key={run.id} className="border-b border-line last:border-b-0">
            <Link to={`/runs/${run.id}`} className="block rounded-lg px-2 py-2 text-sm hover:bg-sunken">
              <span className="block truncate">{describeRun(run)}</span>
              <span className="block text-[13px] text-faint [overflow-wrap:anywhere]">
                {run.error ? <Plain text={run.error.message} /> : run.usage && describeUsage(run.usage)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {more}
    </TextPage>
  )
}
