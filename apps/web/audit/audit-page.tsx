import { LoadProblem } from "../components/use-loaded.tsx"
import { usePages } from "../components/use-pages.tsx"
import { EmptyPage, TextPage } from "../shell/page-header.tsx"
import { client } from "../state/client.ts"
import { AuditRow } from "./audit-row.tsx"
import { t } from "../strings/strings.ts"

/** The changes that assistants made, newest first, each with a button to undo it. */
export function AuditPage() {
  const { items, problem, reload, more } = usePages(
    (query) => client.listAudit({ query }),
    ({ type }) => type === "snapshot" || type === "conversation",
  )
  return (
    <TextPage title={t("shell.history")}>
      <LoadProblem problem={problem} onRetry={reload} />
      {items?.length === 0 && <EmptyPage title={t("audit.empty")} hint={t("audit.emptyHint")} />}
      <ul>
        {items?.map((entry) => (
          <AuditRow key={entry.id} entry={entry} />
        ))}
      </ul>
      {more}
    </TextPage>
  )
}
