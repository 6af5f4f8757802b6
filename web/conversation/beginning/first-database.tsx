import { Database, FileUp, Flask } from "../../icons/things.ts"
import { useState } from "react"
import { connectSample } from "../../connections/sample.ts"
import { Button } from "../../parts/button.tsx"
import { attempt } from "../../parts/explain.ts"
import { navigate } from "../../state/router.ts"

interface FirstDatabaseProps {
  readonly onMade: (connectionId: string) => void
}

/** For whoever wants to ask a database and has none here yet: something to ask at once, or one of their own. */
export function FirstDatabase({ onMade }: FirstDatabaseProps) {
  const [isSent, setSent] = useState(false)
  const trySample = async () => {
    setSent(true)
    await attempt(async () => onMade((await connectSample()).id))
    setSent(false)
  }
  const settings = () => navigate("/settings/connections")
  return (
    <section aria-label="A database to ask" className="mt-6 rounded-xl bg-sunken px-4 py-3.5 text-sm">
      <p className="mb-3 text-soft">
        The analyst answers questions about a database, and shows the SQL behind each answer. It needs one to ask.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button look="main" disabled={isSent} onClick={() => void trySample()}>
          <Flask className="size-4" /> Try it with the sample database
        </Button>
        <Button onClick={settings}>
          <Database className="size-4" /> Connect your own
        </Button>
        <Button onClick={settings}>
          <FileUp className="size-4" /> Upload a CSV file
        </Button>
      </div>
    </section>
  )
}
