import { useState } from "react"
import { Trouble } from "../parts/trouble.tsx"
import { Part, Things } from "../parts/part.tsx"
import { type ConnectionView, loadConnections, useConnections } from "../state/connections.ts"
import { toast } from "../state/toasts.ts"
import { ConnectionEntry } from "./connection-entry.tsx"
import { SampleButton } from "./sample-button.tsx"
import { ConnectionForm } from "./connection-form.tsx"
import { CsvUpload } from "./csv-upload.tsx"

/** Databases of the person that may be looked into. */
export function ConnectionSettings() {
  const { items, problem } = useConnections()
  const [stored, setStored] = useState<string>()
  const onDone = ({ id }: ConnectionView) => {
    toast("Stored.")
    setStored(id)
    void loadConnections()
  }
  return (
    <>
      <Part
        title="Connections"
        says="Databases of yours that may be looked into. Nothing in them is changed without your word. A password is stored encrypted and never shown again."
      >
        <Trouble problem={problem} onRetry={loadConnections} />
        {items?.length === 0 && <p className="text-sm text-faint">None yet.</p>}
        {items && items.length > 0 && (
          <Things>
            {items.map((connection) => (
              <ConnectionEntry key={connection.id} connection={connection} isNew={connection.id === stored} />
            ))}
          </Things>
        )}
        {items && <SampleButton items={items} />}
      </Part>
      <Part title="Connect a database">
        <ConnectionForm onDone={onDone} />
      </Part>
      <Part
        title="Upload a file"
        says="A CSV file becomes a database that only you can read. You see what is in it before anything is kept."
      >
        <CsvUpload onDone={onDone} />
      </Part>
    </>
  )
}
