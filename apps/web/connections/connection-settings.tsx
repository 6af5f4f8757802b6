import { useState } from "react"
import { Store } from "../components/icons.tsx"
import { Button } from "../components/button.tsx"
import { attempt } from "../components/explain.ts"
import { Section, ItemList } from "../components/section.tsx"
import { LoadProblem } from "../components/use-loaded.tsx"
import { type ConnectionView, connectSample, isSample, loadConnections, useConnections } from "../state/connections.ts"
import { toast } from "../state/toasts.ts"
import { t } from "../strings/strings.ts"
import { ConnectionEntry } from "./connection-entry.tsx"
import { ConnectionForm } from "./connection-form.tsx"
import { CsvUpload } from "./csv-upload.tsx"

/** The databases that the user has connected. */
export function ConnectionSettings() {
  const { items, problem } = useConnections()
  const [stored, setStored] = useState<string>()
  const onDone = ({ id }: ConnectionView) => {
    toast(t("connections.saved"))
    setStored(id)
    void loadConnections()
  }
  return (
    <>
      <Section title={t("settings.connections")} says={t("connections.hint")}>
        <LoadProblem problem={problem} onRetry={loadConnections} />
        {items?.length === 0 && <p className="text-sm text-faint">{t("connections.empty")}</p>}
        {items && items.length > 0 && (
          <ItemList>
            {items.map((connection) => (
              <ConnectionEntry key={connection.id} connection={connection} isNew={connection.id === stored} />
            ))}
          </ItemList>
        )}
        {items && <SampleButton items={items} />}
      </Section>
      <Section title={t("connections.connectDatabase")}>
        <ConnectionForm onDone={onDone} />
      </Section>
      <Section title={t("connections.upload")} says={t("connections.uploadHint")}>
        <CsvUpload onDone={onDone} />
      </Section>
    </>
  )
}

interface SampleButtonProps {
  readonly items: readonly ConnectionView[]
}

/** Adds the sample database. Draws nothing if it is added already. */
function SampleButton({ items }: SampleButtonProps) {
  const [isBusy, setBusy] = useState(false)
  if (items.some(isSample)) return null
  const add = async () => {
    setBusy(true)
    await attempt(connectSample)
    setBusy(false)
  }
  return (
    <Button small className="mt-3" disabled={isBusy} onClick={() => void add()}>
      <Store className="size-4" />
      {t("connections.addSample")}
    </Button>
  )
}
