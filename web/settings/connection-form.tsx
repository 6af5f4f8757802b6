import { useState } from "react"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { Labelled, Select } from "../parts/labelled.tsx"
import { client } from "../state/client.ts"
import { toast } from "../state/toasts.ts"

const KINDS = [
  ["postgres", "PostgreSQL"],
  ["sqlite", "SQLite"],
] as const

const SSL = [
  ["false", "No"],
  ["true", "Yes, and check the certificate"],
  ["no-verify", "Yes, with any certificate"],
] as const

const EMPTY = { name: "", host: "", port: "5432", database: "", user: "", password: "", ssl: "false", path: "" }
type Fields = typeof EMPTY

/** How to reach a database, to be stored. */
export function ConnectionForm({ onDone }: { readonly onDone: () => Promise<void> }) {
  const [kind, setKind] = useState<string>("postgres")
  const [fields, setFields] = useState<Fields>(EMPTY)
  const [isSent, setSent] = useState(false)
  const field = (column: keyof Fields, label: string, type = "text") => (
    <Labelled label={label}>
      <input
        type={type}
        required={column !== "password"}
        autoComplete="off"
        value={fields[column]}
        onChange={(event) => setFields({ ...fields, [column]: event.target.value })}
        className="field"
      />
    </Labelled>
  )
  const save = async () => {
    setSent(true)
    const isSaved = await attempt(() => client.createConnection({ body: toBody(kind, fields) }))
    setSent(false)
    if (!isSaved) return
    setFields(EMPTY)
    toast("Stored.")
    await onDone()
  }
  return (
    <form
      className="grid gap-3 rounded-xl bg-sunken px-4 py-3 sm:grid-cols-2"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      {field("name", "Name")}
      <Labelled label="Kind">
        <Select value={kind} choices={KINDS} onChoose={setKind} />
      </Labelled>
      {kind === "sqlite" ? (
        field("path", "File, on the server")
      ) : (
        <>
          {field("host", "Host")}
          {field("port", "Port", "number")}
          {field("database", "Database")}
          {field("user", "User")}
          {field("password", "Password", "password")}
          <Labelled label="Encrypted">
            <Select value={fields.ssl} choices={SSL} onChoose={(ssl) => setFields({ ...fields, ssl })} />
          </Labelled>
        </>
      )}
      <div className="sm:col-span-2">
        <Button look="main" type="submit" disabled={isSent}>
          Connect
        </Button>
      </div>
    </form>
  )
}

function toBody(kind: string, { name, path, port, ssl, ...place }: Fields) {
  if (kind === "sqlite") return { kind: "sqlite" as const, name, path }
  const encrypted = ssl === "no-verify" ? ssl : ssl === "true"
  return { kind: "postgres" as const, name, ...place, port: Number(port), ssl: encrypted } as const
}
